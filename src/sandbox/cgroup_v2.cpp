// The pure v2 tree: one folder holds every limit, the use and the kill switch.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "sandbox/cgroup.h"
#include "sandbox/cgroup_files.h"
#include "sandbox/descriptor.h"
#include "sandbox/device_program.h"
#include "sandbox/failure.h"

namespace heddle::sandbox {
namespace {

class V2Cgroup final : public Cgroup {
 public:
  explicit V2Cgroup(std::string path) : path_{std::move(path)} {
    folder_.reset(::open(path_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  }
  ~V2Cgroup() override {
    if (!removed_) remove();
  }

  int clone_fd() const override { return folder_.get(); }
  Result<Done> join() override { return Done{}; }
  bool kill() override { return write_file(path_ + "/cgroup.kill", "1"); }

  CgroupUse use() const override {
    CgroupUse use;
    const std::int64_t cpu_us = number_of_key(read_file(path_ + "/cpu.stat"), "usage_usec");
    if (cpu_us >= 0) use.cpu_ms = cpu_us / 1000;
    use.peak_memory_bytes = read_number(path_ + "/memory.peak");
    const std::int64_t kills = number_of_key(read_file(path_ + "/memory.events"), "oom_kill");
    if (kills > 0) use.out_of_memory_kills = kills;
    return use;
  }

  bool remove() override {
    folder_.reset();
    removed_ = remove_group_folder(path_);
    return removed_;
  }

 private:
  std::string path_;
  Descriptor folder_;
  bool removed_ = false;
};

// Hands the controllers down one level; those that the tree does not have are left out.
void enable_controllers(const std::string& folder) {
  for (const char* controller : {"+memory", "+pids", "+cpu"})
    write_file(folder + "/cgroup.subtree_control", controller);
}

Result<Done> make_parent(const std::string& root, const std::string& parent) {
  const std::string path = root + "/" + parent;
  if (::access(path.c_str(), F_OK) == 0) return Done{};
  if (::mkdir(path.c_str(), 0755) != 0 && errno != EEXIST)
    return failure("make the limits of the sandboxes");
  enable_controllers(root);
  enable_controllers(path);
  return Done{};
}

// Writes one limit. A tree without that controller has no such file: not an error, the probe says
// so to the operator.
bool limit(const std::string& path, std::string_view value) {
  return write_file(path, value) || errno == ENOENT;
}

}  // namespace

Result<std::unique_ptr<Cgroup>> make_v2_cgroup(const std::string& root, const std::string& parent,
                                               const std::string& id, const CgroupLimits& limits,
                                               DeviceGuard guard) {
  const std::string path = root + "/" + parent + "/" + id;
  Result<Done> made = make_parent(root, parent);
  if (made) made = make_group_folder(path);
  if (!made) return made.error();
  auto group = std::make_unique<V2Cgroup>(path);
  if (group->clone_fd() < 0) return failure("open the limits of the sandbox");
  if (limits.memory_bytes > 0) {
    if (!limit(path + "/memory.max", std::to_string(limits.memory_bytes)) ||
        !limit(path + "/memory.swap.max", "0") || !limit(path + "/memory.oom.group", "1"))
      return failure("limit the memory of the sandbox");
  }
  if (limits.processes > 0 && !limit(path + "/pids.max", std::to_string(limits.processes)))
    return failure("limit the processes of the sandbox");
  if (limits.cpu_weight != 100 && !limit(path + "/cpu.weight", std::to_string(limits.cpu_weight)))
    return failure("weigh the CPU of the sandbox");
  if (guard == DeviceGuard::kHere) {
    const Result<Done> attached = attach_device_program(group->clone_fd(), limits.devices);
    if (!attached) return attached.error();
  }
  return std::unique_ptr<Cgroup>{std::move(group)};
}

}  // namespace heddle::sandbox
