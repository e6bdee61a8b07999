// What must hold of every plan, over random worlds. A failing seed is printed.
#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>

#include "core/check/auditor.h"
#include "core/scenario/scenario.h"
#include "core/schedule/amounts.h"
#include "core/schedule/plan.h"
#include "core/schedule/world.h"

namespace heddle {
namespace {

constexpr Instant kNow{1000};

std::string joined(const std::vector<std::string>& lines) {
  std::string all;
  for (const std::string& line : lines) all += line + '\n';
  return all;
}

SchedulePolicy a_policy(Rng& rng) {
  SchedulePolicy policy;
  policy.share_devices_across_teams = rng.one_in(4);
  return policy;
}

// Ends some of what runs, so that a world is neither empty nor full.
void end_some(Draft& draft, Rng& rng) {
  const State before = draft.state();
  for (const auto& [id, workload] : before.workloads()) {
    if (workload.state == WorkloadState::kWaiting || !rng.one_in(3)) continue;
    for (const auto& [allocation_id, allocation] : before.allocations()) {
      if (allocation.workload != id) continue;
      Allocation released = allocation;
      released.state = AllocationState::kReleased;
      released.ended_at = released.released_at = kNow;
      draft.put(released);
    }
    Workload ended = workload;
    ended.state = WorkloadState::kSucceeded;
    draft.put(ended);
  }
}

// A world in the middle of its life: planned once, a part of it has ended, more has come.
Draft a_busy_world(Rng& rng, const SchedulePolicy& policy, std::uint64_t& last_id) {
  const World world = a_world(rng, {});
  Draft draft{State{}};
  World early = world;
  early.workloads.resize(world.workloads.size() / 2);
  draft = shuffled(early, rng);
  apply_plan(draft, plan(draft.state(), policy, kNow), kNow, last_id);
  end_some(draft, rng);
  for (std::size_t i = early.workloads.size(); i < world.workloads.size(); ++i)
    draft.put(world.workloads[i]);
  return draft;
}

std::set<ReasonKey> waiting_groups(const State& state) {
  std::set<ReasonKey> groups;
  for (const auto& [key, none] : state.waiting()) groups.insert({key.team, key.shape});
  return groups;
}

TEST_CASE("property: starts fit together, gangs are whole, limits and devices are kept") {
  for (std::uint64_t seed = 1; seed <= 1000; ++seed) {
    CAPTURE(seed);
    Rng rng{seed};
    const SchedulePolicy policy = a_policy(rng);
    std::uint64_t last_id = 1'000'000;
    Draft draft = a_busy_world(rng, policy, last_id);
    const State before = draft.state();
    apply_plan(draft, plan(before, policy, kNow), kNow, last_id);
    CHECK(joined(audit(draft.state())) == "");
    CHECK(joined(audit_starts(before, draft.state())) == "");
    if (policy.share_devices_across_teams) continue;
    for (const auto& [device, use] : draft.state().device_use()) CHECK(use.team.is_set());
  }
}

TEST_CASE("property: a group has a reason exactly if something of it still waits") {
  for (std::uint64_t seed = 1; seed <= 1000; ++seed) {
    CAPTURE(seed);
    Rng rng{seed};
    SchedulePolicy policy = a_policy(rng);
    if (rng.one_in(4)) policy.step_budget = rng.between(0, 20);
    std::uint64_t last_id = 1'000'000;
    Draft draft = a_busy_world(rng, policy, last_id);
    const Plan made = plan(draft.state(), policy, kNow);
    apply_plan(draft, made, kNow, last_id);
    std::set<ReasonKey> reasons;
    for (const auto& [key, reason] : made.reasons) reasons.insert(key);
    CHECK(reasons == waiting_groups(draft.state()));
    CHECK(made.steps <= policy.step_budget);
  }
}

TEST_CASE("property: the numbers of a reason bear it out") {
  for (std::uint64_t seed = 1; seed <= 1000; ++seed) {
    CAPTURE(seed);
    Rng rng{seed};
    const SchedulePolicy policy = a_policy(rng);
    std::uint64_t last_id = 1'000'000;
    Draft draft = a_busy_world(rng, policy, last_id);
    for (const auto& [key, r] : plan(draft.state(), policy, kNow).reasons) {
      CAPTURE(name_of(r.code));
      CHECK(r.free <= r.usable);
      switch (r.code) {
        case ReasonCode::kTeamLimit:
          CHECK(r.held_by_team + r.asked > r.limit);
          break;
        case ReasonCode::kNoFreeDevices:
          CHECK(r.asked > r.free);
          break;
        case ReasonCode::kFragmented:
        case ReasonCode::kDeviceNotShareable:
          CHECK(r.asked <= r.free);
          CHECK(r.held_by_team + r.asked <= r.limit);
          CHECK_FALSE(
              (policy.share_devices_across_teams && r.code == ReasonCode::kDeviceNotShareable));
          break;
        case ReasonCode::kNoSuchPool:
        case ReasonCode::kNeverFits:
        case ReasonCode::kNoFreeCpuOrMemory:
          break;
        case ReasonCode::kNone:
        case ReasonCode::kNotPlannedYet:
        case ReasonCode::kBehindOthers:
        case ReasonCode::kStepBudget:
          FAIL("not a reason for this world");
      }
    }
  }
}

TEST_CASE("property: the order in which facts arrive does not change the plan") {
  for (std::uint64_t seed = 1; seed <= 500; ++seed) {
    CAPTURE(seed);
    Rng rng{seed};
    const World world = a_world(rng, {});
    const SchedulePolicy policy = a_policy(rng);
    const Draft one = shuffled(world, rng), other = shuffled(world, rng);
    const Plan a = plan(one.state(), policy, kNow), b = plan(other.state(), policy, kNow);
    CHECK(a.starts == b.starts);
    // Shape numbers are names only, so reasons are compared by the shape itself.
    const auto named = [](const State& state, const Plan& p) {
      std::map<std::pair<TeamId, Shape>, Reason> reasons;
      for (const auto& [key, reason] : p.reasons)
        reasons[{key.team, *state.shapes().find(key.shape)}] = reason;
      return reasons;
    };
    CHECK((named(one.state(), a) == named(other.state(), b)));
  }
}

TEST_CASE("property: planning again on the applied plan starts nothing and says the same") {
  for (std::uint64_t seed = 1; seed <= 1000; ++seed) {
    CAPTURE(seed);
    Rng rng{seed};
    const SchedulePolicy policy = a_policy(rng);
    std::uint64_t last_id = 1'000'000;
    Draft draft = a_busy_world(rng, policy, last_id);
    const Plan first = plan(draft.state(), policy, kNow);
    apply_plan(draft, first, kNow, last_id);
    const Plan second = plan(draft.state(), policy, kNow);
    CHECK(second.starts.empty());
    CHECK((second.reasons == first.reasons));
  }
}

TEST_CASE("property: with a step budget, rounds go on where the last one ended") {
  for (std::uint64_t seed = 1; seed <= 500; ++seed) {
    CAPTURE(seed);
    Rng rng{seed};
    SchedulePolicy policy = a_policy(rng);
    std::uint64_t last_id = 1'000'000;
    Draft draft = a_busy_world(rng, policy, last_id);
    policy.step_budget = rng.between(0, 30);
    const State before = draft.state();
    const Plan made = plan(before, policy, kNow);
    CHECK(made.steps <= policy.step_budget);
    apply_plan(draft, made, kNow, last_id);
    CHECK(joined(audit(draft.state())) == "");
    CHECK(joined(audit_starts(before, draft.state())) == "");
    policy.step_budget = 1'000'000;
    CHECK_FALSE(plan(draft.state(), policy, kNow).step_budget_hit);
  }
}

TEST_CASE("property: scaling all weights changes nothing") {
  for (std::uint64_t seed = 1; seed <= 500; ++seed) {
    CAPTURE(seed);
    Rng rng{seed};
    World world = a_world(rng, {});
    for (const Team& team : world.teams)  // an unset weight counts as 1, so every one is set
      for (const Pool& pool : world.pools) {
        const ShareKey key{team.id, pool.id};
        if (std::ranges::find(world.shares, key, &Share::key) != world.shares.end()) continue;
        Share share;
        share.key = key;
        world.shares.push_back(share);
      }
    const SchedulePolicy policy = a_policy(rng);
    Rng order{seed};
    const Plan plain = plan(shuffled(world, order).state(), policy, kNow);
    const std::int64_t factor = rng.between(2, 200'000);
    for (Share& share : world.shares) share.weight *= factor;
    order = Rng{seed};
    CHECK((plan(shuffled(world, order).state(), policy, kNow) == plain));
  }
}

TEST_CASE("the random worlds reach every reason and every form of request") {
  std::map<ReasonCode, int> reasons;
  int gangs = 0, parts = 0, by_memory = 0, without_gpu = 0;
  for (std::uint64_t seed = 1; seed <= 1000; ++seed) {
    Rng rng{seed};
    const SchedulePolicy policy = a_policy(rng);
    std::uint64_t last_id = 1'000'000;
    const Draft draft = a_busy_world(rng, policy, last_id);
    const Plan made = plan(draft.state(), policy, kNow);
    for (const auto& [key, reason] : made.reasons) ++reasons[reason.code];
    for (const StartAction& start : made.starts) {
      const Shape& shape = draft.state().workloads().find(start.workload)->spec->shape;
      gangs += shape.replicas > 1 ? 1 : 0;
      without_gpu += shape.request.devices == 0 ? 1 : 0;
      by_memory += shape.request.by_memory() ? 1 : 0;
      parts += shape.request.devices > 0 && !shape.request.whole() ? 1 : 0;
    }
  }
  for (const ReasonCode code :
       {ReasonCode::kNoSuchPool, ReasonCode::kNeverFits, ReasonCode::kTeamLimit,
        ReasonCode::kNoFreeDevices, ReasonCode::kFragmented, ReasonCode::kNoFreeCpuOrMemory,
        ReasonCode::kDeviceNotShareable}) {
    CAPTURE(name_of(code));
    CHECK(reasons[code] >= 10);
  }
  for (const int count : {gangs, parts, by_memory, without_gpu}) CHECK(count >= 100);
}

// Two pools of one kind would be one pool, but a node that holds work keeps its pool, so devices of
// one pool may differ for a time.
TEST_CASE("property: devices of different size in one pool are charged each by its own size") {
  for (std::uint64_t seed = 1; seed <= 500; ++seed) {
    CAPTURE(seed);
    Rng rng{seed};
    const World world = a_world(rng, {.odd_devices = true});
    Draft draft = shuffled(world, rng);
    const State before = draft.state();
    std::uint64_t last_id = 1'000'000;
    apply_plan(draft, plan(before, {}, kNow), kNow, last_id);
    CHECK(joined(audit(draft.state())) == "");
    CHECK(joined(audit_starts(before, draft.state())) == "");
    for (const auto& [id, allocation] : draft.state().allocations()) {
      const Request& request =
          draft.state().workloads().find(allocation.workload)->spec->shape.request;
      const Node& node = *draft.state().nodes().find(allocation.node);
      for (const DeviceLease& lease : allocation.devices) {
        const auto device = std::ranges::find(node.devices, lease.device, &Device::id);
        CHECK(device->health == DeviceHealth::kHealthy);
        CHECK(lease.amount.as_milli() == milli_on_device(request, device->memory_bytes));
      }
    }
  }
}

}  // namespace
}  // namespace heddle
