// heddle-shim: started by heddled, never by people.
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "shim/local_ranks.h"
#include "shim/spawner.h"

int main(int argc, char** argv) {
  if (argc == 3 && std::strcmp(argv[1], "spawner") == 0) {
    close_range(4, ~0U, 0);  // whatever the server had open
    return heddle::shim::run_spawner(3, argv[2]);
  }
  if (argc >= 4 && std::strcmp(argv[1], "ranks") == 0) {
    const long count = std::strtol(argv[2], nullptr, 10);
    if (count >= 1 && count <= 512)
      // Nothing is to be cleaned up inside the sandbox, and a leak check cannot run in there.
      _exit(heddle::shim::run_local_ranks(static_cast<int>(count), argv + 3));
  }
  std::fputs("heddle-shim is started by heddled and does nothing on its own.\n", stderr);
  return 2;
}
