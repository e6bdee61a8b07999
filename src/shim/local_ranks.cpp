#include "shim/local_ranks.h"

#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

namespace heddle::shim {
namespace {

constexpr unsigned kGiveUpSeconds = 10;

[[noreturn]] void become_rank(long rank, int local, char** argv) {
  setenv("RANK", std::to_string(rank).c_str(), 1);
  setenv("LOCAL_RANK", std::to_string(local).c_str(), 1);
  execvp(argv[0], argv);
  std::fprintf(stderr, "The command '%s' could not be started: %s.\n", argv[0],
               std::strerror(errno));
  _exit(127);
}

volatile std::sig_atomic_t first_failure = 0;

// When this process goes, the sandbox ends whatever did not listen.
void give_up(int) { _exit(first_failure); }

void signal_all(const std::vector<pid_t>& ranks, int number) {
  for (const pid_t pid : ranks)
    if (pid > 0) kill(pid, number);
}

}  // namespace

int run_local_ranks(int count, char** argv) {
  // Stop signals go to every process of the replica; this one stays to report how the ranks ended.
  signal(SIGTERM, SIG_IGN);
  signal(SIGINT, SIG_IGN);
  const char* replica = getenv("HEDDLE_REPLICA");
  const long first_rank = (replica == nullptr ? 0 : std::strtol(replica, nullptr, 10)) * count;
  std::vector<pid_t> ranks;
  int answer = 0;
  for (int local = 0; local < count && answer == 0; ++local) {
    const pid_t pid = fork();
    if (pid == 0) {
      signal(SIGTERM, SIG_DFL);
      signal(SIGINT, SIG_DFL);
      become_rank(first_rank + local, local, argv);
    }
    if (pid < 0) answer = 126;
    ranks.push_back(pid);
  }
  first_failure = answer;
  if (answer != 0) signal_all(ranks, SIGTERM);
  for (;;) {
    int status = 0;
    const pid_t pid = wait(&status);
    if (pid < 0 && errno == EINTR) continue;
    if (pid < 0) return answer;
    bool is_rank = false;
    for (pid_t& rank : ranks) {
      if (rank != pid) continue;
      is_rank = true;
      rank = 0;
    }
    const int code = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
    if (!is_rank || code == 0 || answer != 0) continue;
    answer = code;
    first_failure = code;
    signal_all(ranks, SIGTERM);
    signal(SIGALRM, give_up);
    alarm(kGiveUpSeconds);
  }
}

}  // namespace heddle::shim
