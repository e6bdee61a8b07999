#include "sandbox/start.h"

#include <sched.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "sandbox/cgroup.h"
#include "sandbox/check_spec.h"
#include "sandbox/devices.h"
#include "sandbox/failure.h"
#include "sandbox/init.h"
#include "sandbox/running.h"
#include "sandbox/seccomp_filter.h"
#include "sandbox/system_calls.h"

namespace heddle::sandbox {
namespace {

constexpr std::size_t kPacketSize = 2048;
// Setting up takes milliseconds; a folder on a file system that does not answer must not hold the
// caller for ever.
constexpr timeval kStartLimit{60, 0};

CgroupLimits limits_of(const Spec& spec, const std::vector<HeldDevice>& held) {
  CgroupLimits limits;
  limits.memory_bytes = spec.memory_bytes;
  limits.processes = spec.processes + 1;  // the first process is ours
  limits.cpu_weight = spec.cpu_weight;
  limits.devices = device_rules(held);
  limits.holds_devices = !held.empty();
  return limits;
}

// Waits for the first process to say that the program runs, or why it does not.
Result<Done> hear_start(int control, const Cgroup& group) {
  std::array<char, kPacketSize> packet;
  ssize_t size = 0;
  do size = ::recv(control, packet.data(), packet.size(), 0);
  while (size < 0 && errno == EINTR);
  if (size >= 1 && packet[0] == kStarted) return Done{};
  if (size >= 2 && packet[0] == kFailed)
    return Error{static_cast<ErrorCode>(packet[1]),
                 std::string(packet.data() + 2, static_cast<std::size_t>(size) - 2)};
  if (size < 0)
    return Error{ErrorCode::kDeadlineExceeded, "the sandbox was not ready within 60 seconds"};
  if (group.use().out_of_memory_kills > 0)
    return Error{ErrorCode::kOverLimit, "its memory is too small for the program to start"};
  return Error{ErrorCode::kInternal, "the sandbox ended while it was set up"};
}

}  // namespace

Result<Running> start_with(const Spec& spec, CgroupMode mode) {
  const Result<Done> checked = check_spec(spec);
  if (!checked) return checked.error();
  const Result<std::vector<HeldDevice>> held = look_up_devices(spec.devices);
  if (!held) return held.error();
  Result<std::unique_ptr<Cgroup>> group =
      make_cgroup(mode, spec.cgroup_parent, spec.id, limits_of(spec, *held));
  if (!group) return group.error();
  std::array<int, 2> ends{};
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()) != 0)
    return failure("reach into the sandbox");
  Descriptor ours{ends[0]}, theirs{ends[1]};
  if (::setsockopt(ours.get(), SOL_SOCKET, SO_RCVTIMEO, &kStartLimit, sizeof kStartLimit) != 0)
    return failure("reach into the sandbox");
  seccomp_program();

  int pidfd = -1;
  clone_args args{};
  args.flags = CLONE_PIDFD | CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWIPC | CLONE_NEWUTS;
  if (spec.join_network.empty() && spec.network_fd < 0) args.flags |= CLONE_NEWNET;
  args.pidfd = reinterpret_cast<std::uintptr_t>(&pidfd);
  args.exit_signal = SIGCHLD;
  if ((*group)->clone_fd() >= 0) {
    args.flags |= CLONE_INTO_CGROUP;
    args.cgroup = static_cast<__u64>((*group)->clone_fd());
  }
  const pid_t pid = clone_process(args);
  if (pid == 0) run_init({spec, *held, **group, mode, theirs.get()});
  if (pid < 0) return failure("start the sandbox", ErrorCode::kUnavailable);
  theirs.reset();
  Running running;
  running.impl_ = new Running::Impl{pid, Descriptor{pidfd}, std::move(ours), std::move(*group)};
  const Result<Done> started = hear_start(running.impl_->control.get(), *running.impl_->group);
  if (!started) return started.error();
  return running;
}

Result<Running> start(const Spec& spec) { return start_with(spec, detect_cgroups()); }

}  // namespace heddle::sandbox
