// Admission: which pools could ever run a request, and why none could.
#pragma once

#include <vector>

#include "base/result.h"
#include "core/model/state.h"

namespace heddle {

// The pools, in the asker's order (all pools in id order when he named none), that could run
// `shape` for `team` if they were empty: large enough, and within the limits of the team and of
// every level above it. Errors: invalid_argument (/pools: unknown), over_limit (too large for all
// of them).
Result<std::vector<PoolId>> admissible_pools(const State& state, TeamId team, const Shape& shape);

}  // namespace heddle
