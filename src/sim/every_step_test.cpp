// A small run, disturbed at every single point in turn.
#include <doctest/doctest.h>

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/check/auditor.h"
#include "core/meter/receipt.h"
#include "sim/one_box.h"

namespace heddle {
namespace {

// What people see of a workload in the end: state, cause and how often it ran. A workload that was
// cancelled may or may not have started before.
std::string fate_of(const Workload& w) {
  const bool cancelled = w.state == WorkloadState::kCancelled;
  return w.spec->name + " state " + std::to_string(static_cast<int>(w.state)) + " cause " +
         std::to_string(static_cast<int>(w.end.cause)) +
         (cancelled ? "" : " runs " + std::to_string(w.attempt)) + "\n";
}

struct SmallRun {
  OneBox box;
  std::vector<WorkloadId> work;
  std::vector<std::string> problems;
  bool refused = false;
  std::function<void()> on_refusal = [] {};

  // A client that repeats what was not answered or refused for now, with the same key.
  void submit(TeamId team, std::shared_ptr<WorkloadSpec> spec) {
    Command command;
    command.idempotency = IdempotencyKey{"POST /v1/workloads", spec->name, "body"};
    command.what = SubmitWorkload{team, std::move(spec), {}, false};
    for (int tries = 0; tries < 5; ++tries) {
      const auto answer = box.ask(box.admin(), command);
      if (answer) {
        work.push_back(WorkloadId{answer->subject});
        return;
      }
      on_refusal();
      box.pass(Duration::seconds(1));
    }
    refused = true;
  }

  void watch() {
    for (const std::string& problem : audit(box.state())) problems.push_back(problem);
    for (const std::string& crime : box.world().crimes()) problems.push_back(crime);
  }
};

// Two jobs, a gang that fails once, one that is cancelled, one that waits for room.
// `disturb` is called before each part with its number; gives how many parts there were.
template <class Disturb>
int play(SmallRun& run, TeamId team, Disturb disturb) {
  int part = 0;
  auto next = [&] {
    disturb(++part);
    run.watch();
  };
  next();
  run.submit(team, run.box.job("one", 2, 4'000));
  next();
  auto gang = run.box.job("gang", 4, 2'000, 1);
  gang->shape.replicas = 3;
  gang->retries = 1;
  run.submit(team, gang);
  next();
  run.submit(team, run.box.job("late", 8, 1'000));
  next();
  run.submit(team, run.box.job("unwanted", 1, -1));
  next();
  for (int tries = 0; tries < 5 && !run.work.empty(); ++tries) {
    const auto gone = run.box.ask(CancelWorkload{run.work.back(), {}});
    if (gone.has_value() || gone.error().code == ErrorCode::kNotFound) break;
    run.on_refusal();
    run.box.pass(Duration::seconds(1));
  }
  for (int n = 0; n < 14; ++n) {
    next();
    run.box.pass(Duration::millis(700));
  }
  run.box.faulty().set_plan({});
  for (int n = 0; n < 60 && !run.box.state().workloads().empty(); ++n)
    run.box.pass(Duration::seconds(20));
  run.watch();
  return part;
}

std::string fates(SmallRun& run) {
  std::string all;
  for (const WorkloadId id : run.work) {
    const Workload w = run.box.workload(id);
    all += fate_of(w);
    // Charged once, for exactly what was leased and ran.
    UsageTotals sum;
    const auto released = run.box.store().released_allocations(id);
    for (const Allocation& a : *released) settle(sum, a);
    if (sum.charged_gpu_milli_ms != w.usage.charged_gpu_milli_ms)
      run.problems.push_back(id.text() + " is not charged what it used");
  }
  return all;
}

std::string undisturbed(int& parts, std::int64_t& commits) {
  SmallRun run;
  const TeamId team = run.box.team("vision");
  const std::int64_t before = run.box.faulty().commits();
  parts = play(run, team, [](int) {});
  commits = run.box.faulty().commits() - before;
  CHECK(run.problems.empty());
  return fates(run);
}

}  // namespace

TEST_CASE("whichever commit fails, in whichever way, everything ends as it would have") {
  int parts = 0;
  std::int64_t commits = 0;
  const std::string expected = undisturbed(parts, commits);
  REQUIRE(expected.find("gang state 5 cause 1 runs 2") != std::string::npos);
  REQUIRE(commits > 10);
  for (const Fault fault : {Fault::kBefore, Fault::kAfter, Fault::kStorageFull}) {
    for (std::int64_t n = 1; n <= commits; ++n) {
      CAPTURE(static_cast<int>(fault));
      CAPTURE(n);
      SmallRun run;
      const TeamId team = run.box.team("vision");
      run.box.faulty().set_plan({run.box.faulty().commits() + n, fault, 1, false});
      play(run, team, [](int) {});
      CHECK_FALSE(run.refused);
      CHECK(fates(run) == expected);
      CHECK(run.problems == std::vector<std::string>{});
    }
  }
}

TEST_CASE("wherever the server is killed, everything ends as it would have") {
  int parts = 0;
  std::int64_t commits = 0;
  const std::string expected = undisturbed(parts, commits);
  for (int kill_at = 1; kill_at <= parts; ++kill_at) {
    CAPTURE(kill_at);
    SmallRun run;
    const TeamId team = run.box.team("vision");
    play(run, team, [&](int part) {
      if (part == kill_at) run.box.crash();
    });
    CHECK(fates(run) == expected);
    CHECK(run.problems == std::vector<std::string>{});
  }
}

TEST_CASE("a commit that was refused but is there after a crash changes nothing in the end") {
  int parts = 0;
  std::int64_t commits = 0;
  const std::string expected = undisturbed(parts, commits);
  int came_back = 0;
  for (std::int64_t n = 1; n <= commits; ++n) {
    CAPTURE(n);
    SmallRun run;
    const TeamId team = run.box.team("vision");
    // From its n-th commit on everything is refused, until the server is killed.
    const std::int64_t first = run.box.faulty().commits() + n;
    run.box.faulty().set_plan({first, Fault::kComesBack, 1'000'000, false});
    bool killed = false;
    auto kill_in_trouble = [&] {
      if (killed || run.box.faulty().commits() < first) return;
      const std::size_t known = run.box.state().workloads().size();
      killed = true;
      run.box.crash();
      if (run.box.state().workloads().size() != known) ++came_back;
    };
    run.on_refusal = kill_in_trouble;
    play(run, team, [&](int) { kill_in_trouble(); });
    CHECK(killed);
    CHECK_FALSE(run.refused);
    CHECK(fates(run) == expected);
    CHECK(run.problems == std::vector<std::string>{});
  }
  CHECK(came_back > 0);
}

}  // namespace heddle
