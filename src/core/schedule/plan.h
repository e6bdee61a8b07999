// plan: what should start now, and why the rest waits.
#pragma once

#include <cstdint>
#include <vector>

#include "base/cow_map.h"
#include "base/time.h"
#include "core/model/draft.h"
#include "core/model/state.h"
#include "core/schedule/reason.h"

namespace heddle {

// What operators may set; data in the store, not configuration. Defaults are the shown ones.
struct SchedulePolicy {
  std::int64_t step_budget = 1'000'000;  // node and workload looks in one round
  bool share_devices_across_teams = false;
};

struct Placement {
  std::int64_t replica = 0;
  NodeId node;
  std::vector<DeviceLease> devices;  // ascending by device
  std::int64_t cpu_milli = 0;
  std::int64_t memory_bytes = 0;
  friend bool operator==(const Placement&, const Placement&) = default;
};

// Start every replica of a workload, in one pool.
struct StartAction {
  WorkloadId workload;
  PoolId pool;
  std::vector<Placement> placements;  // one per replica, ascending
  friend bool operator==(const StartAction&, const StartAction&) = default;
};

// One (team, shape) that waits. Shape is the State's shape number.
struct ReasonKey {
  TeamId team;
  std::int64_t shape = 0;
  friend constexpr auto operator<=>(const ReasonKey&, const ReasonKey&) = default;
};

struct Plan {
  std::vector<StartAction> starts;    // in the order in which they were decided
  CowMap<ReasonKey, Reason> reasons;  // exactly one for each (team, shape) that still waits
  std::int64_t steps = 0;             // used of the budget
  bool step_budget_hit = false;
  friend bool operator==(const Plan&, const Plan&) = default;
};

// Pure: the same state and policy give the same plan, byte for byte, on any machine. The starts fit
// together: applied in order they keep every limit and every device within 1000 milli. Planning
// again on the applied plan gives no starts, unless step_budget_hit. `now` is the round's time.
Plan plan(const State& state, const SchedulePolicy& policy, Instant now);

}  // namespace heddle
