// Reasons: why a group still waits, judged on what is free after the round's starts.
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "core/schedule/fit.h"
#include "core/schedule/groups.h"
#include "core/schedule/ledger.h"
#include "core/schedule/room.h"

namespace heddle {

// Answers for many groups of one round; what is alike for several teams is worked out once. Room
// and Ledger do not change meanwhile.
//
// In each accepted pool the checks run in the order of ReasonCode, from hopeless to nearly fitting;
// the first that fails is the pool's reason. The dominant reason is that of the pool where the
// group came furthest; ties go to the pool named first. At a limit of a level above, held_by_team
// and limit are that level's.
//
// kBehindOthers is not given yet: nothing is kept back for work ahead until there are holds.
class Reasons {
 public:
  Reasons(const Ledger& ledger, const Room& room) : ledger_{ledger}, room_{room} {}

  Reason of(const Group& group);
  // The same numbers under a code that the planner knows better.
  Reason with_code(const Group& group, ReasonCode code);

 private:
  Reason in_pool(const Group& group, PoolId id);
  ReasonCode code_in(const Group& group, std::size_t pool, const Reason& numbers);
  bool could_ever_fit(const Shape& shape, std::size_t pool);
  bool devices_would_do(const Group& group, std::size_t pool);
  bool would_fit_if_shared(const Shape& shape, std::size_t pool);
  std::int64_t most_free_on_one_node(const Request& request, std::size_t pool);

  const Ledger& ledger_;
  const Room& room_;
  std::map<std::pair<std::size_t, Request>, std::int64_t> capacity_;   // of empty nodes
  std::map<std::pair<std::size_t, Request>, std::int64_t> if_shared_;  // replicas that would go
  std::map<std::pair<std::size_t, std::int64_t>, std::int64_t> most_free_;  // by parts wanted
};

}  // namespace heddle
