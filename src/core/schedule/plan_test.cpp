#include "core/schedule/plan.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "base/rng.h"
#include "core/scenario/scenario.h"
#include "core/schedule/amounts.h"
#include "core/schedule/index_set.h"
#include "core/schedule/order.h"

namespace heddle {
namespace {

constexpr Instant kNow{1000};

Scenario told(const std::vector<std::string>& lines) {
  Scenario scenario;
  for (const std::string& line : lines) {
    CAPTURE(line);
    REQUIRE(scenario.say(line).has_value());
  }
  return scenario;
}

Workload a_copy(const State& state, std::uint64_t id) {
  Workload copy = state.workloads().begin()->value;
  copy.id = WorkloadId{id};
  auto spec = *copy.spec;
  spec.name = "copy-" + std::to_string(id);
  copy.spec = std::make_shared<const WorkloadSpec>(std::move(spec));
  return copy;
}

TEST_CASE(
    "a round costs by groups: of 100,000 alike that wait only those that start are looked at") {
  Scenario scenario = told({"pool h100 2x8", "team vision", "job first vision gpus 1"});
  for (std::uint64_t n = 0; n < 100'000; ++n)
    scenario.draft().put(a_copy(scenario.state(), 1'000'000 + n));
  const Plan first = scenario.plan_now();
  CHECK(first.starts.size() == 16);
  CHECK(first.reasons.size() == 1);
  CHECK(first.steps < 100);
  scenario.apply(first);
  CHECK(scenario.plan_now().steps < 10);
}

TEST_CASE("a request that failed is not tried again for another team") {
  std::vector<std::string> lines{"pool h100 50x8 cpu 8"};
  for (int n = 0; n < 50; ++n) {
    lines.push_back("team t" + std::to_string(n));
    lines.push_back("job j" + std::to_string(n) + " t" + std::to_string(n) + " gpus 1 cpu 9");
  }
  const Plan made = told(lines).plan_now();
  CHECK(made.starts.empty());
  CHECK(made.reasons.size() == 50);
  CHECK(made.steps <= 50 + 50);  // one look at each group, one walk over the nodes
}

// volcano#3869: two gangs each held a part of what the other needed.
TEST_CASE("of two gangs that each need everything exactly one runs, whatever came when") {
  for (std::uint64_t seed = 1; seed <= 1000; ++seed) {
    CAPTURE(seed);
    Rng rng{seed};
    Scenario s = told({"pool h100 2x2", "team a", "team b"});
    const bool a_first = rng.one_in(2);
    const std::string gang = rng.one_in(2) ? " gpus 1 nodes 4" : " gpus 2 nodes 2";
    REQUIRE(s.say((a_first ? "job x a" : "job x b") + gang).has_value());
    if (rng.one_in(2)) s.apply(s.plan_now());
    REQUIRE(s.say((a_first ? "job y b" : "job y a") + gang).has_value());
    s.apply(s.plan_now());
    s.apply(s.plan_now());
    CHECK(s.state().waiting().size() == 1);
    CHECK(s.state().device_use().size() == 4);
  }
}

TEST_CASE("what may still run from before does not start again, nor what is being cancelled") {
  Scenario s = told({"pool h100 1x4", "team vision", "job again vision gpus 1"});
  s.apply(s.plan_now());
  Allocation lost = s.state().allocations().begin()->value;
  lost.state = AllocationState::kLost;
  s.draft().put(lost);
  Workload again = s.state().workloads().begin()->value;
  again.state = WorkloadState::kWaiting;
  s.draft().put(again);
  REQUIRE(s.say("job next vision gpus 1").has_value());
  const Plan made = s.plan_now();
  REQUIRE(made.starts.size() == 1);
  CHECK(made.starts[0].workload != again.id);
  REQUIRE(made.reasons.size() == 1);
  CHECK(made.reasons.begin()->value.code == ReasonCode::kNotPlannedYet);
  lost.state = AllocationState::kReleased;
  s.draft().put(lost);
  CHECK(s.plan_now().starts.size() == 2);
  again.cancel_requested = true;
  s.draft().put(again);
  CHECK(s.plan_now().starts.size() == 1);
}

// volcano#3127, #4261: guarantees above capacity stalled the whole scheduler.
TEST_CASE("guarantees above what there is stop nobody") {
  Scenario s = told({"pool h100 1x4", "team a guarantee 64", "team b guarantee 64 weight 1000000",
                     "job x a gpus 2", "job y b gpus 2", "job z a gpus 1"});
  const Plan made = s.plan_now();
  CHECK(made.starts.size() == 2);
  CHECK(made.reasons.begin()->value.code == ReasonCode::kNoFreeDevices);
}

TEST_CASE("a limit that was lowered below what is held stops new work and nothing else") {
  Scenario s = told({"pool h100 1x4", "pool cpu 1x0", "team a", "job x a gpus 3 pools h100"});
  s.apply(s.plan_now());
  for (const char* line :
       {"share a h100 limit 1", "job y a gpus 1 pools h100", "job z a cpu 1 pools cpu"})
    REQUIRE(s.say(line).has_value());
  const Plan made = s.plan_now();
  REQUIRE(made.starts.size() == 1);
  REQUIRE(made.reasons.size() == 1);
  const Reason reason = made.reasons.begin()->value;
  CHECK(reason.code == ReasonCode::kTeamLimit);
  CHECK(reason.held_by_team == GpuAmount::devices(3));
  CHECK(reason.limit == GpuAmount::devices(1));
}

TEST_CASE("an empty state, a pool without nodes and a pool of lost nodes are planned calmly") {
  CHECK(plan(State{}, {}, kNow) == Plan{});
  Scenario s = told({"pool h100 0x8", "team a", "job x a gpus 1"});
  CHECK(s.plan_now().reasons.begin()->value.code == ReasonCode::kNoSuchPool);
  s = told({"pool h100 1x8", "team a", "job x a gpus 1", "node h100-1 lost"});
  const Reason lost = s.plan_now().reasons.begin()->value;
  CHECK(lost.code == ReasonCode::kNoFreeDevices);
  CHECK(lost.usable.is_zero());
}

TEST_CASE("the order of turns is total and the same from every side") {
  const std::vector<Turn> turns{{false, 0, 0, 1, 1, 0},
                                {false, 0, 500, 1, 2, 0},
                                {false, 0, 1000, 2, 3, 0},
                                {false, 0, 1000, 1, 4, 0},
                                {true, 7, 9000, 1, 5, 0},
                                {true, 0, 0, 1'000'000, 6, 0},
                                {true, 0, 1'000'000'000, 1'000'000, 7, 0},
                                {true, 0, 1'000'000'000, 1, 8, 0},
                                {true, 0, 1'000'000'000, 1, 8, 1}};
  const ComesBefore before;
  for (std::size_t i = 0; i < turns.size(); ++i)
    for (std::size_t j = 0; j < turns.size(); ++j) {
      CAPTURE(i);
      CAPTURE(j);
      CHECK(before(turns[i], turns[j]) == (i < j));
    }
}

TEST_CASE("memory is charged in thousandths of the device it lands on, rounded up") {
  const Request gib20{1, 0, 20 * 1024, 0, 0};
  CHECK(milli_on_device(gib20, 80LL << 30) == 250);
  CHECK(milli_on_device(gib20, 40LL << 30) == 500);
  CHECK(milli_on_device(gib20, (40LL << 30) - 1) == 501);
  CHECK(milli_on_device(gib20, 10LL << 30) > 1000);
  CHECK(milli_on_device(gib20, 0) > 1000);
  CHECK(asked_of({{2, 0, 24 * 1024, 0, 0}, 3, {}}, 40LL << 30) == GpuAmount::milli(3600));
}

TEST_CASE("GPU-proportional parts of a node never add up to more than the node") {
  for (std::uint64_t seed = 1; seed <= 500; ++seed) {
    CAPTURE(seed);
    Rng rng{seed};
    const NodeSize node{rng.between(1, 16), rng.between(0, 1'000'000), rng.between(0, 1LL << 50)};
    const std::int64_t part = rng.between(1, 1000);
    const std::int64_t count = node.devices * (1000 / part);
    const Beside each = beside_gpus({1, part, 0, 0, 0}, node, part);
    CHECK(each.cpu_milli * count <= node.cpu_milli);
    CHECK(each.memory_bytes * count <= node.memory_bytes);
    const Beside all = beside_gpus({node.devices, 1000, 0, 0, 0}, node, node.devices * 1000);
    CHECK(all.cpu_milli == node.cpu_milli);
    CHECK(all.memory_bytes == node.memory_bytes);
  }
}

TEST_CASE("shapes that mix the forms of a request or pass a maximum are not well-formed") {
  const std::vector<PoolId> pools{PoolId{1}};
  CHECK(well_formed({{1, 1000, 0, 0, 0}, 1, pools}));
  CHECK(well_formed({{0, 0, 0, 0, 0}, 1, pools}));
  for (const Request& bad :
       {Request{1, 1000, 5, 0, 0}, Request{1, 0, 0, 0, 0}, Request{0, 500, 0, 0, 0},
        Request{1, 1001, 0, 0, 0}, Request{-1, 1000, 0, 0, 0}, Request{1LL << 62, 1000, 0, 0, 0},
        Request{1, 1000, 0, -1, 0}, Request{1, 1000, 0, 0, 1LL << 62}})
    CHECK_FALSE(well_formed({bad, 1, pools}));
  CHECK_FALSE(well_formed({{1, 1000, 0, 0, 0}, 0, pools}));
  CHECK_FALSE(well_formed({{1, 1000, 0, 0, 0}, 1LL << 62, pools}));
}

TEST_CASE("reason names are stable and different") {
  std::set<std::string_view> names;
  for (int n = 0; n < kReasonCodeCount; ++n) names.insert(name_of(static_cast<ReasonCode>(n)));
  CHECK(names.size() == kReasonCodeCount);
  CHECK(name_of(ReasonCode::kNoFreeDevices) == "no_free_devices");
}

TEST_CASE("property: an index set behaves like a sorted set") {
  for (std::uint64_t seed = 1; seed <= 500; ++seed) {
    CAPTURE(seed);
    Rng rng{seed};
    IndexSet bits;
    std::set<std::size_t> plain;
    for (int n = 0; n < 60; ++n) {
      const auto value = static_cast<std::size_t>(rng.one_in(2) ? rng.between(0, 3) * 64 - n % 2 + 1
                                                                : rng.between(0, 300));
      if (rng.one_in(3)) {
        bits.erase(value);
        plain.erase(value);
      } else {
        bits.insert(value);
        plain.insert(value);
      }
      const auto from = static_cast<std::size_t>(rng.between(0, 310));
      const auto at = plain.lower_bound(from);
      CHECK(bits.first_from(from) == (at == plain.end() ? IndexSet::kNone : *at));
      CHECK(bits.size() == plain.size());
    }
  }
}

}  // namespace
}  // namespace heddle
