#include "sandbox/cgroup.h"

#include <linux/magic.h>
#include <sys/vfs.h>
#include <unistd.h>

namespace heddle::sandbox {
namespace {

constexpr const char* kRoot = "/sys/fs/cgroup";
constexpr const char* kUnified = "/sys/fs/cgroup/unified";

bool is_v2_mount(const char* path) {
  struct statfs info {};
  return ::statfs(path, &info) == 0 && info.f_type == CGROUP2_SUPER_MAGIC &&
         ::access(path, W_OK) == 0;
}

}  // namespace

CgroupMode detect_cgroups() {
  if (is_v2_mount(kRoot)) return CgroupMode::kV2;
  if (is_v2_mount(kUnified)) return CgroupMode::kHybrid;
  return CgroupMode::kNone;
}

std::vector<std::string> group_folders(const std::string& parent, const std::string& id) {
  const std::string name = "/" + parent + "/" + id;
  switch (detect_cgroups()) {
    case CgroupMode::kV2:
      return {kRoot + name};
    case CgroupMode::kHybrid:
      break;
    case CgroupMode::kNone:
      return {};
  }
  std::vector<std::string> folders{kUnified + name};
  for (const char* controller : {"memory", "pids", "cpu", "devices"})
    folders.push_back(std::string{kRoot} + "/" + controller + name);
  return folders;
}

Result<std::unique_ptr<Cgroup>> make_cgroup(CgroupMode mode, const std::string& parent,
                                            const std::string& id, const CgroupLimits& limits) {
  switch (mode) {
    case CgroupMode::kV2:
      // Beside v1 controllers the v2 tree can still be asked for alone, as the tests do.
      return make_v2_cgroup(is_v2_mount(kRoot) ? kRoot : kUnified, parent, id, limits,
                            DeviceGuard::kHere);
    case CgroupMode::kHybrid:
      return make_hybrid_cgroup(parent, id, limits);
    case CgroupMode::kNone:
      break;
  }
  return make_no_cgroup();
}

}  // namespace heddle::sandbox
