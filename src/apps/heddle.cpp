// heddle: the command line.
#include <cstdlib>
#include <string>
#include <vector>

#include "cli/main.h"

int main(int argc, char** argv) {
  const std::vector<std::string> words(argv + (argc > 0 ? 1 : 0), argv + argc);
  return heddle::cli::run_heddle(words, [](const char* name) {
    const char* value = std::getenv(name);
    return std::string(value == nullptr ? "" : value);
  });
}
