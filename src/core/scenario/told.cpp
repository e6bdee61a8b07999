#include <algorithm>
#include <utility>

#include "base/check.h"
#include "core/scenario/scenario.h"

namespace heddle {
namespace {

// 1250 -> 1.25
std::string decimal(std::int64_t milli) {
  std::string text = std::to_string(milli / 1000);
  if (milli % 1000 != 0) {
    std::string places = std::to_string(1000 + milli % 1000).substr(1);
    places.resize(places.find_last_not_of('0') + 1);
    text += '.' + places;
  }
  return text;
}

}  // namespace

Plan Scenario::plan_now() const { return plan(state(), policy_, now_); }

void Scenario::apply(const Plan& plan) { apply_plan(draft_, plan, now_, last_id_); }

void apply_plan(Draft& draft, const Plan& plan, Instant now, std::uint64_t& last_id) {
  for (const StartAction& start : plan.starts) {
    Workload job = *draft.state().workloads().find(start.workload);
    HEDDLE_CHECK(job.state == WorkloadState::kWaiting);
    job.state = WorkloadState::kStarting;
    job.starting_since = now;
    job.pool = start.pool;
    ++job.attempt;
    job.released = 0;
    for (const Placement& placement : start.placements) {
      Allocation allocation;
      allocation.id = AllocationId{++last_id};
      allocation.workload = job.id;
      allocation.team = job.team;
      allocation.pool = start.pool;
      allocation.node = placement.node;
      allocation.replica = placement.replica;
      allocation.attempt = job.attempt;
      allocation.devices = placement.devices;
      allocation.cpu_milli = placement.cpu_milli;
      allocation.memory_bytes = placement.memory_bytes;
      allocation.recorded_at = now;
      draft.put(std::move(allocation));
    }
    draft.put(std::move(job));
  }
}

std::vector<std::string> Scenario::describe(const Plan& plan) const {
  std::vector<std::string> lines;
  for (const StartAction& start : plan.starts) {
    std::string line = "start " + state().workloads().find(start.workload)->spec->name + " on";
    for (const Placement& placement : start.placements) line += " " + place_text(placement);
    lines.push_back(std::move(line));
  }
  for (const auto& [key, reason] : plan.reasons) {
    std::string jobs;
    for (const auto& [waiting, none] : state().waiting()) {
      if (waiting.team != key.team || waiting.shape != key.shape) continue;
      if (std::ranges::find(plan.starts, waiting.id, &StartAction::workload) == plan.starts.end())
        jobs += ' ' + state().workloads().find(waiting.id)->spec->name;
    }
    lines.push_back("wait " + state().teams().find(key.team)->name + ":" + jobs + ": " +
                    numbers_text(key, reason));
  }
  if (plan.step_budget_hit) lines.push_back("step budget hit");
  if (lines.empty()) lines.push_back("nothing to do");
  return lines;
}

// h100-1[0 1 2], with the part where it is less than a device: h100-1[3:0.25]
std::string Scenario::place_text(const Placement& placement) const {
  const Node& node = *state().nodes().find(placement.node);
  std::string text = node.name;
  for (const DeviceLease& lease : placement.devices) {
    const auto at = std::ranges::find(node.devices, lease.device, &Device::id);
    text += lease.device == placement.devices.front().device ? '[' : ' ';
    text += std::to_string(at - node.devices.begin());
    if (lease.amount < GpuAmount::devices(1)) text += ':' + decimal(lease.amount.as_milli());
  }
  return placement.devices.empty() ? text : text + ']';
}

std::string Scenario::numbers_text(const ReasonKey& key, const Reason& reason) const {
  std::string text{name_of(reason.code)};
  if (const Pool* pool = state().pools().find(reason.pool)) text += " in " + pool->name;
  text += ", asked " + decimal(reason.asked.as_milli());
  text += ", held " + decimal(reason.held_by_team.as_milli());
  if (reason.limit < GpuAmount::milli(GpuAmount::kMaxMilli))
    text += " of at most " + decimal(reason.limit.as_milli());
  text += ", free " + decimal(reason.free.as_milli()) + " of " + decimal(reason.usable.as_milli());
  const Shape* shape = state().shapes().find(key.shape);
  const bool whole = shape != nullptr && shape->request.whole();
  const auto on_node = [&](std::int64_t n) { return whole ? std::to_string(n) : decimal(n); };
  text += ", on one node " + on_node(reason.most_free_on_one_node) + " for " +
          on_node(reason.needed_on_one_node);
  return text;
}

}  // namespace heddle
