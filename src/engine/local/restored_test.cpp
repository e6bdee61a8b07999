// A ledger that was restored from a backup knows less than the machine: nothing runs twice.
#include <doctest/doctest.h>
#include <signal.h>
#include <unistd.h>

#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "engine/conformance/bench.h"
#include "engine/local/testing/local_subject.h"
#include "shim/run_folder.h"

namespace heddle::local {
namespace {

using conformance::EngineBench;

struct Local {
  std::shared_ptr<Machine> machine = std::make_shared<Machine>();
  EngineBench bench{local_subject(machine)};

  // The marks that the runs of a workload left in its folder.
  std::string marks(const StartOrder& order) const {
    std::ifstream file{machine->options.state_folder + "/local/teams/tm_7/work/" +
                       order.workload.text() + "/ran"};
    return {std::istreambuf_iterator<char>{file}, {}};
  }
  void run_to_the_end(const StartOrder& order) {
    bench.start(order);
    REQUIRE(bench.wait_released(order.allocation));
    forget(order);
  }
  void forget(const StartOrder& order) {
    bench.engine().forget(order.allocation);
    const std::string folder = machine->runs() + "/" + order.allocation.text();
    REQUIRE(bench.wait([&] { return access(folder.c_str(), F_OK) != 0; }));
  }
  // The same replica of the same run, as a ledger orders it that knows nothing of the first.
  StartOrder ordered_again(StartOrder order) {
    order.allocation = bench.order({}).allocation;
    return order;
  }
};

std::vector<std::string> marking(const std::string& script) {
  return {"/bin/sh", "-c", "echo \"$HEDDLE_ATTEMPT\" >> ran; " + script};
}

}  // namespace

TEST_CASE("a run that ended long ago is not run again: its end is reported once more") {
  Local local;
  local.bench.attach();
  const StartOrder order = local.bench.order(marking("exit 3"));
  local.run_to_the_end(order);
  const auto cpu_ms = local.bench.story(order.allocation).cpu_ms;

  local.bench.attach();
  const StartOrder again = local.ordered_again(order);
  local.bench.start(again);
  REQUIRE(local.bench.wait_released(again.allocation));
  CHECK(local.bench.story(again.allocation).order == "arex");
  CHECK(local.bench.story(again.allocation).end.exit_code == 3);
  CHECK(local.bench.story(again.allocation).cpu_ms == cpu_ms);
  CHECK(local.marks(order) == "1\n");
  // Its next attempt is another run.
  StartOrder next = local.ordered_again(order);
  next.attempt = 2;
  local.run_to_the_end(next);
  CHECK(local.marks(order) == "1\n2\n");
}

TEST_CASE("what ran when the backup was made and ended since ends as it had ended") {
  Local local;
  local.bench.attach();
  const StartOrder order = local.bench.order(marking("exit 0"));
  local.run_to_the_end(order);
  const Instant ended_at = local.bench.story(order.allocation).ended_at;
  local.bench.attach({EngineBench::ledger_row(order, AllocationState::kRunning)});
  REQUIRE(local.bench.wait_released(order.allocation));
  CHECK(local.bench.story(order.allocation).end.cause == EndCause::kExited);
  CHECK(local.bench.story(order.allocation).ended_at == ended_at);
}

TEST_CASE("what was started after the backup is ended before anything starts, and counts as lost") {
  Local local;
  local.bench.attach();
  const StartOrder order = local.bench.order(marking("trap 'sleep 0.2; exit 0' TERM; sleep 1000"));
  local.bench.start(order);
  REQUIRE(local.bench.wait_running(order.allocation));
  REQUIRE(local.bench.wait([&] { return local.marks(order) == "1\n"; }));

  local.bench.attach();
  const StartOrder again = local.ordered_again(order);
  local.bench.start(again);
  REQUIRE(local.bench.wait_released(again.allocation));
  CHECK(local.bench.story(again.allocation).end.cause == EndCause::kLost);
  const std::string folder = local.machine->runs() + "/" + order.allocation.text();
  CHECK(access(folder.c_str(), F_OK) != 0);
  CHECK(local.marks(order) == "1\n");
}

TEST_CASE("what cannot be ended holds nothing up for ever, and does not run twice for that") {
  Local local;
  local.bench.attach();
  const StartOrder order = local.bench.order(marking("sleep 1000"));
  local.bench.start(order);
  REQUIRE(local.bench.wait_running(order.allocation));
  REQUIRE(local.bench.wait([&] { return local.marks(order) == "1\n"; }));
  const shim::Fd folder = shim::open_folder(local.machine->runs() + "/" + order.allocation.text());
  const auto shim_process =
      shim::ProcessIdentity::parse(*shim::read_file(folder.get(), "pid", 4096));
  REQUIRE(shim_process);
  kill(shim_process->pid, SIGSTOP);

  local.bench.attach();
  const StartOrder again = local.ordered_again(order);
  const StartOrder other = local.bench.order(marking("exit 0"));
  local.bench.engine().start({again, other});
  local.bench.engine().start({again, other});  // as control does when nothing is accepted
  CHECK(local.bench.wait_released(other.allocation));
  CHECK(local.bench.wait_released(again.allocation));
  CHECK(local.bench.story(again.allocation).end.cause == EndCause::kLost);
  CHECK(local.marks(order) == "1\n");
  kill(shim_process->pid, SIGCONT);
  CHECK(local.bench.wait([&] { return !shim::exists(folder.get(), "order"); }));
}

TEST_CASE("a gang of which a part had ended is over as a whole") {
  Local local;
  local.bench.attach();
  std::vector<StartOrder> gang;
  for (std::int64_t replica = 0; replica < 2; ++replica) {
    StartOrder order = local.bench.order(marking("[ $RANK = 0 ] || sleep 1000"));
    if (replica > 0) order.workload = gang[0].workload;
    order.replica = replica;
    order.replicas = 2;
    order.replica_nodes = {"sim-1", "sim-1"};
    gang.push_back(order);
  }
  local.bench.engine().start(gang);
  REQUIRE(local.bench.wait_released(gang[0].allocation));
  REQUIRE(local.bench.wait([&] { return local.marks(gang[0]) == "1\n1\n"; }));
  local.forget(gang[0]);

  local.bench.attach();
  const std::vector<StartOrder> again = {local.ordered_again(gang[0]),
                                         local.ordered_again(gang[1])};
  local.bench.engine().start(again);
  REQUIRE(local.bench.wait_released(again[0].allocation));
  REQUIRE(local.bench.wait_released(again[1].allocation));
  CHECK(local.bench.story(again[0].allocation).end.cause == EndCause::kExited);
  CHECK(local.bench.story(again[1].allocation).end.cause == EndCause::kLost);
  CHECK(local.marks(gang[0]) == "1\n1\n");
}

}  // namespace heddle::local
