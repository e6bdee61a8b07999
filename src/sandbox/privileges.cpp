#include "sandbox/privileges.h"

#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <linux/keyctl.h>
#include <linux/securebits.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "sandbox/cgroup_files.h"
#include "sandbox/failure.h"

namespace heddle::sandbox {
namespace {

constexpr rlim_t kLockedBytes = 64 << 20, kStackBytes = 8 << 20, kQueueBytes = 819200;

// Sets soft and hard limit. Above the present hard limit only CAP_SYS_RESOURCE may go, which root
// does not have everywhere: then the present one stays.
bool limit(__rlimit_resource_t resource, rlim_t soft, rlim_t hard) {
  rlimit now{};
  if (::getrlimit(resource, &now) != 0) return false;
  const rlim_t reachable = std::min(hard, now.rlim_max);
  const rlimit wanted{std::min(soft, reachable), reachable};
  return ::setrlimit(resource, &wanted) == 0;
}

bool set_limits(const Spec& spec, CgroupMode mode) {
  const auto files = static_cast<rlim_t>(spec.open_files);
  // Not 0: a host that pipes cores into a program does so at any limit but 1.
  bool set = limit(RLIMIT_CORE, 1, 1) && limit(RLIMIT_NOFILE, files, files) &&
             limit(RLIMIT_MEMLOCK, kLockedBytes, kLockedBytes) &&
             limit(RLIMIT_STACK, kStackBytes, RLIM_INFINITY) &&
             limit(RLIMIT_MSGQUEUE, kQueueBytes, kQueueBytes) && limit(RLIMIT_NICE, 0, 0) &&
             limit(RLIMIT_RTPRIO, 0, 0);
  for (const __rlimit_resource_t free : {RLIMIT_CPU, RLIMIT_FSIZE, RLIMIT_DATA, RLIMIT_AS})
    set = set && limit(free, RLIM_INFINITY, RLIM_INFINITY);
  // Counted per user over all of the team's sandboxes, so only where nothing better bounds forks.
  if (mode == CgroupMode::kNone) {
    const auto processes = static_cast<rlim_t>(spec.processes);
    set = set && limit(RLIMIT_NPROC, processes, processes);
  }
  return set;
}

bool drop_capabilities_for_good() {
  for (unsigned long capability = 0; capability <= 63; ++capability) {
    if (::prctl(PR_CAPBSET_DROP, capability, 0, 0, 0) == 0) continue;
    if (errno != EINVAL) return false;
    break;  // the kernel knows no more of them
  }
  constexpr unsigned long kSecure = SECBIT_NOROOT | SECBIT_NOROOT_LOCKED |
                                    SECBIT_NO_CAP_AMBIENT_RAISE |
                                    SECBIT_NO_CAP_AMBIENT_RAISE_LOCKED;
  return ::prctl(PR_SET_SECUREBITS, kSecure, 0, 0, 0) == 0;
}

bool clear_capability_sets() {
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  const __user_cap_data_struct none[2]{};
  return ::syscall(SYS_capset, &header, none) == 0;
}

}  // namespace

void prefer_as_memory_victim() {
  // Best effort: raising it needs no right, and a machine without the file has no such victim.
  write_file("/proc/self/oom_score_adj", "500");
}

Result<Done> drop_privileges(const Spec& spec, CgroupMode mode) {
  if (::setsid() < 0 && errno != EPERM) return failure("make the sandbox's session");
  // A kernel without keyrings has none to inherit.
  if (::syscall(SYS_keyctl, KEYCTL_JOIN_SESSION_KEYRING, nullptr) < 0 && errno != ENOSYS)
    return failure("make the sandbox's keyring");
  if (!set_limits(spec, mode)) return failure("limit the sandbox");
  if (!drop_capabilities_for_good()) return failure("drop the sandbox's rights");
  if (::setgroups(0, nullptr) != 0 || ::setresgid(spec.gid, spec.gid, spec.gid) != 0 ||
      ::setresuid(spec.uid, spec.uid, spec.uid) != 0)
    return failure("become the sandbox's user");
  if (!clear_capability_sets() || ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
      ::prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) != 0)
    return failure("drop the sandbox's rights");
  return Done{};
}

}  // namespace heddle::sandbox
