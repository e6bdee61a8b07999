#include "core/meter/receipt.h"

#include <doctest/doctest.h>

#include <limits>
#include <memory>

#include "base/rng.h"
#include "core/model/draft.h"

namespace heddle {
namespace {

constexpr PoolId kPool{1};
constexpr WorkloadId kJob{7};

Workload a_job() {
  WorkloadSpec spec;
  spec.name = "train";
  spec.command = {"true"};
  spec.shape.request = {1, 1000, 0, 0, 0};
  spec.shape.pools = {kPool};
  Workload job;
  job.id = kJob;
  job.team = TeamId{1};
  job.spec = std::make_shared<const WorkloadSpec>(spec);
  job.submitted_at = job.waiting_since = Instant{1000};
  return job;
}

Allocation an_allocation(std::int64_t milli) {
  Allocation a;
  a.id = AllocationId{1};
  a.workload = kJob;
  a.team = TeamId{1};
  a.pool = kPool;
  a.node = NodeId{1};
  a.devices = {{DeviceId{1}, GpuAmount::milli(milli)}};
  a.recorded_at = Instant{5000};
  return a;
}

Draft a_pool(std::int64_t price_micros) {
  Draft draft{State{}};
  Pool pool;
  pool.id = kPool;
  pool.name = "h100";
  pool.price_per_gpu_hour = {price_micros};
  draft.put(pool);
  return draft;
}

bool adds_up(const Receipt& r) {
  return r.charged_gpu_milli_ms >= 0 && r.not_charged_gpu_milli_ms >= 0 &&
         r.charged_gpu_milli_ms + r.not_charged_gpu_milli_ms == r.lease_gpu_milli_ms &&
         r.cost == cost_of(r.charged_gpu_milli_ms, r.price_per_gpu_hour);
}

TEST_CASE("a job's whole life: waited, starting, ran, releasing, and what it cost") {
  Draft draft = a_pool(3'600'000);
  Workload job = a_job();
  leave_state(job.usage, job, Instant{5000});
  job.state = WorkloadState::kStarting;
  job.starting_since = Instant{5000};
  job.pool = kPool;
  leave_state(job.usage, job, Instant{5200});
  job.state = WorkloadState::kRunning;
  job.running_since = Instant{5200};
  draft.put(job);
  Allocation a = an_allocation(1000);
  a.state = AllocationState::kRunning;
  a.running_at = Instant{5200};
  draft.put(a);

  const Receipt open = receipt_of(draft.state(), job, Instant{6200});
  CHECK(open.waited_ms == 4000);
  CHECK(open.starting_ms == 200);
  CHECK(open.ran_ms == 1000);
  CHECK(open.charged_gpu_milli_ms == 1'000'000);
  CHECK(open.not_charged_gpu_milli_ms == 200'000);
  CHECK(open.cost.micros == 1000);  // one GPU-second at 3.60 an hour
  CHECK_FALSE(open.final);

  leave_state(job.usage, job, Instant{7200});
  job.state = WorkloadState::kStopping;
  job.stopping_since = Instant{7200};
  a.state = AllocationState::kReleased;
  a.ended_at = Instant{7200};
  a.released_at = Instant{7300};
  a.cpu_ms = 1500;
  a.peak_memory_bytes = 4096;
  leave_state(job.usage, job, Instant{7300});
  settle(job.usage, a);
  job.state = WorkloadState::kSucceeded;
  job.ended_at = Instant{7300};
  draft.put(a);
  draft.put(job);
  const Receipt last = receipt_of(draft.state(), job, Instant{999'999});
  CHECK(last.ran_ms == 2000);
  CHECK(last.releasing_ms == 100);
  CHECK(last.charged_gpu_milli_ms == 2'000'000);
  CHECK(last.lease_gpu_milli_ms == 2'300'000);
  CHECK(last.cpu_ms == 1500);
  CHECK(last.peak_memory_bytes == 4096);
  CHECK(last.final);
  CHECK(adds_up(last));
}

// opencost#3828: a quarter GPU was billed as a whole one.
TEST_CASE("a quarter of a device costs a quarter") {
  UsageTotals quarter, whole;
  for (auto [totals, milli] : {std::pair{&quarter, 250}, std::pair{&whole, 1000}}) {
    Allocation a = an_allocation(milli);
    a.running_at = Instant{6000};
    a.ended_at = Instant{9000};
    a.released_at = Instant{9500};
    settle(*totals, a);
  }
  CHECK(quarter.charged_gpu_milli_ms * 4 == whole.charged_gpu_milli_ms);
  CHECK(quarter.lease_gpu_milli_ms * 4 == whole.lease_gpu_milli_ms);
}

// dstack#1551: an instance that had ended was billed on.
TEST_CASE("nothing is charged between the end of the program and its release") {
  Draft draft = a_pool(1'000'000);
  Workload job = a_job();
  job.state = WorkloadState::kStopping;
  draft.put(job);
  Allocation a = an_allocation(1000);
  a.state = AllocationState::kReleasing;
  a.running_at = Instant{6000};
  a.ended_at = Instant{7000};
  draft.put(a);
  const Receipt soon = receipt_of(draft.state(), job, Instant{8000});
  const Receipt late = receipt_of(draft.state(), job, Instant{9000});
  CHECK(soon.charged_gpu_milli_ms == 1'000'000);
  CHECK(late.charged_gpu_milli_ms == soon.charged_gpu_milli_ms);
  CHECK(late.not_charged_gpu_milli_ms == soon.not_charged_gpu_milli_ms + 1'000'000);
}

TEST_CASE("what has not started costs nothing and shows the price it would have") {
  Draft draft = a_pool(2'000'000);
  const Receipt receipt = receipt_of(draft.state(), a_job(), Instant{4000});
  CHECK(receipt.waited_ms == 3000);
  CHECK(receipt.lease_gpu_milli_ms == 0);
  CHECK(receipt.price_per_gpu_hour.micros == 2'000'000);
  CHECK(receipt.cost.micros == 0);
}

TEST_CASE("property: lines add up whatever order the engine's time stamps are in") {
  for (std::uint64_t seed = 1; seed <= 1000; ++seed) {
    CAPTURE(seed);
    Rng rng{seed};
    Draft draft = a_pool(rng.between(0, 1'000'000'000'000));
    const auto stamp = [&] { return Instant{rng.one_in(4) ? 0 : rng.between(1, 20'000)}; };
    Workload job = a_job();
    for (std::int64_t n = 1; n <= rng.between(0, 5); ++n) {
      Allocation a = an_allocation(rng.one_in(3) ? 1000 : rng.between(1, 999));
      a.id = AllocationId{static_cast<std::uint64_t>(n)};
      a.recorded_at = Instant{rng.between(1, 20'000)};
      a.running_at = stamp();
      a.ended_at = stamp();
      a.released_at = Instant{rng.between(1, 20'000)};
      if (rng.one_in(2))
        settle(job.usage, a);
      else
        draft.put(a);
    }
    const Receipt receipt = receipt_of(draft.state(), job, Instant{rng.between(1, 20'000)});
    CHECK(adds_up(receipt));
    CHECK(receipt.lease_gpu_milli_ms <= 5LL * 1000 * 20'000);
    CHECK(receipt.waited_ms >= 0);
  }
}

TEST_CASE("use beyond what 64 bits hold stays at the greatest value") {
  UsageTotals totals;
  Allocation a = an_allocation(1000);
  a.recorded_at = a.running_at = Instant{1};
  a.released_at = Instant{std::numeric_limits<std::int64_t>::max() / 2};
  settle(totals, a);
  settle(totals, a);
  CHECK(totals.lease_gpu_milli_ms == std::numeric_limits<std::int64_t>::max());
  CHECK(totals.charged_gpu_milli_ms == totals.lease_gpu_milli_ms);
  CHECK(cost_of(totals.charged_gpu_milli_ms, {1'000'000'000'000}).micros ==
        std::numeric_limits<std::int64_t>::max());
}

}  // namespace
}  // namespace heddle
