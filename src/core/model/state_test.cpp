#include "core/model/state.h"

#include <doctest/doctest.h>

#include <memory>
#include <set>
#include <string>
#include <variant>

#include "base/rng.h"
#include "core/model/draft.h"

namespace heddle {
namespace {

constexpr std::uint64_t kThings = 5;  // few, so that everything meets everything

std::uint64_t any(Rng& rng) { return static_cast<std::uint64_t>(rng.between(1, kThings)); }

Node a_node(Rng& rng) {
  Node node;
  node.id = NodeId{any(rng)};
  node.name = "node-" + std::to_string(node.id.value);
  // Devices belong to one node: 10 x node + n, some of them there today.
  for (std::uint64_t n = 0; n < 3; ++n) {
    if (rng.one_in(4)) continue;
    const DeviceId id{10 * node.id.value + n};
    node.devices.push_back({id, "GPU-" + std::to_string(id.value), 1 << 30, {}});
  }
  return node;
}

Workload a_workload(Rng& rng) {
  WorkloadSpec spec;
  Workload w;
  w.id = WorkloadId{any(rng)};
  w.team = TeamId{1 + w.id.value % 3};
  spec.name = "job-" + std::to_string(w.id.value);
  // A workload's spec never changes: all of it follows from the id.
  spec.priority = static_cast<std::int64_t>(w.id.value % 2);
  spec.shape.request.devices = static_cast<std::int64_t>(1 + w.id.value % 2);
  spec.shape.request.milli_per_device = 1000;
  spec.shape.pools = {PoolId{1}};
  w.spec = std::make_shared<const WorkloadSpec>(spec);
  w.state = static_cast<WorkloadState>(rng.between(0, kWorkloadStateCount - 1));
  w.submitted_at = Instant{1};
  return w;
}

Allocation an_allocation(Rng& rng) {
  Allocation a;
  a.id = AllocationId{any(rng)};
  a.workload = WorkloadId{any(rng)};
  a.team = TeamId{1 + a.workload.value % 3};
  a.pool = PoolId{1};
  a.node = NodeId{1 + a.id.value % 3};  // never changes while it lives
  a.state = static_cast<AllocationState>(rng.between(0, kAllocationStateCount - 1));
  for (std::uint64_t n = 0; n < 3; ++n)
    if (rng.one_in(2))
      a.devices.push_back({DeviceId{10 * a.node.value + n}, GpuAmount::milli(rng.between(1, 200))});
  a.cpu_milli = rng.between(0, 3);
  a.memory_bytes = rng.between(0, 3);
  return a;
}

bool holds_something(const State& state, NodeId node) {
  const auto at = state.node_allocations().lower_bound({node, AllocationId{}});
  return at != state.node_allocations().end() && at->key.first == node;
}

void one_change(Draft& draft, Rng& rng) {
  switch (rng.between(0, 9)) {
    case 0: {
      Team team;
      team.id = TeamId{any(rng)};
      team.name = "team-" + std::to_string(10 * team.id.value + any(rng));
      return draft.put(team);
    }
    case 1: {
      User user;
      user.id = UserId{any(rng)};
      user.name = "user-" + std::to_string(10 * user.id.value + any(rng));
      return draft.put(user);
    }
    case 2: {
      const MemberKey key{TeamId{any(rng)}, UserId{any(rng)}};
      return rng.one_in(2) ? draft.put(Member{key, Role::kDeveloper, {}}) : draft.erase(key);
    }
    case 3: {
      Pool pool;
      pool.id = PoolId{any(rng)};
      pool.name = "pool-" + std::to_string(10 * pool.id.value + any(rng));
      return draft.put(pool);
    }
    case 4: {
      Share share;
      share.key = {TeamId{any(rng)}, PoolId{any(rng)}};
      share.weight = rng.between(1, 9);
      return draft.put(share);
    }
    case 5: {
      const NodeId id{any(rng)};
      return rng.one_in(3) && !holds_something(draft.state(), id) ? draft.erase(id)
                                                                  : draft.put(a_node(rng));
    }
    case 6:
    case 7:
      return draft.put(a_workload(rng));
    default:
      return draft.put(an_allocation(rng));
  }
}

TEST_CASE("property: indexes kept along the way equal indexes made anew") {
  for (std::uint64_t seed = 1; seed <= 500; ++seed) {
    CAPTURE(seed);
    Rng rng{seed};
    Draft draft{State{}};
    for (std::int64_t n = rng.between(1, 60); n > 0; --n) {
      one_change(draft, rng);
      if (rng.one_in(10)) draft = Draft{draft.state()};  // shared with a snapshot
    }
    const State fresh = draft.state().rebuilt();
    CHECK(State::same_facts(draft.state(), fresh));
    CHECK(State::same_indexes(draft.state(), fresh));
  }
}

TEST_CASE("property: a snapshot does not see what is changed after it") {
  for (std::uint64_t seed = 1; seed <= 500; ++seed) {
    CAPTURE(seed);
    Rng rng{seed};
    Draft draft{State{}};
    for (int n = 0; n < 20; ++n) one_change(draft, rng);
    const State snapshot = draft.state();
    const State copy = snapshot.rebuilt();
    for (int n = 0; n < 20; ++n) one_change(draft, rng);
    CHECK(State::same_facts(snapshot, copy));
    CHECK(State::same_indexes(snapshot, copy));
  }
}

TEST_CASE("property: the changes of a draft, applied to the state before, give the state after") {
  for (std::uint64_t seed = 1; seed <= 500; ++seed) {
    CAPTURE(seed);
    Rng rng{seed};
    Draft draft{State{}};
    for (int n = 0; n < 20; ++n) one_change(draft, rng);
    const State before = draft.state();
    draft.take_changes();
    for (std::int64_t n = rng.between(0, 20); n > 0; --n) one_change(draft, rng);
    const Changes changes = draft.take_changes();
    CHECK(draft.take_changes().empty());
    Draft replay{before};
    for (const PutRow& row : changes.puts)
      std::visit([&](const auto& value) { replay.put(value); }, row);
    for (const ErasedRow& row : changes.erased)
      std::visit(
          [&](const auto& key) {
            if constexpr (requires { replay.erase(key); }) replay.erase(key);
          },
          row);
    CHECK(State::same_facts(replay.state(), draft.state()));
  }
}

TEST_CASE("what waits stands together by team and shape, best first") {
  Draft draft{State{}};
  const auto put = [&](std::uint64_t id, std::int64_t devices, std::int64_t priority,
                       WorkloadClass work_class, std::int64_t at) {
    WorkloadSpec spec;
    spec.name = "job-" + std::to_string(id);
    spec.priority = priority;
    spec.work_class = work_class;
    spec.shape.request = {devices, 1000, 0, 0, 0};
    spec.shape.pools = {PoolId{1}};
    Workload w;
    w.id = WorkloadId{id};
    w.team = TeamId{1};
    w.spec = std::make_shared<const WorkloadSpec>(spec);
    w.submitted_at = Instant{at};
    draft.put(w);
  };
  put(1, 1, 0, WorkloadClass::kBatch, 1);
  put(2, 1, 0, WorkloadClass::kTraining, 5);
  put(3, 2, 9, WorkloadClass::kProduction, 1);
  put(4, 1, 1, WorkloadClass::kTraining, 9);
  put(5, 1, 0, WorkloadClass::kTraining, 4);
  std::vector<std::uint64_t> order;
  for (const auto& [key, none] : draft.state().waiting()) order.push_back(key.id.value);
  CHECK(order == std::vector<std::uint64_t>{4, 5, 2, 1, 3});
  CHECK(draft.state().shapes().size() == 2);
}

TEST_CASE("a device is its team's while all its holders are of that team") {
  Draft draft{State{}};
  const auto lease = [&](std::uint64_t id, std::uint64_t team, AllocationState state) {
    Allocation a;
    a.id = AllocationId{id};
    a.team = TeamId{team};
    a.node = NodeId{1};
    a.state = state;
    a.devices = {{DeviceId{7}, GpuAmount::milli(250)}};
    draft.put(a);
  };
  lease(1, 1, AllocationState::kRunning);
  CHECK(draft.state().device_use().find(DeviceId{7})->team == TeamId{1});
  lease(2, 2, AllocationState::kRunning);
  CHECK_FALSE(draft.state().device_use().find(DeviceId{7})->team.is_set());
  lease(1, 1, AllocationState::kReleased);
  CHECK(draft.state().device_use().find(DeviceId{7})->team == TeamId{2});
  CHECK(draft.state().device_use().find(DeviceId{7})->used == GpuAmount::milli(250));
  lease(2, 2, AllocationState::kReleased);
  CHECK(draft.state().device_use().empty());
}

TEST_CASE("an allocation never goes back: what is released stays released") {
  for (int from = 0; from < kAllocationStateCount; ++from) {
    const auto state = static_cast<AllocationState>(from);
    CAPTURE(from);
    CHECK_FALSE(may_follow(AllocationState::kReleased, state));
    CHECK_FALSE(may_follow(state, AllocationState::kPlanned));
    CHECK_FALSE(may_follow(state, state));
    if (state != AllocationState::kReleased) CHECK(may_follow(state, AllocationState::kReleased));
  }
}

TEST_CASE("a shape's number is free again when nothing of it waits, and never given twice") {
  Rng rng{1};
  Draft draft{State{}};
  std::set<std::int64_t> seen;
  for (int n = 0; n < 10; ++n) {
    Workload w = a_workload(rng);
    w.id = WorkloadId{1};
    w.state = WorkloadState::kWaiting;
    draft.put(w);
    const std::int64_t number = draft.state().shape_number(w.spec->shape);
    CHECK(seen.insert(number).second);
    CHECK(*draft.state().shapes().find(number) == w.spec->shape);
    w.state = WorkloadState::kSucceeded;
    draft.put(w);
    CHECK(draft.state().shapes().empty());
    CHECK(draft.state().shape_number(w.spec->shape) == 0);
  }
}

}  // namespace
}  // namespace heddle
