#include "sim/one_box.h"

#include <optional>
#include <utility>

#include "base/check.h"

namespace heddle {

OneBox::OneBox(FakeFaults faults) : faults_{faults}, disk_{make_memory_disk()} {
  for (int n = 1; n <= 2; ++n) {
    FoundNode node{"sim-" + std::to_string(n), "H100-80GB", true, 64'000, 512LL << 30, {}};
    for (int d = 0; d < 8; ++d)
      node.devices.push_back({"GPU-sim-" + std::to_string(n) + "-" + std::to_string(d), 80LL << 30,
                              DeviceHealth::kHealthy});
    world_.nodes.push_back(std::move(node));
  }
  world_.advance(clock_.true_time());
  boot();
  settle();
}

OneBox::~OneBox() = default;

void OneBox::boot() {
  store_ = make_memory_store(disk_);
  faulty_ = make_faulty_store(*store_, {});
  engine_ = std::make_unique<FakeEngine>(world_, faults_);
  controller_ = std::make_unique<Controller>(
      *faulty_, std::vector<SiteEngine>{{"box", engine_.get()}}, clock_, ids_, ControllerOptions{});
  auto token = controller_->open();
  HEDDLE_CHECK(token.has_value());
  if (!token->empty()) admin_token_ = *token;
}

void OneBox::crash() {
  controller_.reset();
  engine_.reset();
  faulty_.reset();
  store_.reset();
  boot();
  settle();
}

UserId OneBox::admin() { return state().users().begin()->key; }
PoolId OneBox::pool() { return state().pools().begin()->key; }

Result<Outcome> OneBox::ask(UserId user, Command command) {
  command.actor = {user, "rq_test"};
  std::optional<Result<Outcome>> answer;
  controller_->submit(std::move(command), [&](Result<Outcome> a) { answer = std::move(a); });
  settle();
  if (!answer) return Error{ErrorCode::kUnavailable, "there was no answer"};
  return std::move(*answer);
}

TeamId OneBox::team(const std::string& name) {
  const auto made = ask(CreateTeam{name, "", {}});
  HEDDLE_CHECK(made.has_value());
  return TeamId{made->subject};
}

UserId OneBox::user(const std::string& name, TeamId team, Role role) {
  const auto made = ask(CreateUser{name, false});
  HEDDLE_CHECK(made.has_value());
  const UserId user{made->subject};
  HEDDLE_CHECK(ask(SetMember{team, user, role}).has_value());
  return user;
}

std::shared_ptr<WorkloadSpec> OneBox::job(const std::string& name, std::int64_t devices,
                                          std::int64_t ms, std::int64_t code) {
  auto spec = std::make_shared<WorkloadSpec>();
  spec->name = name;
  spec->shape.request.devices = devices;
  spec->shape.request.milli_per_device = GpuAmount::kMilliPerDevice;
  spec->command = {"run"};
  if (ms >= 0) spec->command = {"run", std::to_string(ms), std::to_string(code)};
  spec->grace = Duration::seconds(1);
  return spec;
}

WorkloadId OneBox::submit(TeamId team, std::shared_ptr<WorkloadSpec> spec) {
  const auto made = ask(SubmitWorkload{team, std::move(spec), {}, false});
  HEDDLE_CHECK(made.has_value());
  return WorkloadId{made->subject};
}

void OneBox::settle() {
  // A round leads to at most a few more: plan, start, report.
  for (int n = 0; n < 6; ++n) controller_->step();
}

void OneBox::pass(Duration by) {
  clock_.advance(by);
  world_.advance(clock_.true_time());
  settle();
}

Workload OneBox::workload(WorkloadId id) {
  if (const Workload* live = state().workloads().find(id)) return *live;
  auto ended = store_->ended_workload(id);
  HEDDLE_CHECK(ended.has_value() && ended->has_value());
  return **ended;
}

}  // namespace heddle
