// Cgroup: the kernel's book of one sandbox: limits, use, and the sure way to end it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "sandbox/sandbox.h"

namespace heddle::sandbox {

// A device number that the sandbox may open; minor -1 stands for all of that major.
struct DeviceRule {
  bool block = false;
  std::int64_t major = 0;
  std::int64_t minor = -1;
};

struct CgroupLimits {
  std::int64_t memory_bytes = 0;  // 0: none
  std::int64_t processes = 0;     // the first process included
  std::int64_t cpu_weight = 100;
  std::vector<DeviceRule> devices;  // everything else is refused
  bool holds_devices = false;       // there are more in `devices` than every sandbox has
};

struct CgroupUse {
  std::int64_t cpu_ms = -1;  // -1: not known here
  std::int64_t peak_memory_bytes = -1;
  std::int64_t out_of_memory_kills = 0;
};

// One group, made for one sandbox. Not thread-safe.
class Cgroup {
 public:
  virtual ~Cgroup() = default;

  // For CLONE_INTO_CGROUP; -1 when the child has to join by itself.
  virtual int clone_fd() const = 0;
  // In the child, single-threaded: joins what clone_fd() did not cover.
  virtual Result<Done> join() = 0;
  // Sends SIGKILL to every member at once. False where this cannot be done.
  virtual bool kill() = 0;
  virtual CgroupUse use() const = 0;
  // Removes the group; false while something lives in it.
  virtual bool remove() = 0;
};

// The layout of this machine, by looking at the mounts only (some microseconds).
CgroupMode detect_cgroups();

// Every folder that a sandbox of that name can have on this machine, the v2 one first.
std::vector<std::string> group_folders(const std::string& parent, const std::string& id);

// Makes the group <parent>/<id> with its limits; the parent is made when it is missing. A left-over
// group of that name without members is replaced.
Result<std::unique_ptr<Cgroup>> make_cgroup(CgroupMode mode, const std::string& parent,
                                            const std::string& id, const CgroupLimits& limits);

// The three kinds, for make_cgroup and the tests. `root` is where the v2 tree is mounted; a limit
// whose controller is not in that tree is skipped (the probe says so to the operator).
enum class DeviceGuard : std::uint8_t { kHere, kElsewhere };
Result<std::unique_ptr<Cgroup>> make_v2_cgroup(const std::string& root, const std::string& parent,
                                               const std::string& id, const CgroupLimits& limits,
                                               DeviceGuard guard);
Result<std::unique_ptr<Cgroup>> make_hybrid_cgroup(const std::string& parent, const std::string& id,
                                                   const CgroupLimits& limits);
std::unique_ptr<Cgroup> make_no_cgroup();

}  // namespace heddle::sandbox
