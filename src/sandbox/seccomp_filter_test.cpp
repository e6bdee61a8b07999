#include "sandbox/seccomp_filter.h"

#include <doctest/doctest.h>
#include <grp.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <map>
#include <sstream>

#include "sandbox/run_in_test.h"

namespace heddle::sandbox {
namespace {

// The answer to each call of tests/hostile/calls.cpp; a negative one is the signal that ends it.
const std::map<std::string, int> kExpected{
    {"unshare_user", EPERM},
    {"unshare_mount", EPERM},
    {"unshare_net", EPERM},
    {"unshare_high_bit", EPERM},
    {"unshare_files", 0},
    {"clone_user", EPERM},
    {"clone3", ENOSYS},
    {"setns", EPERM},
    {"mount", EPERM},
    {"umount2", EPERM},
    {"pivot_root", EPERM},
    {"chroot", EPERM},
    {"open_tree", EPERM},
    {"move_mount", EPERM},
    {"fsopen", EPERM},
    {"fsmount", EPERM},
    {"mount_setattr", EPERM},
    {"bpf", EPERM},
    {"perf_event_open", EPERM},
    {"userfaultfd", EPERM},
    {"io_uring_setup", EPERM},
    {"io_uring_enter", EPERM},
    {"io_uring_register", EPERM},
    {"keyctl", EPERM},
    {"add_key", EPERM},
    {"request_key", EPERM},
    {"fanotify_init", EPERM},
    {"name_to_handle_at", EPERM},
    {"open_by_handle_at", EPERM},
    {"quotactl", EPERM},
    {"memfd_secret", ENOSYS},
    {"a_call_of_the_future", ENOSYS},
    {"ptrace_traceme", EPERM},
    {"ptrace_attach", EPERM},
    {"process_vm_readv", EPERM},
    {"process_vm_writev", EPERM},
    {"kcmp", EPERM},
    {"pidfd_getfd", EPERM},
    {"personality_compat", EPERM},
    {"personality_ask", 0},
    {"reboot", EPERM},
    {"kexec_load", EPERM},
    {"init_module", EPERM},
    {"finit_module", EPERM},
    {"delete_module", EPERM},
    {"swapon", EPERM},
    {"swapoff", EPERM},
    {"acct", EPERM},
    {"syslog", EPERM},
    {"sethostname", EPERM},
    {"settimeofday", EPERM},
    {"clock_settime", EPERM},
    {"adjtimex", EPERM},
    {"vhangup", EPERM},
    {"mknod_character", EPERM},
    {"mknod_block", EPERM},
    {"mknod_fifo", 0},
    {"tiocsti", EPERM},
    {"tiocsti_high_bit", EPERM},
    {"tioclinux", EPERM},
    {"tioclinux_high_bit", EPERM},
    {"tiocsetd", EPERM},
    {"fionread", 0},
    {"socket_unix", 0},
    {"socket_inet", 0},
    {"socket_route", 0},
    {"socket_audit", EAFNOSUPPORT},
    {"socket_packet", EAFNOSUPPORT},
    {"socket_vsock", EAFNOSUPPORT},
    {"socket_alg", EAFNOSUPPORT},
    {"socket_raw", EPERM},
#ifdef __x86_64__
    {"iopl", EPERM},
    {"ioperm", EPERM},
    {"modify_ldt", EPERM},
    {"x32_getpid", -SIGSYS},
    {"int80_getpid", -SIGSYS},
#endif
};

std::map<std::string, int> parse(const std::string& output) {
  std::map<std::string, int> answers;
  std::istringstream lines{output};
  std::string name;
  for (int answer = 0; lines >> name >> answer;) answers[name] = answer;
  return answers;
}

// The same program as a plain user of the host, without the filter.
std::map<std::string, int> answers_outside() {
  std::array<int, 2> ends{};
  REQUIRE(::pipe(ends.data()) == 0);
  const pid_t child = ::fork();
  if (child == 0) {
    const std::string program = std::string{HEDDLE_HOSTILE_FOLDER} + "/calls";
    ::dup2(ends[1], 1);
    if (::setgroups(0, nullptr) == 0 && ::setgid(test_uid(0)) == 0 && ::setuid(test_uid(0)) == 0)
      ::execl(program.c_str(), "calls", nullptr);
    ::_exit(127);
  }
  ::close(ends[1]);
  std::string output;
  std::array<char, 4096> buffer;
  for (ssize_t size = 0; (size = ::read(ends[0], buffer.data(), buffer.size())) > 0;)
    output.append(buffer.data(), static_cast<std::size_t>(size));
  ::close(ends[0]);
  ::waitpid(child, nullptr, 0);
  return parse(output);
}

}  // namespace

TEST_CASE("the filter answers a table of calls as it must") {
  if (!can_start_sandboxes()) return;
  const std::map<std::string, int> answers = parse(run(hostile("calls", {})).output);
  CHECK(answers.size() == kExpected.size());
  for (const auto& [name, expected] : kExpected) {
    CAPTURE(name);
    REQUIRE(answers.contains(name));
    CHECK(answers.at(name) == expected);
  }
}

TEST_CASE("control: without the filter a plain user gets other answers to many of these calls") {
  if (!can_start_sandboxes()) return;
  const std::map<std::string, int> answers = answers_outside();
  if (answers.empty()) {
    MESSAGE("the build folder cannot be read by another user: no control");
    return;
  }
  int different = 0;
  for (const auto& [name, expected] : kExpected)
    different += answers.contains(name) && answers.at(name) != expected;
  CHECK(different >= 20);
}

TEST_CASE("the program of the filter is small enough to load quickly") {
  CHECK(seccomp_program().size() < 500);
}

}  // namespace heddle::sandbox
