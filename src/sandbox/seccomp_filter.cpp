#include "sandbox/seccomp_filter.h"

#include <linux/audit.h>
#include <linux/netlink.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/personality.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <map>
#include <span>

#include "base/check.h"
#include "sandbox/failure.h"
#include "sandbox/seccomp_calls.h"

namespace heddle::sandbox {
namespace {

using Program = std::vector<sock_filter>;

#if defined(__x86_64__)
constexpr std::uint32_t kArchitecture = AUDIT_ARCH_X86_64;
#elif defined(__aarch64__)
constexpr std::uint32_t kArchitecture = AUDIT_ARCH_AARCH64;
#else
#error "the lists of system calls have not been checked on this architecture"
#endif

constexpr std::uint32_t kAllow = SECCOMP_RET_ALLOW;
constexpr std::uint32_t kKill = SECCOMP_RET_KILL_PROCESS;
constexpr std::uint32_t error_return(int error) {
  return SECCOMP_RET_ERRNO | static_cast<std::uint32_t>(error);
}
constexpr std::uint32_t kNewNamespaces = CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS |
                                         CLONE_NEWIPC | CLONE_NEWUSER | CLONE_NEWPID |
                                         CLONE_NEWNET | 0x80 /* CLONE_NEWTIME */;

sock_filter step(int code, std::uint32_t value, std::size_t if_true = 0, std::size_t if_false = 0) {
  HEDDLE_CHECK(if_true < 256 && if_false < 256);
  return {static_cast<std::uint16_t>(code), static_cast<std::uint8_t>(if_true),
          static_cast<std::uint8_t>(if_false), value};
}
sock_filter answer(std::uint32_t action) { return step(BPF_RET | BPF_K, action); }
sock_filter load(std::size_t offset) {
  return step(BPF_LD | BPF_W | BPF_ABS, static_cast<std::uint32_t>(offset));
}
// The low half of an argument. The kernel takes 32 bits of each argument judged here, so bits above
// them must not make two values of one.
sock_filter load_argument(std::size_t index) {
  return load(offsetof(seccomp_data, args) + index * sizeof(std::uint64_t));
}
sock_filter mask(std::uint32_t bits) { return step(BPF_ALU | BPF_AND | BPF_K, bits); }

// Ends with `match` when the loaded value is one of `values`, else with `otherwise`.
void append_choice(Program& program, std::initializer_list<std::uint32_t> values,
                   std::uint32_t match, std::uint32_t otherwise) {
  std::size_t left = values.size();
  for (const std::uint32_t value : values) {
    program.push_back(step(BPF_JMP | BPF_JEQ | BPF_K, value, left, 0));
    --left;
  }
  program.push_back(answer(otherwise));
  program.push_back(answer(match));
}

Program judge_socket() {
  const std::uint32_t refused = error_return(EAFNOSUPPORT);
  Program program{load_argument(0),
                  step(BPF_JMP | BPF_JEQ | BPF_K, AF_UNIX, 4, 0),
                  step(BPF_JMP | BPF_JEQ | BPF_K, AF_INET, 3, 0),
                  step(BPF_JMP | BPF_JEQ | BPF_K, AF_INET6, 2, 0),
                  step(BPF_JMP | BPF_JEQ | BPF_K, AF_NETLINK, 2, 0),
                  answer(refused),
                  answer(kAllow),
                  load_argument(2)};
  append_choice(program, {NETLINK_ROUTE}, kAllow, refused);
  return program;
}

// The code that decides one call once its number is known.
Program judge(CallRule rule) {
  Program program;
  switch (rule) {
    case CallRule::kAbsent:
      return {answer(error_return(ENOSYS))};
    case CallRule::kAllow:
      return {answer(kAllow)};
    case CallRule::kRefuse:
      return {answer(error_return(EPERM))};
    case CallRule::kClone:
      program = {load_argument(0), mask(kNewNamespaces)};
      append_choice(program, {0}, kAllow, error_return(EPERM));
      return program;
    case CallRule::kSocket:
      return judge_socket();
    case CallRule::kIoctl:
      program = {load_argument(1)};
      append_choice(program, {TIOCSTI, TIOCLINUX, TIOCSETD}, error_return(EPERM), kAllow);
      return program;
    case CallRule::kPersonality:
      program = {load_argument(0)};
      append_choice(program, {0, ADDR_NO_RANDOMIZE, 0xffffffff}, kAllow, error_return(EPERM));
      return program;
    case CallRule::kMakeNode:
      break;
  }
  return {};  // kMakeNode depends on the call, see judge_node
}

// mknod has the mode in its second argument, mknodat in its third.
Program judge_node(std::size_t mode_index) {
  Program program{load_argument(mode_index), mask(S_IFMT)};
  append_choice(program, {S_IFCHR, S_IFBLK}, error_return(EPERM), kAllow);
  return program;
}

std::map<std::uint32_t, CallRule> rules_by_number() {
  std::map<std::uint32_t, CallRule> rules;
  const auto add = [&](std::span<const long> numbers, CallRule rule) {
    for (const long number : numbers)
      HEDDLE_CHECK(rules.emplace(static_cast<std::uint32_t>(number), rule).second);
  };
  add(kFileCalls, CallRule::kAllow);
  add(kWaitCalls, CallRule::kAllow);
  add(kProcessCalls, CallRule::kAllow);
  add(kMessageCalls, CallRule::kAllow);
#ifdef __x86_64__
  add(kOlderCalls, CallRule::kAllow);
#endif
  add(kNewerCalls, CallRule::kAllow);
  add(kRefusedCalls, CallRule::kRefuse);
  for (const CallEntry& entry : kJudgedCalls) add(std::span{&entry.number, 1}, entry.rule);
  return rules;
}

// Calls `first`.. up to the next run share `code`.
struct Run {
  std::uint32_t first;
  CallRule rule;
};

// Neighbours with the same rule become one run; a judged call is a run of its own.
std::vector<Run> runs_of(const std::map<std::uint32_t, CallRule>& rules) {
  std::vector<Run> runs{{0, CallRule::kAbsent}};
  std::uint32_t next = 0;
  const auto append = [&](std::uint32_t number, CallRule rule) {
    const bool judged = rule > CallRule::kRefuse;
    if (judged || runs.back().rule != rule) runs.push_back({number, rule});
  };
  for (const auto& [number, rule] : rules) {
    if (number > next) append(next, CallRule::kAbsent);
    append(number, rule);
    next = number + 1;
  }
  append(next, CallRule::kAbsent);
  return runs;
}

Program code_of(const Run& run) {
  if (run.rule != CallRule::kMakeNode) return judge(run.rule);
  return judge_node(run.first == SYS_mknodat ? 2 : 1);
}

// A balanced tree of comparisons with the code of the runs as its leaves.
Program search_tree(std::span<const Run> runs) {
  if (runs.size() == 1) return code_of(runs.front());
  const std::size_t half = runs.size() / 2;
  const Program below = search_tree(runs.first(half));
  const Program above = search_tree(runs.subspan(half));
  // The way up is a plain jump: a conditional one reaches only 255 steps.
  Program program{step(BPF_JMP | BPF_JGE | BPF_K, runs[half].first, 0, 1),
                  step(BPF_JMP | BPF_JA, static_cast<std::uint32_t>(below.size()))};
  program.insert(program.end(), below.begin(), below.end());
  program.insert(program.end(), above.begin(), above.end());
  return program;
}

Program build() {
  Program program{load(offsetof(seccomp_data, arch)),
                  step(BPF_JMP | BPF_JEQ | BPF_K, kArchitecture, 1, 0), answer(kKill),
                  load(offsetof(seccomp_data, nr)),
                  // The x32 form of a call: another table with the same architecture mark.
                  step(BPF_JMP | BPF_JGE | BPF_K, 0x40000000, 0, 1), answer(kKill)};
  const Program tree = search_tree(runs_of(rules_by_number()));
  program.insert(program.end(), tree.begin(), tree.end());
  HEDDLE_CHECK(program.size() <= BPF_MAXINSNS);
  return program;
}

}  // namespace

const std::vector<sock_filter>& seccomp_program() {
  static const Program program = build();
  return program;
}

Result<Done> install_seccomp_filter() {
  const Program& program = seccomp_program();
  const sock_fprog filter{static_cast<unsigned short>(program.size()),
                          const_cast<sock_filter*>(program.data())};
  if (::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &filter) != 0)
    return failure("put the sandbox's filter in place");
  return Done{};
}

}  // namespace heddle::sandbox
