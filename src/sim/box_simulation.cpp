#include "sim/box_simulation.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "core/check/auditor.h"
#include "core/meter/receipt.h"

namespace heddle {
namespace {

constexpr std::size_t kComplaintsMax = 5;

UserId admin_of(const State& state) { return state.users().begin()->key; }

}  // namespace

BoxSimulation::BoxSimulation(std::uint64_t seed, BoxFaults faults)
    : rng_{seed}, faults_{faults}, ids_{seed}, disk_{make_memory_disk()} {
  for (int n = 1; n <= 2; ++n) {
    FoundNode node{"sim-" + std::to_string(n), "H100-80GB", true, 64'000, 512LL << 30, {}};
    for (int d = 0; d < 8; ++d)
      node.devices.push_back({"GPU-sim-" + std::to_string(n) + "-" + std::to_string(d), 80LL << 30,
                              DeviceHealth::kHealthy});
    world_.nodes.push_back(std::move(node));
  }
  world_.advance(clock_.true_time());
  boot();
}

BoxSimulation::~BoxSimulation() = default;

void BoxSimulation::complain(std::string sentence) {
  if (complaints_.size() < kComplaintsMax) complaints_.push_back(std::move(sentence));
}

void BoxSimulation::boot() {
  store_ = make_memory_store(disk_);
  faulty_ = make_faulty_store(*store_, {});
  FakeFaults faults;
  faults.seed = rng_.next();
  if (faults_.odd_reports && !healed_) faults = {faults.seed, 4, 4, 4, 8};
  engine_ = std::make_unique<FakeEngine>(world_, faults);
  controller_ = std::make_unique<Controller>(
      *faulty_, std::vector<SiteEngine>{{"box", engine_.get()}}, clock_, ids_, ControllerOptions{});
  if (const auto token = controller_->open(); !token) complain("open: " + token.error().message);
}

void BoxSimulation::crash() {
  controller_.reset();
  engine_.reset();
  faulty_.reset();
  store_.reset();
  boot();
}

void BoxSimulation::send(Command command, Controller::Completion done) {
  command.actor = {admin_of(controller_->view()->state), "rq_sim"};
  controller_->submit(std::move(command), std::move(done));
}

void BoxSimulation::submit_something() {
  const auto view = controller_->view();
  if (view->state.teams().empty()) return;
  auto team = view->state.teams().begin();
  for (std::int64_t n = rng_.between(0, static_cast<std::int64_t>(view->state.teams().size()) - 1);
       n > 0; --n)
    ++team;
  auto spec = std::make_shared<WorkloadSpec>();
  spec->name = "job-" + std::to_string(++names_);
  spec->work_class = static_cast<WorkloadClass>(rng_.between(0, 3));
  spec->priority = rng_.between(-1, 1);
  Request& request = spec->shape.request;
  request.devices = rng_.one_in(3) ? 1 : rng_.between(1, 8);
  switch (rng_.between(0, 2)) {
    case 0:
      request.milli_per_device = 1000;
      break;
    case 1:
      request.devices = 1, request.milli_per_device = rng_.between(1, 999);
      break;
    default:
      request.devices = 1, request.mib_per_device = rng_.between(1, 80 * 1024);
      break;
  }
  if (request.whole() && rng_.one_in(3)) spec->shape.replicas = rng_.between(2, 4);
  const std::int64_t code = rng_.one_in(4) ? rng_.between(1, 3) : 0;
  spec->command = {"run", std::to_string(rng_.between(0, 60'000)), std::to_string(code)};
  if (rng_.one_in(10)) spec->command = {"run"};
  if (rng_.one_in(3)) spec->time_limit = Duration::millis(rng_.between(1'000, 60'000));
  if (spec->command.size() == 1) spec->time_limit = Duration::seconds(90);
  spec->grace = Duration::millis(rng_.between(0, 2'000));
  spec->retries = rng_.between(0, 2);
  Command command;
  command.what = SubmitWorkload{team->key, std::move(spec), {}, false};
  send(std::move(command), [this](Result<Outcome> outcome) {
    if (outcome) acknowledged_.insert(WorkloadId{outcome->subject});
  });
}

void BoxSimulation::cancel_something() {
  if (acknowledged_.empty()) return;
  auto at = acknowledged_.begin();
  std::advance(at, rng_.between(0, static_cast<std::int64_t>(acknowledged_.size()) - 1));
  Command command;
  command.what = CancelWorkload{*at, {}};
  send(std::move(command), [](Result<Outcome>) {});
}

void BoxSimulation::change_something() {
  const auto view = controller_->view();
  const State& state = view->state;
  Command command;
  if (state.teams().size() < 3) {
    command.what = CreateTeam{"team-" + std::to_string(state.teams().size()), "", {}};
  } else if (rng_.one_in(2) && !state.pools().empty()) {
    const TeamId team = state.teams().begin()->key;
    command.what = SetShare{{team, state.pools().begin()->key},
                            GpuAmount::devices(rng_.between(0, 4)),
                            GpuAmount::devices(rng_.between(4, 16)),
                            rng_.between(1, 3),
                            0,
                            {}};
  } else if (!state.nodes().empty()) {
    command.what = SetNodeState{
        state.nodes().begin()->key, rng_.one_in(2) ? NodeState::kReady : NodeState::kDraining, {}};
  }
  send(std::move(command), [](Result<Outcome>) {});
}

void BoxSimulation::break_something() {
  switch (rng_.between(0, 3)) {
    case 0:
      if (faults_.crashes) crash();
      break;
    case 1:
      if (faults_.store_failures)
        faulty_->set_plan({faulty_->commits() + rng_.between(1, 4),
                           static_cast<Fault>(rng_.between(0, 3)), rng_.between(1, 3),
                           rng_.one_in(2)});
      break;
    case 2: {
      const auto running = world_.running();
      if (faults_.lost_programs && !running.empty() && rng_.one_in(3))
        world_.lose(running[static_cast<std::size_t>(
            rng_.between(0, static_cast<std::int64_t>(running.size()) - 1))]);
      break;
    }
    default:
      if (faults_.clock_jumps) clock_.set_wall_error(Duration::hours(rng_.between(-2, 24 * 365)));
      break;
  }
}

void BoxSimulation::live_one_step() {
  clock_.advance(Duration::millis(rng_.one_in(2) ? rng_.between(0, 50) : rng_.between(0, 5'000)));
  world_.advance(clock_.true_time());
  const std::int64_t submits = rng_.between(0, 3);
  for (std::int64_t n = 0; n < submits; ++n) submit_something();
  if (rng_.one_in(6)) cancel_something();
  if (rng_.one_in(8)) change_something();
  if (rng_.one_in(10)) break_something();
  round();
}

void BoxSimulation::round() {
  const auto before = controller_->view();
  controller_->step();
  const auto after = controller_->view();
  for (const std::string& problem : audit_starts(before->state, after->state))
    complain("auditor: " + problem);
  if (faults_.crashes && !healed_ && rng_.one_in(40)) crash();
  check_round();
}

void BoxSimulation::check_round() {
  const auto view = controller_->view();
  for (const std::string& problem : audit(view->state)) complain("auditor: " + problem);
  for (const std::string& crime : world_.crimes()) complain("world: " + crime);
  if (!State::same_indexes(view->state, view->state.rebuilt())) complain("an index is wrong");
}

void BoxSimulation::heal() {
  healed_ = true;
  clock_.set_wall_error({});
  crash();  // a server without faults takes over
  const auto view = controller_->view();
  for (const auto& [key, share] : view->state.shares()) {
    Command command;
    command.what = SetShare{key, {}, GpuAmount::milli(GpuAmount::kMaxMilli), 1, 0, {}};
    send(std::move(command), [](Result<Outcome>) {});
  }
  for (const auto& [id, node] : view->state.nodes()) {
    Command command;
    command.what = SetNodeState{id, NodeState::kReady, {}};
    send(std::move(command), [](Result<Outcome>) {});
  }
  for (int n = 0; n < 20'000; ++n) {
    round();
    if (controller_->view()->state.workloads().empty() && n > 0) return;
    clock_.advance(Duration::seconds(20));
    world_.advance(clock_.true_time());
  }
  complain("work is stuck: " + std::to_string(controller_->view()->state.workloads().size()) +
           " workloads did not end");
}

void BoxSimulation::check_end() {
  if (world_.programs_running() != 0) complain("a program outlived all workloads");
  for (const WorkloadId id : acknowledged_) {
    const auto ended = store_->ended_workload(id);
    if (!ended || !ended->has_value()) {
      complain(id.text() + " was acknowledged and lost");
      continue;
    }
    const auto released = store_->released_allocations(id);
    std::set<std::tuple<std::int64_t, std::int64_t>> runs;
    UsageTotals sum;
    for (const Allocation& a : *released) {
      settle(sum, a);
      if (!runs.insert({a.attempt, a.replica}).second) complain(id.text() + " has a doubled lease");
    }
    const UsageTotals& used = (*ended)->usage;
    if (sum.charged_gpu_milli_ms != used.charged_gpu_milli_ms ||
        sum.lease_gpu_milli_ms != used.lease_gpu_milli_ms)
      complain(id.text() + " was not charged what it leased");
    if ((*ended)->state == WorkloadState::kSucceeded &&
        static_cast<std::int64_t>(std::ranges::count_if(*released, [&](const Allocation& a) {
          return a.attempt == (*ended)->attempt && a.end.cause == EndCause::kExited &&
                 a.end.exit_code == 0;
        })) != (*ended)->spec->shape.replicas)
      complain(id.text() + " succeeded without every replica having done so");
  }
}

std::vector<std::string> BoxSimulation::run(int steps) {
  for (int n = 0; n < steps && complaints_.empty(); ++n) live_one_step();
  if (complaints_.empty()) heal();
  if (complaints_.empty()) check_end();
  return complaints_;
}

}  // namespace heddle
