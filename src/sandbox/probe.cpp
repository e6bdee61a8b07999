// What this machine can do, found out by doing it.
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>

#include "sandbox/cgroup.h"
#include "sandbox/cgroup_files.h"
#include "sandbox/devices.h"
#include "sandbox/landlock.h"
#include "sandbox/sandbox.h"
#include "sandbox/seccomp_filter.h"
#include "sandbox/system_calls.h"

namespace heddle::sandbox {
namespace {

// True if a child made with these flags can be started and `works` is true in it. The child makes
// system calls only: the caller may have threads.
bool works_in_child(std::uint64_t flags, bool (*works)()) {
  clone_args args{};
  args.flags = flags;
  args.exit_signal = SIGCHLD;
  const pid_t child = clone_process(args);
  if (child == 0) ::_exit(works() ? 0 : 1);
  int status = 1;
  return child > 0 && ::waitpid(child, &status, 0) == child && WIFEXITED(status) &&
         WEXITSTATUS(status) == 0;
}

bool filter_holds() {
  return ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && install_seccomp_filter().has_value() &&
         ::syscall(SYS_unshare, CLONE_NEWUSER) == -1;
}

// The kernel answers 0 for a limit's file only where the controller is there and can be written.
bool holds(const std::string& file, std::int64_t value) { return read_number(file) == value; }

constexpr std::int64_t kProbeBytes = 64 << 20, kProbeProcesses = 7, kProbeWeight = 200;

void probe_limits(Abilities& found, const std::string& parent) {
  found.cgroups = detect_cgroups();
  if (found.cgroups == CgroupMode::kNone) return;
  const std::string id = "probe-" + std::to_string(::getpid());
  const CgroupLimits limits{kProbeBytes, kProbeProcesses, kProbeWeight, device_rules({}), true};
  Result<std::unique_ptr<Cgroup>> group = make_cgroup(found.cgroups, parent, id, limits);
  if (!group) {
    found.cgroups = CgroupMode::kNone;
    return;
  }
  // Making the group attached the device rule; it failed otherwise.
  found.limits_devices = true;
  const bool pure = found.cgroups == CgroupMode::kV2;
  const std::string root = "/sys/fs/cgroup/", below = "/" + parent + "/" + id + "/";
  const auto folder = [&](const char* controller) {
    return pure ? root + parent + "/" + id + "/" : root + controller + below;
  };
  found.limits_memory =
      holds(folder("memory") + (pure ? "memory.max" : "memory.limit_in_bytes"), kProbeBytes);
  found.limits_processes = holds(folder("pids") + "pids.max", kProbeProcesses);
  found.weighs_cpu = pure ? holds(folder("cpu") + "cpu.weight", kProbeWeight)
                          : holds(folder("cpu") + "cpu.shares", kProbeWeight * 1024 / 100);
  const std::string tree = (pure ? root : root + "unified/") + parent + "/" + id;
  found.kills_tree_by_cgroup = ::access((tree + "/cgroup.kill").c_str(), W_OK) == 0;
  (*group)->remove();
}

}  // namespace

Abilities probe(const std::string& cgroup_parent) {
  Abilities found;
  found.root = ::geteuid() == 0;
  if (!found.root) return found;
  seccomp_program();
  found.namespaces =
      works_in_child(CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWIPC | CLONE_NEWUTS | CLONE_NEWNET,
                     [] { return ::unshare(CLONE_NEWCGROUP) == 0; });
  found.seccomp = works_in_child(0, filter_holds);
  found.landlock = landlock_version() > 0;
  probe_limits(found, cgroup_parent);
  return found;
}

std::vector<std::string> Abilities::notes() const {
  std::vector<std::string> notes;
  if (!isolates()) {
    notes.push_back(
        "Jobs on this machine are not separated from each other. Run only code you trust.");
    return notes;
  }
  if (!landlock) notes.push_back("The second fence around files is missing; the first one holds.");
  if (!limits_memory) notes.push_back("The memory of a job cannot be limited on this machine.");
  if (!limits_processes)
    notes.push_back("The number of processes is limited for a team, not for a single job.");
  if (!weighs_cpu) notes.push_back("CPU time cannot be shared out by weight on this machine.");
  if (!limits_devices)
    notes.push_back("Devices are hidden from jobs that do not hold them, but not barred as well.");
  if (!kills_tree_by_cgroup)
    notes.push_back("A job is ended through its first process only; the second way is missing.");
  return notes;
}

}  // namespace heddle::sandbox
