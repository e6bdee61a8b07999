#include "core/meter/receipt.h"

#include <algorithm>
#include <limits>

namespace heddle {
namespace {

__extension__ using Wide = __int128;

// Sums stay at the greatest value instead of wrapping: endless services have no stated maximum.
void add(std::int64_t& sum, Wide more) {
  constexpr Wide kMax = std::numeric_limits<std::int64_t>::max();
  sum = static_cast<std::int64_t>(std::min(kMax, Wide{sum} + more));
}

std::int64_t span_ms(Instant from, Instant to) { return std::max<std::int64_t>(0, (to - from).ms); }

// Adds what `allocation` used until `until`. Time stamps come from engines and may be askew: they
// are brought into the order recorded <= running <= ended <= released, so that what is charged is
// always a part of the lease.
void add_use(UsageTotals& totals, const Allocation& allocation, Instant until) {
  const Wide milli = allocation.amount().as_milli();
  const Instant recorded = allocation.recorded_at;
  const Instant gone = std::max(recorded, until);
  add(totals.lease_gpu_milli_ms, milli * (gone - recorded).ms);
  if (allocation.running_at.is_set()) {
    const Instant running = std::clamp(allocation.running_at, recorded, gone);
    const Instant ended =
        allocation.ended_at.is_set() ? std::clamp(allocation.ended_at, running, gone) : gone;
    add(totals.charged_gpu_milli_ms, milli * (ended - running).ms);
  }
  add(totals.cpu_ms, allocation.cpu_ms);
  totals.peak_memory_bytes = std::max(totals.peak_memory_bytes, allocation.peak_memory_bytes);
}

Money price_of(const State& state, const Workload& workload) {
  const auto& accepted = workload.spec->shape.pools;
  const PoolId id = workload.pool.is_set() || accepted.empty() ? workload.pool : accepted.front();
  const Pool* pool = state.pools().find(id);
  return pool != nullptr ? pool->price_per_gpu_hour : Money{};
}

}  // namespace

void settle(UsageTotals& totals, const Allocation& released) {
  add_use(totals, released, released.released_at);
}

void leave_state(UsageTotals& totals, const Workload& workload, Instant at) {
  switch (workload.state) {
    case WorkloadState::kWaiting:
      return add(totals.waited_ms, span_ms(workload.waiting_since, at));
    case WorkloadState::kStarting:
      return add(totals.starting_ms, span_ms(workload.starting_since, at));
    case WorkloadState::kRunning:
      return add(totals.ran_ms, span_ms(workload.running_since, at));
    case WorkloadState::kStopping:
      return add(totals.releasing_ms, span_ms(workload.stopping_since, at));
    case WorkloadState::kSucceeded:
    case WorkloadState::kFailed:
    case WorkloadState::kCancelled:
      return;
  }
}

Receipt receipt_of(const State& state, const Workload& workload, Instant now) {
  UsageTotals totals = workload.usage;
  leave_state(totals, workload, now);
  bool live = !has_ended(workload.state);
  const auto& mine = state.workload_allocations();
  for (auto at = mine.lower_bound({workload.id, AllocationId{}});
       at != mine.end() && at->key.first == workload.id; ++at) {
    live = true;
    add_use(totals, *state.allocations().find(at->key.second), now);
  }

  Receipt receipt;
  receipt.waited_ms = totals.waited_ms;
  receipt.starting_ms = totals.starting_ms;
  receipt.ran_ms = totals.ran_ms;
  receipt.releasing_ms = totals.releasing_ms;
  receipt.charged_gpu_milli_ms = totals.charged_gpu_milli_ms;
  receipt.lease_gpu_milli_ms = totals.lease_gpu_milli_ms;
  receipt.not_charged_gpu_milli_ms = totals.lease_gpu_milli_ms - totals.charged_gpu_milli_ms;
  receipt.cpu_ms = totals.cpu_ms;
  receipt.peak_memory_bytes = totals.peak_memory_bytes;
  receipt.price_per_gpu_hour = price_of(state, workload);
  receipt.cost = cost_of(receipt.charged_gpu_milli_ms, receipt.price_per_gpu_hour);
  receipt.final = !live;
  return receipt;
}

}  // namespace heddle
