#include "core/schedule/groups.h"

#include <algorithm>
#include <limits>

#include "base/check.h"

namespace heddle {

std::vector<Group> groups_of(const State& state, const Ledger& ledger) {
  std::vector<Group> groups;
  const auto& waiting = state.waiting();
  for (auto at = waiting.begin(); at != waiting.end();) {
    Group group;
    group.key = {at->key.team, at->key.shape};
    group.shape = state.shapes().find(at->key.shape);
    HEDDLE_CHECK(group.shape != nullptr);
    group.team = ledger.team_index(at->key.team);
    group.head = at;
    groups.push_back(group);
    WaitingKey next;  // the smallest key behind the group
    next.team = at->key.team;
    next.shape = at->key.shape + 1;
    next.minus_priority = std::numeric_limits<std::int64_t>::min();
    next.submitted_at = Instant{std::numeric_limits<std::int64_t>::min()};
    at = waiting.lower_bound(next);
  }
  return groups;
}

std::vector<PoolId> pools_asked_for(const State& state) {
  std::vector<PoolId> pools;
  for (const auto& [number, shape] : state.shapes())
    pools.insert(pools.end(), shape.pools.begin(), shape.pools.end());
  std::ranges::sort(pools);
  const auto doubled = std::ranges::unique(pools);
  pools.erase(doubled.begin(), doubled.end());
  return pools;
}

const WaitingKey* head_of(const State& state, const Group& group) {
  if (group.head == state.waiting().end()) return nullptr;
  const WaitingKey& key = group.head->key;
  return key.team == group.key.team && key.shape == group.key.shape ? &key : nullptr;
}

bool must_stay(const State& state, WorkloadId id) {
  const Workload* workload = state.workloads().find(id);
  HEDDLE_CHECK(workload != nullptr);
  if (workload->cancel_requested) return true;
  const auto& mine = state.workload_allocations();
  const auto at = mine.lower_bound({id, AllocationId{}});
  return at != mine.end() && at->key.first == id;
}

}  // namespace heddle
