#include "engine/conformance/conformance.h"

#include <doctest/doctest.h>

#include <atomic>
#include <utility>

#include "engine/conformance/bench.h"

namespace heddle {
namespace {

using conformance::EngineBench;
using conformance::Story;

bool ran_once(const Story& story) {
  return story.running == 1 && story.ended == 1 && story.released == 1 &&
         story.order.ends_with("rex");
}

void starts_and_ends(EngineBench& bench) {
  bench.attach();
  CHECK(bench.wait([&] { return !bench.nodes().empty(); }));
  const StartOrder good = bench.order(bench.command(1, 0));
  const StartOrder bad = bench.order(bench.command(1, 42));
  bench.engine().start({good, bad});
  REQUIRE(bench.wait_released(good.allocation));
  REQUIRE(bench.wait_released(bad.allocation));
  const Story& story = bench.story(good.allocation);
  CHECK(ran_once(story));
  CHECK(story.end.cause == EndCause::kExited);
  CHECK(story.end.exit_code == 0);
  CHECK(story.running_at <= story.ended_at);
  CHECK(story.ended_at <= story.released_at);
  CHECK(bench.story(bad.allocation).end.cause == EndCause::kExited);
  CHECK(bench.story(bad.allocation).end.exit_code == 42);
}

void starts_nothing_twice(EngineBench& bench) {
  bench.attach();
  const StartOrder order = bench.order(bench.command(-1, 0));
  bench.start(order);
  bench.start(order);
  REQUIRE(bench.wait_running(order.allocation));
  bench.start(order);
  bench.engine().stop(order.allocation, Duration{});
  REQUIRE(bench.wait_released(order.allocation));
  bench.start(order);
  const StartOrder next = bench.order(bench.command(1, 0));
  bench.start(next);
  REQUIRE(bench.wait_released(next.allocation));
  CHECK(bench.story(order.allocation).running == 1);
}

void stops(EngineBench& bench) {
  bench.attach();
  const StartOrder order = bench.order(bench.command(-1, 0));
  bench.start(order);
  REQUIRE(bench.wait_running(order.allocation));
  bench.engine().stop(order.allocation, Duration::seconds(20));
  bench.engine().stop(order.allocation, Duration::seconds(20));
  REQUIRE(bench.wait_released(order.allocation));
  CHECK(bench.story(order.allocation).end.cause != EndCause::kNone);
  CHECK(bench.story(order.allocation).ended == 1);
}

void stopped_before_it_came(EngineBench& bench) {
  bench.attach();
  const StartOrder order = bench.order(bench.command(1, 0));
  bench.engine().stop(order.allocation, Duration{});
  REQUIRE(bench.wait_released(order.allocation));
  bench.start(order);
  const StartOrder next = bench.order(bench.command(1, 0));
  bench.start(next);
  REQUIRE(bench.wait_released(next.allocation));
  CHECK(bench.story(order.allocation).running == 0);
}

void goes_on_without_its_server(EngineBench& bench) {
  bench.attach();
  const StartOrder stays = bench.order(bench.command(-1, 0));
  const StartOrder ends = bench.order(bench.command(30, 7));
  bench.engine().start({stays, ends});
  REQUIRE(bench.wait_running(stays.allocation));
  REQUIRE(bench.wait_running(ends.allocation));
  const std::vector<Allocation> live{EngineBench::ledger_row(stays, AllocationState::kRunning),
                                     EngineBench::ledger_row(ends, AllocationState::kRunning)};
  bench.attach(live);
  bench.start(stays);
  REQUIRE(bench.wait_released(ends.allocation));
  CHECK(bench.story(ends.allocation).end.exit_code == 7);
  REQUIRE(bench.wait_running(stays.allocation));
  // What is reported but not forgotten comes again.
  bench.attach(live);
  REQUIRE(bench.wait_released(ends.allocation));
  CHECK(bench.story(ends.allocation).end.exit_code == 7);
  bench.engine().forget(ends.allocation);
  bench.engine().stop(stays.allocation, Duration{});
  REQUIRE(bench.wait_released(stays.allocation));
  CHECK(bench.story(stays.allocation).ended == 1);
}

void ends_what_the_ledger_does_not_know(EngineBench& bench) {
  bench.attach();
  const StartOrder order = bench.order(bench.command(-1, 0));
  bench.start(order);
  REQUIRE(bench.wait_running(order.allocation));
  const StartOrder unknown = bench.order(bench.command(-1, 0));
  bench.attach({EngineBench::ledger_row(unknown, AllocationState::kRunning)});
  REQUIRE(bench.wait_released(unknown.allocation));
  CHECK(bench.story(unknown.allocation).running == 0);
  CHECK(bench.story(order.allocation).ended == 0);
}

void keeps_what_was_planned(EngineBench& bench) {
  bench.attach();
  const StartOrder order = bench.order(bench.command(1, 3));
  bench.attach({EngineBench::ledger_row(order, AllocationState::kSent)});
  bench.start(order);
  REQUIRE(bench.wait_released(order.allocation));
  CHECK(ran_once(bench.story(order.allocation)));
  CHECK(bench.story(order.allocation).end.exit_code == 3);
}

// ---- only where programs are real ----

std::vector<std::string> shell(const std::string& script) { return {"/bin/sh", "-c", script}; }

void gives_files_variables_and_logs(EngineBench& bench) {
  bench.attach();
  StartOrder order = bench.order(shell(
      "cat data/in.txt; ./run.sh; echo $A; echo $HEDDLE_TEAM $HEDDLE_REPLICA $HEDDLE_GPU_MILLI "
      "$CUDA_VISIBLE_DEVICES $RANK $WORLD_SIZE $LOCAL_RANK $MASTER_PORT; echo wrong >&2; pwd"));
  order.env = {{"A", "two words"}, {"HEDDLE_TEAM", "forged"}};
  order.files = {
      {"data/in.txt", std::make_shared<const std::string>("from a file\n"), false},
      {"run.sh", std::make_shared<const std::string>("#!/bin/sh\necho from a script\n"), true}};
  bench.start(order);
  REQUIRE(bench.wait_released(order.allocation));
  const std::string output = bench.output(order);
  CHECK(
      output.starts_with("from a file\nfrom a script\ntwo words\n"
                         "vision 0 250 GPU-sim-1-0 0 1 0 29500\n"));
  CHECK(bench.output(order, LogStream::kErr) == "wrong\n");
}

void says_why_it_could_not_start(EngineBench& bench) {
  bench.attach();
  const StartOrder order = bench.order({"/no/such/program"});
  bench.start(order);
  REQUIRE(bench.wait_released(order.allocation));
  const Story& story = bench.story(order.allocation);
  CHECK(story.end.cause == EndCause::kStartFailed);
  CHECK(story.end.message.find("/no/such/program") != std::string::npos);
  CHECK(story.running == 0);
}

void tells_signals_apart(EngineBench& bench) {
  bench.attach();
  const StartOrder own = bench.order(shell("kill -SEGV $$"));
  const StartOrder polite =
      bench.order(shell("trap 'echo bye; exit 5' TERM; echo ready; while :; do sleep 0.01; done"));
  const StartOrder deaf = bench.order(shell("trap '' TERM; echo ready; while :; do sleep 9; done"));
  bench.engine().start({own, polite, deaf});
  REQUIRE(bench.wait_released(own.allocation));
  CHECK(bench.story(own.allocation).end.cause == EndCause::kSignalled);
  CHECK(bench.story(own.allocation).end.signal == 11);
  for (const StartOrder* order : {&polite, &deaf}) {
    const LogQuery query{order->workload, 1, 0, {}, 0, 1024};
    REQUIRE(bench.wait([&] {
      const Result<LogPage> page = bench.engine().read_log(query);
      return page && !page->lines.empty();
    }));
  }
  bench.engine().stop(polite.allocation, Duration::seconds(20));
  bench.engine().stop(deaf.allocation, Duration::millis(50));
  REQUIRE(bench.wait_released(polite.allocation));
  REQUIRE(bench.wait_released(deaf.allocation));
  CHECK(bench.story(polite.allocation).end.cause == EndCause::kExited);
  CHECK(bench.story(polite.allocation).end.exit_code == 5);
  CHECK(bench.story(deaf.allocation).end.signal == 9);
  CHECK(bench.output(polite) == "ready\nbye\n");
}

void follows_and_pages_logs(EngineBench& bench) {
  bench.attach();
  const StartOrder order = bench.order(shell("for i in 1 2 3 4 5 6 7 8 9; do echo line $i; done"));
  const LogQuery query{order.workload, 1, 0, {}, 0, 60};
  CHECK(bench.engine().read_log(query).error().code == ErrorCode::kNotFound);
  std::atomic<int> grown = 0;
  auto watch = bench.engine().watch_log(query, [&] { ++grown; });
  bench.start(order);
  REQUIRE(bench.wait_released(order.allocation));
  CHECK(bench.output(order) ==
        "line 1\nline 2\nline 3\nline 4\nline 5\nline 6\nline 7\nline 8\nline 9\n");
  CHECK(bench.wait([&] { return grown > 0; }));
  watch.reset();
  LogQuery tail = query;
  tail.tail = 2;
  tail.max_bytes = 1024;
  const Result<LogPage> page = bench.engine().read_log(tail);
  REQUIRE(page);
  REQUIRE(page->lines.size() == 2);
  CHECK(page->lines[0].text == "line 8");
  CHECK(page->finished);
  LogQuery lost = query;
  lost.from = {0, 3};
  CHECK(bench.engine().read_log(lost).error().code == ErrorCode::kInvalidArgument);
  bench.engine().discard(order.workload);
  CHECK(bench.wait([&] { return !bench.engine().read_log(query).has_value(); }));
}

}  // namespace

void run_engine_conformance(const NewSubject& new_subject) {
  EngineBench bench{new_subject()};
  SUBCASE("it starts, runs and ends, in order") { starts_and_ends(bench); }
  SUBCASE("the same order starts nothing twice") { starts_nothing_twice(bench); }
  SUBCASE("a stop ends it, twice is once") { stops(bench); }
  SUBCASE("what was stopped before it came never starts") { stopped_before_it_came(bench); }
  SUBCASE("work goes on without its server, and ends are told later") {
    goes_on_without_its_server(bench);
  }
  SUBCASE("what the ledger does not know is ended, what is gone is said") {
    ends_what_the_ledger_does_not_know(bench);
  }
  SUBCASE("what was sent but never came can be ordered again") { keeps_what_was_planned(bench); }
  if (!bench.runs_programs()) return;
  SUBCASE("files, variables and output") { gives_files_variables_and_logs(bench); }
  SUBCASE("a failed start says why") { says_why_it_could_not_start(bench); }
  SUBCASE("signals, grace and exit codes are told apart") { tells_signals_apart(bench); }
  SUBCASE("logs are paged, tailed, followed and discarded") { follows_and_pages_logs(bench); }
}

}  // namespace heddle
