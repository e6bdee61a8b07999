#include "engine/local/make_order.h"

#include <sys/stat.h>

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

namespace heddle::local {
namespace {

constexpr std::int64_t kFirstUid = 1LL << 28;
constexpr std::int64_t kUidsPerTeam = 65'536;
constexpr std::int64_t kLastUid = (1LL << 31) - 1;
constexpr int kMasterPort = 29'500;
constexpr std::string_view kWorkInside = "/work";
constexpr std::string_view kSharedInside = "/shared";
constexpr std::string_view kShimInside = "/run/heddle/heddle-shim";

using Variables = std::vector<std::pair<std::string, std::string>>;

// A host name has at most 64 bytes; the number of the largest gang's last replica must fit in.
std::string replica_host(const StartOrder& start, std::int64_t replica) {
  return start.workload_name.substr(0, 58) + "-" + std::to_string(replica);
}

std::string replica_address(std::int64_t replica) {
  return "127.0." + std::to_string(1 + replica / 250) + "." + std::to_string(1 + replica % 250);
}

std::string visible_devices(const StartOrder& start) {
  std::string uuids;
  for (const OrderDevice& device : start.devices) uuids += (uuids.empty() ? "" : ",") + device.uuid;
  return uuids;
}

std::int64_t gpu_milli(const StartOrder& start) {
  GpuAmount sum;
  for (const OrderDevice& device : start.devices) sum += device.amount;
  return sum.as_milli();
}

// Ours come first and win; the user's follow.
Variables variables(const StartOrder& start, const OrderSettings& settings, const std::string& work,
                    const std::string& shared) {
  const auto number = [](std::int64_t n) { return std::to_string(n); };
  const std::int64_t procs = std::max<std::int64_t>(1, start.procs_per_node);
  const std::string uuids = visible_devices(start);
  // Without networks of their own, gangs of the machine at least meet at different ports.
  const std::int64_t port =
      settings.isolate ? kMasterPort
                       : kMasterPort + static_cast<std::int64_t>(start.workload.value % 10'000);
  Variables all{
      {"PATH", "/usr/local/bin:/usr/bin:/bin"},
      {"HOME", work},
      {"USER", "user"},
      {"LANG", "C.UTF-8"},
      {"HEDDLE_WORKLOAD", start.workload_name},
      {"HEDDLE_WORKLOAD_ID", start.workload.text()},
      {"HEDDLE_TEAM", start.team_name},
      {"HEDDLE_USER", start.user_name},
      {"HEDDLE_PROJECT", start.project},
      {"HEDDLE_POOL", start.pool_name},
      {"HEDDLE_NODE", start.node_name},
      {"HEDDLE_ATTEMPT", number(start.attempt)},
      {"HEDDLE_REPLICA", number(start.replica)},
      {"HEDDLE_REPLICAS", number(start.replicas)},
      {"HEDDLE_GPU_MILLI", number(gpu_milli(start))},
      {"HEDDLE_SIMULATED", start.simulated ? "1" : "0"},
      {"HEDDLE_SHARED", shared},
      {"CUDA_VISIBLE_DEVICES", uuids},
      {"NVIDIA_VISIBLE_DEVICES", uuids.empty() ? "void" : uuids},
      {"MASTER_ADDR", settings.isolate ? replica_host(start, 0) : "127.0.0.1"},
      {"MASTER_PORT", number(port)},
      {"WORLD_SIZE", number(start.replicas * procs)},
      {"RANK", number(start.replica * procs)},
      {"LOCAL_RANK", "0"},
      {"LOCAL_WORLD_SIZE", number(procs)},
      {"NODE_RANK", number(start.replica)},
  };
  std::set<std::string, std::less<>> taken;
  for (const auto& variable : all) taken.insert(variable.first);
  for (const auto& variable : start.env)
    if (taken.insert(variable.first).second) all.push_back(variable);
  return all;
}

bool add_devices(sandbox::Spec& spec, const StartOrder& start, const Hardware& hardware) {
  if (start.devices.empty() || start.simulated) return true;
  std::set<std::string> paths;
  for (const OrderDevice& device : start.devices) {
    const auto minor = hardware.minor_of(device.uuid);
    if (!minor) return false;
    paths.insert("/dev/nvidia" + std::to_string(*minor));
  }
  for (const char* shared : {"/dev/nvidiactl", "/dev/nvidia-uvm", "/dev/nvidia-uvm-tools"}) {
    struct stat facts {};
    if (stat(shared, &facts) == 0 && S_ISCHR(facts.st_mode)) paths.insert(shared);
  }
  for (const std::string& path : paths) spec.devices.push_back({path, path});
  return true;
}

void add_command(sandbox::Spec& spec, const StartOrder& start, const OrderSettings& settings) {
  if (start.procs_per_node > 1) {
    if (settings.isolate)
      spec.mounts.push_back({settings.shim_path, std::string{kShimInside}, false});
    spec.argv = {settings.isolate ? std::string{kShimInside} : settings.shim_path, "ranks",
                 std::to_string(start.procs_per_node)};
  }
  spec.argv.insert(spec.argv.end(), start.command.begin(), start.command.end());
}

}  // namespace

Result<uid_t> team_uid(std::int64_t team_slot) {
  if (team_slot < 0 || team_slot > (kLastUid - kFirstUid) / kUidsPerTeam)
    return Error{ErrorCode::kNotSupported,
                 "This machine has no user numbers left for another team.",
                 {},
                 {},
                 {}};
  return static_cast<uid_t>(kFirstUid + team_slot * kUidsPerTeam);
}

std::string network_of(const StartOrder& start, const OrderSettings& settings,
                       const Folders& folders) {
  if (!settings.isolate || start.replicas <= 1) return {};
  return folders.network(start.workload, start.attempt);
}

Result<shim::Order> make_order(const StartOrder& start, const OrderSettings& settings,
                               const Folders& folders, const Hardware& hardware) {
  const Result<uid_t> uid = team_uid(start.team_slot);
  if (!uid) return uid.error();
  const std::string work = folders.work(start.team, start.workload);
  const std::string shared = folders.shared(start.team);
  shim::Order order;
  order.identity = {start.allocation.value, start.attempt, start.epoch, {}};
  order.isolate = settings.isolate;
  order.log_folder = folders.log(start.workload, start.attempt, start.replica);
  order.log_segment_bytes = settings.log_segment_bytes;
  order.log_segments = settings.log_segments;

  sandbox::Spec& spec = order.program;
  spec.id = start.allocation.text() + "-" + settings.id_suffix;
  spec.cgroup_parent = settings.cgroup_parent;
  spec.uid = *uid;
  spec.gid = *uid;
  spec.home = settings.isolate ? kWorkInside : std::string_view{work};
  spec.workdir = spec.home;
  spec.hostname = replica_host(start, start.replica);
  if (settings.isolate)
    spec.mounts = {{work, std::string{kWorkInside}, true},
                   {shared, std::string{kSharedInside}, true}};
  for (std::int64_t replica = 0; replica < start.replicas; ++replica)
    spec.hosts.emplace_back(replica_host(start, replica), replica_address(replica));
  spec.join_network = network_of(start, settings, folders);
  for (const auto& [name, value] : variables(
           start, settings, spec.home, settings.isolate ? std::string{kSharedInside} : shared))
    spec.env.push_back(name + "=" + value);
  add_command(spec, start, settings);
  if (!add_devices(spec, start, hardware))
    return Error{ErrorCode::kUnavailable, "A GPU of this start is not there any more.", {}, {}, {}};
  spec.memory_bytes = start.memory_bytes;
  if (start.simulated) {
    const std::int64_t share = hardware.simulated_memory_ceiling(gpu_milli(start));
    spec.memory_bytes = start.memory_bytes > 0 ? std::min(start.memory_bytes, share) : share;
  }
  // A core is a hundred; by weight only, so that idle CPUs are anybody's.
  spec.cpu_weight = std::clamp<std::int64_t>(start.cpu_milli / 10, 1, 10'000);
  return order;
}

}  // namespace heddle::local
