// Hybrid: the v2 tree ends and counts, the v1 controllers beside it hold the limits.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "sandbox/cgroup.h"
#include "sandbox/cgroup_files.h"
#include "sandbox/device_folder.h"
#include "sandbox/failure.h"

namespace heddle::sandbox {
namespace {

constexpr const char* kV1Root = "/sys/fs/cgroup/";
constexpr const char* kUnified = "/sys/fs/cgroup/unified";

class HybridCgroup final : public Cgroup {
 public:
  explicit HybridCgroup(std::unique_ptr<Cgroup> tree) : tree_{std::move(tree)} {}
  ~HybridCgroup() override { remove(); }

  int clone_fd() const override { return tree_->clone_fd(); }

  Result<Done> join() override {
    // "0" to `tasks` moves only the calling thread and so takes no lock of the whole machine;
    // `cgroup.procs` would wait for a grace period of the kernel, some milliseconds.
    for (const std::string& folder : folders_)
      if (!write_file(folder + "/tasks", "0")) return failure("join the limits of the sandbox");
    if (!shared_folder_.empty() && !write_file(shared_folder_ + "/tasks", "0"))
      return failure("join the limits of the sandbox");
    return Done{};
  }

  bool kill() override { return tree_->kill(); }

  CgroupUse use() const override {
    CgroupUse use = tree_->use();
    const std::string memory = memory_folder();
    if (memory.empty()) return use;
    use.peak_memory_bytes = read_number(memory + "/memory.max_usage_in_bytes");
    const std::int64_t kills = number_of_key(read_file(memory + "/memory.oom_control"), "oom_kill");
    if (kills > 0) use.out_of_memory_kills = kills;
    return use;
  }

  bool remove() override {
    if (removed_) return true;
    std::erase_if(folders_, [](const std::string& folder) { return remove_group_folder(folder); });
    removed_ = tree_->remove() && folders_.empty();
    return removed_;
  }

  Result<Done> add(const std::string& controller, const std::string& parent, const std::string& id);
  Result<Done> add_devices(const std::string& parent, const std::string& id,
                           const CgroupLimits& limits);
  const std::string& last_folder() const { return folders_.back(); }

 private:
  std::string memory_folder() const {
    const std::string prefix = std::string{kV1Root} + "memory/";
    const auto found = std::ranges::find_if(
        folders_, [&](const std::string& folder) { return folder.starts_with(prefix); });
    return found == folders_.end() ? std::string{} : *found;
  }

  std::unique_ptr<Cgroup> tree_;
  std::vector<std::string> folders_;  // one for each v1 controller, ours alone
  std::string shared_folder_;         // joined, never removed
  bool removed_ = false;
};

Result<std::string> make_parent(const std::string& controller, const std::string& parent) {
  const std::string path = kV1Root + controller + "/" + parent;
  if (::access(path.c_str(), F_OK) != 0 && ::mkdir(path.c_str(), 0755) != 0 && errno != EEXIST)
    return failure("make the limits of the sandboxes");
  return path;
}

Result<Done> HybridCgroup::add(const std::string& controller, const std::string& parent,
                               const std::string& id) {
  const Result<std::string> parent_path = make_parent(controller, parent);
  if (!parent_path) return parent_path.error();
  const std::string path = *parent_path + "/" + id;
  const Result<Done> made = make_group_folder(path);
  if (made) folders_.push_back(path);
  return made;
}

Result<Done> HybridCgroup::add_devices(const std::string& parent, const std::string& id,
                                       const CgroupLimits& limits) {
  if (limits.holds_devices) {
    const Result<Done> done = add("devices", parent, id);
    return done ? write_device_rules(last_folder(), limits.devices) : done;
  }
  const Result<std::string> parent_path = make_parent("devices", parent);
  if (!parent_path) return parent_path.error();
  const Result<std::string> shared = group_without_devices(*parent_path, limits.devices);
  if (!shared) return shared.error();
  shared_folder_ = *shared;
  return Done{};
}

bool has_controller(const char* controller) {
  return ::access((std::string{kV1Root} + controller + "/tasks").c_str(), F_OK) == 0;
}

Result<Done> limit_memory(const std::string& folder, std::int64_t bytes) {
  if (bytes <= 0) return Done{};
  const std::string text = std::to_string(bytes);
  if (!write_file(folder + "/memory.limit_in_bytes", text))
    return failure("limit the memory of the sandbox");
  // Without this file the kernel does not count swap: then there is nothing to add.
  if (!write_file(folder + "/memory.memsw.limit_in_bytes", text) && errno != ENOENT)
    return failure("limit the memory of the sandbox");
  return Done{};
}

// Default weight 100 is v1's 1024 shares; the kernel's own bounds apply.
std::int64_t shares_of_weight(std::int64_t weight) {
  return std::clamp<std::int64_t>(weight * 1024 / 100, 2, 262144);
}

}  // namespace

Result<std::unique_ptr<Cgroup>> make_hybrid_cgroup(const std::string& parent, const std::string& id,
                                                   const CgroupLimits& limits) {
  const bool devices_in_v1 = has_controller("devices");
  Result<std::unique_ptr<Cgroup>> tree = make_v2_cgroup(
      kUnified, parent, id, limits, devices_in_v1 ? DeviceGuard::kElsewhere : DeviceGuard::kHere);
  if (!tree) return tree.error();
  auto group = std::make_unique<HybridCgroup>(std::move(*tree));
  if (has_controller("memory")) {
    Result<Done> done = group->add("memory", parent, id);
    if (done) done = limit_memory(group->last_folder(), limits.memory_bytes);
    if (!done) return done.error();
  }
  if (has_controller("pids") && limits.processes > 0) {
    const Result<Done> done = group->add("pids", parent, id);
    if (!done) return done.error();
    if (!write_file(group->last_folder() + "/pids.max", std::to_string(limits.processes)))
      return failure("limit the processes of the sandbox");
  }
  if (has_controller("cpu")) {
    const Result<Done> done = group->add("cpu", parent, id);
    if (!done) return done.error();
    const std::int64_t shares = shares_of_weight(limits.cpu_weight);
    if (shares != 1024 && !write_file(group->last_folder() + "/cpu.shares", std::to_string(shares)))
      return failure("weigh the CPU of the sandbox");
  }
  if (devices_in_v1) {
    const Result<Done> done = group->add_devices(parent, id, limits);
    if (!done) return done.error();
  }
  return std::unique_ptr<Cgroup>{std::move(group)};
}

}  // namespace heddle::sandbox
