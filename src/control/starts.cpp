#include "control/starts.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "base/check.h"
#include "core/meter/receipt.h"

namespace heddle {
namespace {

Allocation allocation_of(Books& books, const Workload& workload, const Placement& placement) {
  Allocation a;
  a.id = books.new_id<AllocationTag>();
  a.workload = workload.id;
  a.team = workload.team;
  a.pool = workload.pool;
  a.node = placement.node;
  a.replica = placement.replica;
  a.attempt = workload.attempt;
  a.epoch = books.epoch;
  a.devices = placement.devices;
  a.cpu_milli = placement.cpu_milli;
  a.memory_bytes = placement.memory_bytes;
  a.recorded_at = books.now;
  return a;
}

std::vector<const Allocation*> run_of(const State& state, const Workload& workload) {
  std::vector<const Allocation*> run(static_cast<std::size_t>(workload.spec->shape.replicas));
  for (auto at = state.workload_allocations().lower_bound({workload.id, AllocationId{}});
       at != state.workload_allocations().end() && at->key.first == workload.id; ++at) {
    const Allocation* a = state.allocations().find(at->key.second);
    if (a->attempt == workload.attempt) run[static_cast<std::size_t>(a->replica)] = a;
  }
  return run;
}

// A node keeps every device that is leased, so the lease's device is there.
const Device& device_of(const Node& node, DeviceId id) {
  const auto found = std::ranges::find(node.devices, id, &Device::id);
  HEDDLE_CHECK(found != node.devices.end());
  return *found;
}

StartOrder order_of(const State& state, const Workload& workload, const Allocation& a) {
  const Node& node = *state.nodes().find(a.node);
  const Team& team = *state.teams().find(workload.team);
  const WorkloadSpec& spec = *workload.spec;
  StartOrder order;
  order.allocation = a.id;
  order.epoch = a.epoch;
  order.workload = workload.id;
  order.attempt = a.attempt;
  order.team = team.id;
  order.team_slot = team.slot;
  order.team_name = team.name;
  order.workload_name = spec.name;
  const User* user = state.users().find(workload.owner);
  order.user_name = user != nullptr ? user->name : "user";
  order.project = spec.project;
  order.node_name = node.name;
  order.pool_name = state.pools().find(a.pool)->name;
  order.simulated = node.simulated;
  for (const DeviceLease& lease : a.devices) {
    const Device& device = device_of(node, lease.device);
    order.devices.push_back({device.uuid, lease.amount, device.memory_bytes});
  }
  order.cpu_milli = a.cpu_milli;
  order.memory_bytes = a.memory_bytes;
  order.replica = a.replica;
  order.replicas = spec.shape.replicas;
  order.procs_per_node = spec.procs_per_node;
  order.command = spec.command;
  order.env = spec.env;
  order.grace = spec.grace;
  return order;
}

}  // namespace

void apply_plan(Books& books, const Plan& plan) {
  for (const StartAction& start : plan.starts) {
    const Workload* found = books.state().workloads().find(start.workload);
    HEDDLE_CHECK(found != nullptr && found->state == WorkloadState::kWaiting);
    Workload workload = *found;
    leave_state(workload.usage, workload, books.now);
    workload.state = WorkloadState::kStarting;
    workload.starting_since = books.now;
    workload.pool = start.pool;
    ++workload.attempt;
    workload.released = 0;
    ++workload.version;
    books.tell(workload.team, SubjectKind::kWorkload, workload.id.value, "starting",
               books.state().pools().find(start.pool)->name);
    for (const Placement& placement : start.placements)
      books.draft.put(allocation_of(books, workload, placement));
    books.draft.put(std::move(workload));
  }
}

Result<std::vector<StartOrder>> start_orders(const State& state, Store& store, WorkloadId id) {
  std::vector<StartOrder> orders;
  const Workload* workload = state.workloads().find(id);
  if (workload == nullptr || workload->state != WorkloadState::kStarting) return orders;
  std::vector<OrderFile> files;
  for (const FileRef& file : workload->spec->files) {
    auto bytes = store.blob(file.sha256_hex);
    if (!bytes) return bytes.error();
    if (!bytes->has_value())
      return Error{ErrorCode::kInternal, "The content of the file " + file.path + " is missing."};
    files.push_back(
        {file.path, std::make_shared<const std::string>(std::move(**bytes)), file.executable});
  }
  const std::vector<const Allocation*> run = run_of(state, *workload);
  std::vector<std::string> nodes;
  for (const Allocation* a : run)
    nodes.push_back(a != nullptr ? state.nodes().find(a->node)->name : std::string{});
  for (const Allocation* a : run) {
    if (a == nullptr || a->stop_requested) continue;
    if (a->state != AllocationState::kPlanned && a->state != AllocationState::kSent) continue;
    StartOrder order = order_of(state, *workload, *a);
    order.replica_nodes = nodes;
    order.files = files;
    orders.push_back(std::move(order));
  }
  return orders;
}

}  // namespace heddle
