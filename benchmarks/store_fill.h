// Fills a data folder with work, as if it had been in use for long.
#pragma once

#include <cstdint>
#include <string>

#include "control/ports/store.h"
#include "core/model/state.h"

namespace heddle::bench {

struct FillOptions {
  std::int64_t ended = 1'000'000;
  std::int64_t live = 100'000;  // all of them waiting
};

// A job as `heddle run` makes it. Ended ones share seven names.
Workload a_job(WorkloadId id, TeamId team, PoolId pool, WorkloadState state);

// Adds to what is there; the first pool and all teams that it finds are used, and 50 teams and a
// pool are made where there are none. The store has not been opened. Progress on stderr. Ends the
// process with a message when the store fails. Gives the state afterwards.
State fill(Store& store, const FillOptions& options);

}  // namespace heddle::bench
