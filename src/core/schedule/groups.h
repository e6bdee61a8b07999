// Groups: what waits, one group for each (team, shape), best workload first.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/model/state.h"
#include "core/schedule/ledger.h"
#include "core/schedule/plan.h"

namespace heddle {

// All of a group are alike to the planner: when its head does not fit, none does, and the whole
// group is left at once. So a round costs by groups, never by waiting workloads.
struct Group {
  ReasonKey key;
  const Shape* shape = nullptr;  // in the State
  std::size_t team = 0;          // in the Ledger
  CowMap<WaitingKey, char>::const_iterator head;
  bool looked_at = false;    // its head did not fit, or cannot start now for a reason of its own
  bool passed_over = false;  // a head that cannot start now was left where it is
};

// Ascending by key. The groups point into `state`.
std::vector<Group> groups_of(const State& state, const Ledger& ledger);

// Pools that any waiting shape accepts, ascending.
std::vector<PoolId> pools_asked_for(const State& state);

// The group's head, or null when nothing of it is left.
const WaitingKey* head_of(const State& state, const Group& group);

// May not start yet: a run of it before is not surely gone (nothing runs twice), or it is about to
// be cancelled.
bool must_stay(const State& state, WorkloadId workload);

}  // namespace heddle
