// One story each: what control does with what people, engines and stores do to it.
#include <doctest/doctest.h>

#include "core/check/auditor.h"
#include "core/meter/receipt.h"
#include "sim/one_box.h"

namespace heddle {

using S = WorkloadState;

TEST_CASE("a job runs, ends and is charged for the time it ran") {
  OneBox box;
  const TeamId vision = box.team("vision");
  const WorkloadId id = box.submit(vision, box.job("train", 2, 10'000));
  CHECK(box.workload(id).state == S::kRunning);
  CHECK(box.state().held({vision, box.pool()}) == GpuAmount::devices(2));
  box.pass(Duration::seconds(10));
  const Workload ended = box.workload(id);
  CHECK(ended.state == S::kSucceeded);
  CHECK(ended.usage.charged_gpu_milli_ms == 2000 * 10'000);
  CHECK(ended.usage.ran_ms == 10'000);
  const Receipt receipt = receipt_of(box.state(), ended, box.controller().now());
  CHECK(receipt.final);
  CHECK(receipt.cost.micros == 5556);  // 2 devices x 10 s at 1.00 per hour
  CHECK(box.state().held({vision, box.pool()}).is_zero());
}

TEST_CASE("a job that fails says how, and runs again as often as it asked") {
  OneBox box;
  const TeamId vision = box.team("vision");
  auto spec = box.job("flaky", 1, 1'000, 3);
  spec->retries = 1;
  const WorkloadId id = box.submit(vision, spec);
  box.pass(Duration::seconds(1));
  CHECK(box.workload(id).attempt == 2);
  box.pass(Duration::seconds(1));
  const Workload ended = box.workload(id);
  CHECK(ended.state == S::kFailed);
  CHECK(ended.end.cause == EndCause::kExited);
  CHECK(ended.end.exit_code == 3);
  CHECK(ended.attempt == 2);
  CHECK(ended.usage.charged_gpu_milli_ms == 1000 * 2'000);
}

TEST_CASE("cancelling ends waiting work at once and running work after its grace") {
  OneBox box;
  const TeamId vision = box.team("vision");
  const WorkloadId big = box.submit(vision, box.job("big", 8, -1));
  const WorkloadId other = box.submit(vision, box.job("other", 8, -1));
  const WorkloadId waiting = box.submit(vision, box.job("waiting", 8, -1));
  CHECK(box.workload(waiting).state == S::kWaiting);
  CHECK(box.view().reasons.size() == 1);
  CHECK(box.ask(CancelWorkload{waiting, {}}).has_value());
  CHECK(box.workload(waiting).state == S::kCancelled);
  CHECK(box.ask(CancelWorkload{big, {}}).has_value());
  CHECK(box.workload(big).state == S::kStopping);
  CHECK(box.state().held({vision, box.pool()}) == GpuAmount::devices(16));
  box.pass(Duration::seconds(1));
  CHECK(box.workload(big).state == S::kCancelled);
  CHECK(box.workload(big).end.cause == EndCause::kCancelled);
  CHECK(box.workload(other).state == S::kRunning);
  CHECK(box.ask(CancelWorkload{big, {}}).error().code == ErrorCode::kNotFound);
}

TEST_CASE("one replica that fails ends its gang, and the first failure is the cause") {
  OneBox box;
  const TeamId vision = box.team("vision");
  auto spec = box.job("gang", 4, 1'000, 7);
  spec->shape.replicas = 3;
  const WorkloadId id = box.submit(vision, spec);
  CHECK(box.workload(id).state == S::kRunning);
  box.world().lose(box.world().running()[1]);
  box.settle();
  CHECK(box.workload(id).state == S::kStopping);
  box.pass(Duration::seconds(1));
  // Lost through no fault of its own: it starts again, whole.
  CHECK(box.workload(id).attempt == 2);
  CHECK(box.workload(id).losses == 1);
  box.pass(Duration::seconds(2));
  CHECK(box.workload(id).state == S::kFailed);
  CHECK(box.workload(id).end.exit_code == 7);
}

TEST_CASE("an order that never reached the engine is sent again after its deadline") {
  FakeFaults faults;
  faults.seed = 3;
  faults.order_lost_one_in = 2;
  OneBox box{faults};
  const TeamId vision = box.team("vision");
  for (int n = 0; n < 8; ++n) box.submit(vision, box.job("job-" + std::to_string(n), 1, -1));
  CHECK(box.world().programs_running() < 8);
  for (int n = 0; n < 400; ++n) box.pass(Duration::seconds(1));
  CHECK(box.world().programs_running() == 8);
  CHECK(box.world().crimes().empty());
}

TEST_CASE("a run-time limit stops the work and is named as the cause") {
  OneBox box;
  const TeamId vision = box.team("vision");
  auto spec = box.job("endless", 1, -1);
  spec->time_limit = Duration::seconds(5);
  const WorkloadId id = box.submit(vision, spec);
  box.pass(Duration::seconds(4));
  CHECK(box.workload(id).state == S::kRunning);
  CHECK(box.controller().due() <= box.controller().now() + Duration::seconds(1));
  box.pass(Duration::seconds(1));
  box.pass(Duration::seconds(1));
  CHECK(box.workload(id).state == S::kFailed);
  CHECK(box.workload(id).end.cause == EndCause::kTimeLimit);
}

TEST_CASE("the server dies and comes back while a job runs: the job does not notice") {
  OneBox box;
  const TeamId vision = box.team("vision");
  const WorkloadId id = box.submit(vision, box.job("long", 4, 60'000));
  box.pass(Duration::seconds(20));
  box.crash();
  CHECK(box.workload(id).state == S::kRunning);
  CHECK(box.world().programs_started() == 1);
  box.pass(Duration::seconds(40));
  CHECK(box.workload(id).state == S::kSucceeded);
  CHECK(box.workload(id).usage.charged_gpu_milli_ms == 4000 * 60'000);
  CHECK(audit(box.state()).empty());
}

TEST_CASE("the same create with the same key is done once; with another body it is refused") {
  OneBox box;
  const TeamId vision = box.team("vision");
  Command command;
  command.what = SubmitWorkload{vision, box.job("once", 1, 1'000), {}, false};
  command.idempotency = IdempotencyKey{"POST /v1/workloads", "k1", "aa"};
  const auto first = box.ask(box.admin(), command);
  const auto second = box.ask(box.admin(), command);
  REQUIRE(first.has_value());
  REQUIRE(second.has_value());
  CHECK(second->replayed);
  CHECK(second->subject == first->subject);
  box.crash();
  CHECK(box.ask(box.admin(), command)->subject == first->subject);
  command.idempotency->body_sha256_hex = "bb";
  CHECK(box.ask(box.admin(), command).error().code == ErrorCode::kIdempotencyConflict);
  const UserId bob = box.user("bob", vision, Role::kDeveloper);
  command.what = SubmitWorkload{vision, box.job("twice", 1, 1'000), {}, false};
  CHECK_FALSE(box.ask(bob, command)->replayed);
}

TEST_CASE("a full disk refuses new work by name, starts nothing and loses no exit") {
  OneBox box;
  const TeamId vision = box.team("vision");
  const WorkloadId id = box.submit(vision, box.job("train", 1, 5'000));
  box.faulty().set_plan({box.faulty().commits() + 1, Fault::kStorageFull, 1'000'000, false});
  const auto refused = box.ask(SubmitWorkload{vision, box.job("next", 1, 1), {}, false});
  CHECK(refused.error().code == ErrorCode::kStorageFull);
  box.pass(Duration::seconds(5));
  CHECK(box.view().stale);
  CHECK(box.workload(id).state == S::kRunning);
  box.faulty().set_plan({});
  box.pass(Duration::seconds(2));
  CHECK_FALSE(box.view().stale);
  CHECK(box.workload(id).state == S::kSucceeded);
  CHECK(box.workload(id).usage.ran_ms == 5'000);
}

TEST_CASE("trouble with the store is over as soon as the store is, without anybody asking") {
  OneBox box;
  box.faulty().set_plan({box.faulty().commits() + 1, Fault::kBefore, 3, false});
  CHECK_FALSE(box.ask(CreateTeam{"vision", "", {}}).has_value());
  CHECK(box.view().stale);
  for (int n = 0; n < 5; ++n) box.pass(Duration::seconds(1));
  CHECK_FALSE(box.view().stale);
  CHECK(box.view().trouble.empty());
}

TEST_CASE("work that ended long ago goes, and its engine throws away what it kept of it") {
  OneBox box;
  const TeamId vision = box.team("vision");
  const WorkloadId old = box.submit(vision, box.job("old", 1, 1'000));
  box.pass(Duration::seconds(1));
  REQUIRE(box.workload(old).state == S::kSucceeded);
  box.pass(Retention{}.ended_workloads - Duration::hours(1));
  const WorkloadId young = box.submit(vision, box.job("young", 1, 1'000));
  CHECK(box.store().ended_workload(old)->has_value());
  CHECK(box.engine().discarded.empty());
  box.pass(Duration::hours(2));
  CHECK_FALSE(box.store().ended_workload(old)->has_value());
  CHECK(box.workload(young).state == S::kSucceeded);
  CHECK(box.engine().discarded == std::set<WorkloadId>{old});
}

TEST_CASE("a commit whose outcome is unknown is neither lost nor done twice") {
  for (const Fault fault : {Fault::kBefore, Fault::kAfter}) {
    OneBox box;
    const TeamId vision = box.team("vision");
    box.faulty().set_plan({box.faulty().commits() + 1, fault, 1, true});
    Command command;
    command.actor = {box.admin(), "rq"};
    command.what = SubmitWorkload{vision, box.job("once", 1, 1'000), {}, false};
    std::optional<Result<Outcome>> answer;
    box.controller().submit(command, [&](Result<Outcome> a) { answer = std::move(a); });
    box.settle();
    CHECK_FALSE(answer.has_value());  // nobody knows yet
    box.faulty().set_plan({});
    box.settle();
    REQUIRE(answer.has_value());
    CHECK(answer->has_value() == (fault == Fault::kAfter));
    CHECK(box.state().workloads().size() == (fault == Fault::kAfter ? 1 : 0));
  }
}

TEST_CASE("strangers and absent things are answered alike; members are told what is missing") {
  OneBox box;
  const TeamId vision = box.team("vision");
  const TeamId language = box.team("language");
  const UserId ana = box.user("ana", vision, Role::kDeveloper);
  const UserId vera = box.user("vera", vision, Role::kViewer);
  auto ask_as = [&](UserId user, auto what) {
    Command command;
    command.what = std::move(what);
    return box.ask(user, std::move(command));
  };
  const auto foreign = ask_as(ana, SubmitWorkload{language, box.job("a", 1, 1), {}, false});
  const auto absent = ask_as(ana, SubmitWorkload{TeamId{9999}, box.job("a", 1, 1), {}, false});
  CHECK(foreign.error().code == ErrorCode::kNotFound);
  CHECK(foreign.error().message == absent.error().message);
  CHECK(ask_as(vera, SubmitWorkload{vision, box.job("a", 1, 1), {}, false}).error().code ==
        ErrorCode::kPermissionDenied);
  const WorkloadId id = box.submit(language, box.job("theirs", 1, -1));
  const auto foreign_cancel = ask_as(ana, CancelWorkload{id, {}});
  const auto absent_cancel = ask_as(ana, CancelWorkload{WorkloadId{424242}, {}});
  CHECK(foreign_cancel.error().code == ErrorCode::kNotFound);
  CHECK(foreign_cancel.error().message == absent_cancel.error().message);
}

TEST_CASE("what can never fit or passes a limit is refused at once, with the numbers") {
  OneBox box;
  const TeamId vision = box.team("vision");
  CHECK(box.ask(SetShare{
                    {vision, box.pool()}, GpuAmount::devices(4), GpuAmount::devices(6), 1, 0, {}})
            .has_value());
  const auto limited = box.ask(SubmitWorkload{vision, box.job("a", 8, 1), {}, false});
  CHECK(limited.error().code == ErrorCode::kOverLimit);
  REQUIRE(limited.error().numbers.size() == 2);
  CHECK(limited.error().numbers[1].value == 6000);
  const auto huge = box.ask(SubmitWorkload{box.team("language"), box.job("b", 9, 1), {}, false});
  CHECK(huge.error().code == ErrorCode::kOverLimit);
  CHECK(huge.error().fields.front().rule == "never_fits");
  const auto too_much = box.ask(
      SetShare{{vision, box.pool()}, GpuAmount::devices(17), GpuAmount::devices(20), 1, 0, {}});
  CHECK(too_much.error().code == ErrorCode::kOverLimit);
}

TEST_CASE("a second server on the same store stops the first one from writing") {
  OneBox box;
  auto& first = box.controller();
  auto loaded = box.store().open();  // somebody else takes over
  CHECK(loaded.has_value());
  CHECK(box.ask(CreateTeam{"late", "", {}}).error().code == ErrorCode::kUnavailable);
  CHECK(first.deposed());
}

}  // namespace heddle
