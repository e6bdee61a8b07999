// Each invariant finds a fault that was planted; what the planner does finds none.
#include "core/check/auditor.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <functional>

#include "core/scenario/scenario.h"

namespace heddle {
namespace {

// Two gangs and a shared device, all started by the planner.
Scenario a_scenario() {
  Scenario scenario;
  for (const char* line :
       {"pool h100 2x4", "team lab limit 8", "team vision below lab", "team language",
        "job gang vision gpus 2 nodes 2", "job whole language gpus 1", "job a language gpu 0.25",
        "job b language gpu 0.25"})
    REQUIRE(scenario.say(line).has_value());
  scenario.apply(scenario.plan_now());
  REQUIRE(scenario.state().allocations().size() == 5);
  return scenario;
}

bool names(const std::vector<std::string>& found, std::string_view invariant) {
  return std::ranges::any_of(found,
                             [&](const std::string& line) { return line.starts_with(invariant); });
}

WorkloadId job(const Scenario& scenario, std::string_view name) {
  for (const auto& [id, workload] : scenario.state().workloads())
    if (workload.spec->name == name) return id;
  FAIL("no such job");
  return {};
}

// Changes the first allocation (or every one) of a job.
void change(Scenario& scenario, std::string_view name, const std::function<void(Allocation&)>& how,
            bool every = false) {
  const State state = scenario.state();
  for (const auto& [id, allocation] : state.allocations()) {
    if (allocation.workload != job(scenario, name)) continue;
    Allocation changed = allocation;
    how(changed);
    scenario.draft().put(changed);
    if (!every) return;
  }
}

void change(Scenario& scenario, std::string_view name, const std::function<void(Workload&)>& how) {
  Workload changed = *scenario.state().workloads().find(job(scenario, name));
  how(changed);
  scenario.draft().put(changed);
}

using A = Allocation;
using W = Workload;

TEST_CASE("what the planner started is clean") {
  CHECK(audit(a_scenario().state()).empty());
  CHECK(audit(State{}).empty());
}

TEST_CASE("I1: a device above 1000 milli is found") {
  Scenario s = a_scenario();
  change(s, "a", [](A& a) { a.devices[0].amount = GpuAmount::milli(800); });
  CHECK(names(audit(s.state()), "I1: device"));
}

TEST_CASE("I1: a device that is whole and shared at once is found") {
  Scenario s = a_scenario();
  DeviceId whole;
  change(s, "whole", [&](A& a) { whole = a.devices[0].device; });
  change(s, "a", [&](A& a) { a.devices[0].device = whole; });
  CHECK(names(audit(s.state()), "I1: device"));
}

TEST_CASE("I1: a lease of a device that the node does not have, twice, or of nothing, is found") {
  Scenario s = a_scenario();
  change(s, "whole", [](A& a) { a.devices[0].device = DeviceId{987}; });
  CHECK(names(audit(s.state()), "I1"));
  s = a_scenario();
  change(s, "gang", [](A& a) { a.devices[1] = a.devices[0]; });
  CHECK(names(audit(s.state()), "I1"));
  s = a_scenario();
  change(s, "a", [](A& a) { a.devices[0].amount = {}; });
  CHECK(names(audit(s.state()), "I1"));
}

TEST_CASE("I2: work that starts above a limit, at any level, is found; a lowered limit is not") {
  Scenario s = a_scenario();
  const State before = s.state();
  REQUIRE(s.say("share lab h100 limit 3").has_value());
  CHECK(audit(s.state()).empty());
  CHECK(audit_starts(before, s.state()).empty());
  REQUIRE(s.say("job more vision gpus 1").has_value());
  Plan forced;
  forced.starts.push_back(
      {job(s, "more"),
       s.state().pools().begin()->key,
       {{0,
         s.state().nodes().begin()->key,
         {{s.state().nodes().begin()->value.devices.back().id, GpuAmount::devices(1)}},
         0,
         0}}});
  s.apply(forced);
  CHECK(names(audit_starts(before, s.state()), "I2"));
}

TEST_CASE("I3: a gang of which a part is missing, doubled or elsewhere is found") {
  Scenario s = a_scenario();
  change(s, "gang", [](A& a) { a.state = AllocationState::kReleased; });
  CHECK(names(audit(s.state()), "I3"));
  CHECK(names(audit_starts(State{}, s.state()), "I3"));
  s = a_scenario();
  change(
      s, "gang", [](A& a) { a.replica = 1; }, true);
  CHECK(names(audit(s.state()), "I3"));
  s = a_scenario();
  change(s, "gang", [](A& a) { a.replica = 2; });
  CHECK(names(audit(s.state()), "I3"));
  s = a_scenario();
  change(s, "gang", [](A& a) { a.pool = PoolId{987}; });
  CHECK(names(audit(s.state()), "I3"));
}

TEST_CASE("I3: a replica that is gone counts, when the workload says so") {
  Scenario s = a_scenario();
  change(s, "gang", [](A& a) { a.state = AllocationState::kReleased; });
  change(s, "gang", [](W& w) { w.released = 1; });
  CHECK(audit(s.state()).empty());
}

TEST_CASE("I3: work that has begun and holds nothing is found") {
  Scenario s = a_scenario();
  change(s, "a", [](A& a) { a.state = AllocationState::kReleased; });
  CHECK(names(audit(s.state()), "I3"));
}

TEST_CASE("I7: a charge that differs from what was asked is found") {
  Scenario s = a_scenario();
  change(s, "a", [](A& a) { a.devices[0].amount = GpuAmount::milli(125); });
  CHECK(names(audit(s.state()), "I7"));
  s = a_scenario();
  change(s, "gang", [](A& a) { a.devices.pop_back(); });
  CHECK(names(audit(s.state()), "I7"));
  s = a_scenario();
  change(s, "gang", [](W& w) { w.usage = {.charged_gpu_milli_ms = 2, .lease_gpu_milli_ms = 1}; });
  CHECK(names(audit(s.state()), "I7"));
}

TEST_CASE("L1: an allocation without its workload, or of a run that is over, is found") {
  Scenario s = a_scenario();
  change(s, "a", [](W& w) { w.state = WorkloadState::kSucceeded; });
  CHECK(names(audit(s.state()), "L1"));
  s = a_scenario();
  change(s, "a", [](W& w) { w.state = WorkloadState::kWaiting; });
  CHECK(names(audit(s.state()), "L1"));
  s = a_scenario();
  change(s, "a", [](A& a) { a.attempt = 0; });
  CHECK(names(audit(s.state()), "L1"));
  s = a_scenario();
  change(s, "a", [](A& a) { a.attempt = 2; });
  CHECK(names(audit(s.state()), "L1"));
  s = a_scenario();
  change(s, "a", [](A& a) { a.team = TeamId{987}; });
  CHECK(names(audit(s.state()), "L1"));
}

TEST_CASE("L1: what waits may still have a releasing or lost allocation of its former run") {
  for (const auto state : {AllocationState::kReleasing, AllocationState::kLost}) {
    Scenario s = a_scenario();
    change(s, "a", [&](A& a) { a.state = state; });
    change(s, "a", [](W& w) { w.state = WorkloadState::kWaiting; });
    CHECK(audit(s.state()).empty());
  }
}

TEST_CASE("T1: time stamps that are missing or out of order are found") {
  const std::vector<std::function<void(A&)>> faults{
      [](A& a) { a.recorded_at = {}; },
      [](A& a) { a.running_at = a.recorded_at - Duration::millis(1); },
      [](A& a) { a.running_at = a.recorded_at; },  // though the engine was not told
      [](A& a) { a.state = AllocationState::kRunning; },
      [](A& a) { a.ended_at = a.recorded_at - Duration::millis(1); },
      [](A& a) { a.released_at = a.recorded_at; },
      [](A& a) {
        a.state = AllocationState::kRunning;
        a.running_at = a.ended_at = a.recorded_at;
      }};
  for (std::size_t n = 0; n < faults.size(); ++n) {
    CAPTURE(n);
    Scenario s = a_scenario();
    change(s, "a", faults[n]);
    CHECK(names(audit(s.state()), "T1"));
  }
  for (const auto state :
       {WorkloadState::kRunning, WorkloadState::kStopping, WorkloadState::kStarting}) {
    Scenario s = a_scenario();
    change(s, "a", [&](W& w) {
      w.state = state;
      w.starting_since = {};
    });
    CHECK(names(audit(s.state()), "T1"));
  }
}

TEST_CASE("R1: rows that refer to nothing, and a tree with a ring, are found") {
  Scenario s = a_scenario();
  Team lab = *s.state().teams().find(*s.state().team_names().find("lab"));
  lab.parent = *s.state().team_names().find("vision");
  s.draft().put(lab);
  CHECK(names(audit(s.state()), "R1"));
  lab.parent = TeamId{987};
  s.draft().put(lab);
  CHECK(names(audit(s.state()), "R1"));
  s = a_scenario();
  s.draft().put(Member{{TeamId{987}, UserId{987}}, Role::kViewer, {}});
  CHECK(names(audit(s.state()), "R1"));
  s = a_scenario();
  Share share;
  share.key = {s.state().teams().begin()->key, s.state().pools().begin()->key};
  share.weight = 0;
  s.draft().put(share);
  CHECK(names(audit(s.state()), "R1"));
  s = a_scenario();
  change(s, "a", [](A& a) { a.node = NodeId{987}; });
  CHECK(names(audit(s.state()), "R1"));
}

TEST_CASE("R1 and X1: two teams of one name are found, and the index that one of them spoilt") {
  Scenario s = a_scenario();
  Team twin;
  twin.id = TeamId{987};
  twin.name = "vision";
  s.draft().put(twin);
  CHECK(names(audit(s.state()), "R1"));
  Team vision = *s.state().teams().find(s.state().teams().begin()->key);
  for (const auto& [id, team] : s.state().teams())
    if (team.name == "vision" && id != twin.id) vision = team;
  vision.name = "sight";
  s.draft().put(vision);
  CHECK(names(audit(s.state()), "X1"));
}

TEST_CASE("N1: work that starts on a node that takes none, or has no CPU left, is found") {
  Scenario s = a_scenario();
  Node node = s.state().nodes().begin()->value;
  node.cpu_milli = 1;
  s.draft().put(node);
  CHECK(names(audit_starts(State{}, s.state()), "N1"));
  s = a_scenario();
  REQUIRE(s.say("node h100-1 draining").has_value());
  CHECK(names(audit_starts(State{}, s.state()), "N1"));
  CHECK(audit(s.state()).empty());
}

}  // namespace
}  // namespace heddle
