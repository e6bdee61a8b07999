#include "core/schedule/plan.h"

#include <utility>

#include "core/schedule/groups.h"
#include "core/schedule/ledger.h"
#include "core/schedule/order.h"
#include "core/schedule/place.h"
#include "core/schedule/reasons.h"
#include "core/schedule/room.h"

// The rules of a round, in their order; each has its own file:
//   groups.cpp   what waits, and what of it must stay as it is
//   order.cpp    whose turn it is: guarantee, rank, weight; class, priority, time within a team
//   ledger.cpp   limits of the team and of every level above it
//   place.cpp    the whole gang in one pool or nothing, best fit   (fit.cpp: one replica, one node)
//   reasons.cpp  why the rest waits
// Next to come between place and reasons: moving, reclaiming and pre-empting (design, chapter 3).

namespace heddle {
namespace {

class Round {
 public:
  Round(const State& state, const SchedulePolicy& policy)
      : state_{state},
        pools_{pools_asked_for(state)},
        ledger_{state, pools_},
        room_{state, pools_, policy.share_devices_across_teams},
        failed_(pools_.size()),
        groups_{groups_of(state, ledger_)},
        turns_{state, ledger_, room_, groups_},
        steps_{policy.step_budget} {}

  Plan run() {
    for (std::size_t i = 0; i < groups_.size(); ++i) put_in_line(i);
    while (const auto number = turns_.next()) {
      serve(*number);
      if (plan_.step_budget_hit) break;
    }
    give_reasons();
    plan_.steps = steps_.used();
    return std::move(plan_);
  }

 private:
  // Groups whose head cannot start whatever is free are done with at once.
  void put_in_line(std::size_t number) {
    Group& group = groups_[number];
    const WaitingKey* head = head_of(state_, group);
    while (head != nullptr && must_stay(state_, head->id)) {
      group.passed_over = true;
      ++group.head;
      head = head_of(state_, group);
    }
    if (head == nullptr) return;
    if (!turns_.add(number)) group.looked_at = true;
  }

  void serve(std::size_t number) {
    Group& group = groups_[number];
    if (!steps_.look()) {
      plan_.step_budget_hit = true;
      return;
    }
    if (start_head(group)) {
      ++group.head;
      put_in_line(number);
    } else if (!plan_.step_budget_hit) {
      group.looked_at = true;
    }
  }

  bool start_head(const Group& group) {
    for (const PoolId id : group.shape->pools) {
      const auto index = ledger_.pool_index(id);
      if (!index || plan_.step_budget_hit) continue;
      PoolRoom& room = room_.pool(*index);
      const GpuAmount asked = asked_of(*group.shape, room.device_memory_bytes);
      if (ledger_.over_limit(group.team, *index, asked)) continue;
      if (failed_[*index].known(*group.shape, group.key.team)) continue;
      const std::size_t mark = room.mark();
      const auto takes = place(room, *group.shape, group.key.team, steps_);
      if (!takes) {
        plan_.step_budget_hit = steps_.exhausted();
        if (!steps_.exhausted()) failed_[*index].note(*group.shape, group.key.team);
        continue;
      }
      // What is asked by memory is known exactly only on the device.
      const GpuAmount amount = amount_of(*takes);
      if (ledger_.over_limit(group.team, *index, amount)) {
        room.undo(mark);
        continue;
      }
      room.keep();
      ledger_.charge(group.team, *index, amount);
      turns_.refresh(group.team, *index);
      note_start(head_of(state_, group)->id, id, room, *takes);
      return true;
    }
    return false;
  }

  static GpuAmount amount_of(const std::vector<Take>& takes) {
    GpuAmount amount;
    for (const Take& take : takes)
      for (const Take::Part& part : take.parts) amount += GpuAmount::milli(part.milli);
    return amount;
  }

  void note_start(WorkloadId workload, PoolId pool, const PoolRoom& room,
                  const std::vector<Take>& takes) {
    StartAction start{workload, pool, {}};
    for (const Take& take : takes) {
      Placement placement;
      placement.replica = static_cast<std::int64_t>(start.placements.size());
      placement.node = room.nodes[take.node].id;
      for (const Take::Part& part : take.parts)
        placement.devices.push_back({room.devices[part.device].id, GpuAmount::milli(part.milli)});
      placement.cpu_milli = take.beside.cpu_milli;
      placement.memory_bytes = take.beside.memory_bytes;
      start.placements.push_back(std::move(placement));
    }
    plan_.starts.push_back(std::move(start));
  }

  void give_reasons() {
    Reasons reasons{ledger_, room_};
    for (const Group& group : groups_) {
      if (group.looked_at)
        plan_.reasons.put(group.key, reasons.of(group));
      else if (head_of(state_, group) != nullptr)
        plan_.reasons.put(group.key, reasons.with_code(group, ReasonCode::kStepBudget));
      else if (group.passed_over)
        plan_.reasons.put(group.key, reasons.with_code(group, ReasonCode::kNotPlannedYet));
    }
  }

  const State& state_;
  const std::vector<PoolId> pools_;
  Ledger ledger_;
  Room room_;
  std::vector<Failed> failed_;  // by pool
  std::vector<Group> groups_;
  Turns turns_;
  Steps steps_;
  Plan plan_;
};

}  // namespace

Plan plan(const State& state, const SchedulePolicy& policy, Instant /*now: no rule needs it yet*/) {
  if (state.waiting().empty()) return {};
  return Round{state, policy}.run();
}

}  // namespace heddle
