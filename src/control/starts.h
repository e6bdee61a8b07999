// Starts: a plan becomes allocations, and allocations become orders for engines.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "control/books.h"
#include "control/ports/engine.h"
#include "control/ports/store.h"
#include "core/schedule/plan.h"

namespace heddle {

// Records the leases of every start in the plan; their workloads are starting from now on.
void apply_plan(Books& books, const Plan& plan);

// What the engine must be told to run the workload's allocations that are planned or sent; all
// replicas of a gang together. The content of files is read from the store.
Result<std::vector<StartOrder>> start_orders(const State& state, Store& store, WorkloadId workload);

}  // namespace heddle
