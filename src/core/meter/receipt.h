// Receipt: what a workload used and cost, from its totals and its live allocations.
#pragma once

#include <cstdint>

#include "base/money.h"
#include "base/time.h"
#include "core/model/state.h"

namespace heddle {

// All times in ms, all use in GPU-milli x ms. Lines add up: charged + not_charged == lease, and
// cost is cost_of(charged) at the price of the pool where it ran last (before the first start: of
// the first pool that it accepts), rounded once.
struct Receipt {
  std::int64_t waited_ms = 0;
  std::int64_t starting_ms = 0;
  std::int64_t ran_ms = 0;
  std::int64_t releasing_ms = 0;
  std::int64_t charged_gpu_milli_ms = 0;
  std::int64_t not_charged_gpu_milli_ms = 0;  // starting and releasing
  std::int64_t lease_gpu_milli_ms = 0;
  std::int64_t cpu_ms = 0;
  std::int64_t peak_memory_bytes = 0;
  Money price_per_gpu_hour;
  Money cost;
  bool final = false;  // false while anything of it is live
};

// Of a live or an ended workload. `state` supplies live allocations and the pool's price.
Receipt receipt_of(const State& state, const Workload& workload, Instant now);

// Adds what an allocation that was just released used (GPU, CPU, memory) to its workload's totals.
// Time stamps that are out of order are clamped, so charged use is always a part of the lease. An
// allocation that ran and has no ended_at is charged until released_at.
void settle(UsageTotals& totals, const Allocation& released);

// Adds the time that `workload` has been in its present state (waited, starting, ran, releasing) to
// `totals`. Call it just before the state changes at `at`, for every change and for a new attempt;
// receipt_of adds the present state's part itself.
void leave_state(UsageTotals& totals, const Workload& workload, Instant at);

}  // namespace heddle
