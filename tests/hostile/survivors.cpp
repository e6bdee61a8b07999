// Programs that do not want to end, or eat what they can. The first argument chooses.
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace {

void ignore_all_signals() {
  for (int number = 1; number < NSIG; ++number) ::signal(number, SIG_IGN);
}

// Daemons in sessions of their own that ignore everything; says "ready" once they all exist.
int stay(int count) {
  ignore_all_signals();
  ::signal(SIGCHLD, SIG_DFL);
  for (int i = 0; i < count; ++i) {
    if (::fork() != 0) continue;
    ::setsid();
    if (::fork() != 0) ::_exit(0);
    ignore_all_signals();
    for (;;) ::pause();
  }
  for (int i = 0; i < count; ++i) ::wait(nullptr);
  std::puts("ready");
  std::fflush(stdout);
  for (;;) ::pause();
}

// Forks until it may not; every child lives on. Tells how many it got.
int fork_all() {
  int children = 0;
  for (;;) {
    const pid_t child = ::fork();
    if (child < 0) break;
    if (child == 0)
      for (;;) ::pause();
    ++children;
  }
  std::printf("%d\n", children);
  std::fflush(stdout);
  return 0;
}

// Forks for ever, parent and children alike.
int storm() {
  ignore_all_signals();
  std::puts("ready");
  std::fflush(stdout);
  for (;;)
    if (::fork() < 0) ::poll(nullptr, 0, 1);
}

// Writes to every page of so many MiB.
int eat(std::size_t mebibytes) {
  for (std::size_t i = 0; i < mebibytes; ++i) {
    char* piece = static_cast<char*>(std::malloc(1 << 20));
    if (piece == nullptr) return 1;
    std::memset(piece, static_cast<int>(i) | 1, 1 << 20);
  }
  std::puts("eaten");
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  const int number = argc > 2 ? std::atoi(argv[2]) : 0;
  if (std::strcmp(argv[1], "stay") == 0) return stay(number);
  if (std::strcmp(argv[1], "fork") == 0) return fork_all();
  if (std::strcmp(argv[1], "storm") == 0) return storm();
  if (std::strcmp(argv[1], "eat") == 0) return eat(static_cast<std::size_t>(number));
  return 2;
}
