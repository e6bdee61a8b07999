#include "engine/fake/fake_engine.h"

#include <algorithm>
#include <charconv>
#include <utility>

namespace heddle {
namespace {

std::int64_t number_in(const std::vector<std::string>& command, std::size_t at) {
  std::int64_t value = -1;
  if (at < command.size())
    std::from_chars(command[at].data(), command[at].data() + command[at].size(), value);
  return value;
}

}  // namespace

void FakeWorld::advance(Instant now) {
  now_ = std::max(now_, now);
  for (auto& [id, program] : programs_) {
    if (program.ended || !program.ends_at.is_set() || program.ends_at > now_) continue;
    program.ended = true;
    program.ended_at = program.ends_at;
  }
}

std::int64_t FakeWorld::programs_running() const {
  return std::ranges::count_if(programs_, [](const auto& p) { return !p.second.ended; });
}

std::vector<AllocationId> FakeWorld::running() const {
  std::vector<AllocationId> ids;
  for (const auto& [id, program] : programs_)
    if (!program.ended) ids.push_back(id);
  return ids;
}

void FakeWorld::lose(AllocationId allocation) {
  const auto at = programs_.find(allocation);
  if (at == programs_.end() || at->second.ended) return;
  at->second.ended = true;
  at->second.ended_at = now_;
  at->second.end = {EndCause::kLost, 0, 0, "its machine was lost"};
}

void FakeWorld::start(const StartOrder& order) {
  if (programs_.contains(order.allocation) || refused_.contains(order.allocation)) return;
  if (!runs_.insert({order.workload, order.attempt, order.replica}).second)
    crimes_.push_back(order.workload.text() + " started twice in one run");
  Program program;
  program.order = order;
  program.started_at = now_;
  const std::int64_t ms = number_in(order.command, 1);
  if (ms >= 0) program.ends_at = now_ + Duration{ms};
  program.end = {EndCause::kExited, std::max<std::int64_t>(0, number_in(order.command, 2)), 0, {}};
  programs_.emplace(order.allocation, std::move(program));
  ++started_;
  check_devices();
}

void FakeWorld::stop(AllocationId id, Duration grace) {
  const auto at = programs_.find(id);
  if (at == programs_.end()) {
    refused_.insert(id);
    return;
  }
  Program& program = at->second;
  if (program.ended || program.stopping) return;
  program.stopping = true;
  program.end = {EndCause::kSignalled, 0, 15, {}};
  const Instant gone = now_ + grace;
  if (!program.ends_at.is_set() || program.ends_at > gone) program.ends_at = gone;
  advance(now_);
}

void FakeWorld::check_devices() {
  std::map<std::string, std::int64_t> used;
  for (const auto& [id, program] : programs_) {
    if (program.ended) continue;
    for (const OrderDevice& device : program.order.devices)
      used[device.uuid] += device.amount.as_milli();
  }
  for (const auto& [uuid, milli] : used)
    if (milli > GpuAmount::kMilliPerDevice) crimes_.push_back(uuid + " holds more than it has");
}

FakeEngine::FakeEngine(FakeWorld& world, FakeFaults faults)
    : world_{world}, faults_{faults}, rng_{faults.seed} {}

EngineTraits FakeEngine::traits() const { return {true, true, true, true, true, true, {}}; }

Result<Done> FakeEngine::connect(std::int64_t, const std::vector<Allocation>& live) {
  std::set<AllocationId> wanted;
  for (const Allocation& a : live) {
    wanted.insert(a.id);
    if (world_.programs_.contains(a.id)) continue;
    // Never heard of: what was only planned or sent is ordered again, the rest is gone.
    if (a.state == AllocationState::kPlanned || a.state == AllocationState::kSent) continue;
    if (a.stop_requested && !a.running_at.is_set()) continue;  // its stop comes again
    reports_.push_back(ReportReleased{a.id, world_.now()});
  }
  for (auto& [id, program] : world_.programs_)
    if (!wanted.contains(id) && !program.ended) world_.lose(id);
  std::erase_if(world_.programs_, [&](const auto& p) { return !wanted.contains(p.first); });
  reports_.push_back(ReportNodes{world_.nodes});
  return Done{};
}

void FakeEngine::start(std::vector<StartOrder> orders) {
  for (const StartOrder& order : orders) {
    if (faults_.order_lost_one_in != 0 && rng_.one_in(faults_.order_lost_one_in)) continue;
    world_.start(order);
  }
  wake_();
}

void FakeEngine::stop(AllocationId allocation, Duration grace) {
  const bool known = world_.programs_.contains(allocation);
  world_.stop(allocation, grace);
  if (!known) reports_.push_back(ReportReleased{allocation, world_.now()});
  wake_();
}

void FakeEngine::forget(AllocationId allocation) {
  world_.programs_.erase(allocation);
  told_.erase(allocation);
}

void FakeEngine::look() {
  for (auto& [id, program] : world_.programs_) {
    Told& told = told_[id];
    if (!told.running) reports_.push_back(ReportRunning{id, program.started_at});
    told.running = true;
    if (!program.ended || told.ended) continue;
    reports_.push_back(ReportEnded{id, program.ended_at, program.end, 5, 1 << 20});
    reports_.push_back(ReportReleased{id, program.ended_at});
    told.ended = true;
  }
}

std::vector<Report> FakeEngine::take_reports() {
  look();
  return disturb(std::exchange(reports_, {}));
}

std::vector<Report> FakeEngine::disturb(std::vector<Report> reports) {
  auto strikes = [this](std::uint64_t one_in) { return one_in != 0 && rng_.one_in(one_in); };
  std::vector<Report> given = std::exchange(late_, {});
  for (Report& report : reports) {
    if (strikes(faults_.late_one_in)) {
      late_.push_back(std::move(report));
      continue;
    }
    if (strikes(faults_.doubled_one_in)) given.push_back(report);
    given.push_back(std::move(report));
    if (given.size() > 1 && strikes(faults_.swapped_one_in))
      std::swap(given[given.size() - 1], given[given.size() - 2]);
  }
  return given;
}

Result<LogPage> FakeEngine::read_log(const LogQuery&) {
  return Error{ErrorCode::kNotFound, "There is no log."};
}

std::unique_ptr<Engine::LogWatch> FakeEngine::watch_log(const LogQuery&, std::function<void()>) {
  return std::make_unique<LogWatch>();
}

}  // namespace heddle
