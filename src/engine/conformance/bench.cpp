#include "engine/conformance/bench.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <type_traits>
#include <utility>
#include <variant>

namespace heddle::conformance {

void EngineBench::attach(const std::vector<Allocation>& live, std::int64_t epoch) {
  engine_.reset();
  stories_.clear();
  engine_ = subject_.attach();
  const Result<Done> connected = engine_->connect(epoch_ = std::max(epoch_ + 1, epoch), live);
  if (!connected) FAIL(connected.error().message);
}

StartOrder EngineBench::order(std::vector<std::string> command) {
  StartOrder order;
  order.allocation = AllocationId{++last_id_};
  order.epoch = epoch_;
  order.workload = WorkloadId{++last_id_};
  order.attempt = 1;
  order.team = TeamId{7};
  order.team_slot = 3;
  order.team_name = "vision";
  order.workload_name = "job-" + std::to_string(last_id_);
  order.user_name = "ada";
  order.node_name = "sim-1";
  order.pool_name = "h100";
  order.simulated = true;
  order.devices = {{"GPU-sim-1-0", GpuAmount::milli(250), 80LL << 30}};
  order.cpu_milli = 1000;
  order.memory_bytes = 1LL << 30;
  order.replica_nodes = {"sim-1"};
  order.command = std::move(command);
  order.grace = Duration::seconds(5);
  return order;
}

Allocation EngineBench::ledger_row(const StartOrder& order, AllocationState state) {
  Allocation row;
  row.id = order.allocation;
  row.workload = order.workload;
  row.team = order.team;
  row.attempt = order.attempt;
  row.replica = order.replica;
  row.epoch = order.epoch;
  row.state = state;
  if (state == AllocationState::kRunning) row.running_at = Instant{1};
  return row;
}

void EngineBench::take() {
  for (const Report& report : engine_->take_reports()) {
    std::visit(
        [this](const auto& r) {
          using R = std::decay_t<decltype(r)>;
          if constexpr (std::is_same_v<R, ReportNodes>) {
            nodes_ = r.nodes;
          } else {
            Story& story = stories_[r.allocation];
            if constexpr (std::is_same_v<R, ReportAccepted>) {
              ++story.accepted;
              story.order += 'a';
            } else if constexpr (std::is_same_v<R, ReportRunning>) {
              ++story.running;
              story.running_at = r.at;
              story.order += 'r';
            } else if constexpr (std::is_same_v<R, ReportEnded>) {
              ++story.ended;
              story.ended_at = r.at;
              story.end = r.end;
              story.cpu_ms = r.cpu_ms;
              story.order += 'e';
            } else if constexpr (std::is_same_v<R, ReportReleased>) {
              ++story.released;
              story.released_at = r.at;
              story.order += 'x';
            } else {
              story.order += 'l';
            }
          }
        },
        report);
  }
}

bool EngineBench::wait(const std::function<bool()>& done) {
  for (;;) {
    take();
    if (done()) return true;
    if (!subject_.pass_time()) return false;
  }
}

bool EngineBench::wait_released(AllocationId id) {
  return wait([&] { return stories_[id].released > 0; });
}

bool EngineBench::wait_running(AllocationId id) {
  return wait([&] { return stories_[id].running > 0; });
}

std::string EngineBench::output(const StartOrder& order, LogStream stream) {
  std::string text;
  LogQuery query{order.workload, order.attempt, order.replica, {}, 0, 64 * 1024};
  bool finished = false;
  const bool read = wait([&] {
    for (;;) {
      const Result<LogPage> page = engine_->read_log(query);
      if (!page) return false;
      for (const LogLine& line : page->lines)
        if (line.stream == stream) text += line.text + (line.partial ? "" : "\n");
      query.from = page->next;
      finished = page->finished;
      if (page->at_end) return finished;
    }
  });
  CHECK(read);
  return text;
}

}  // namespace heddle::conformance
