#include "api/reasons.h"

#include <algorithm>

#include "base/units.h"

namespace heddle::api {
namespace {

std::string gpus(GpuAmount amount) {
  return format_gpu(amount) + (amount.as_milli() == 1000 ? " GPU" : " GPUs");
}

std::string pool_name(const State& state, PoolId id) {
  const Pool* pool = state.pools().find(id);
  return pool == nullptr ? "that it accepts" : pool->name;
}

// On one node: whole devices for whole requests, else thousandths.
GpuAmount on_one_node(const Workload& workload, std::int64_t amount) {
  return workload.spec->shape.request.whole() ? GpuAmount::devices(amount)
                                              : GpuAmount::milli(amount);
}

// `31 usable: 1 free, 14 held by you, 16 by other teams`.
std::string who_holds(const Reason& r) {
  const std::int64_t others = std::max<std::int64_t>(
      0, r.usable.as_milli() - r.free.as_milli() - r.held_by_team.as_milli());
  return format_gpu(r.usable) + " usable: " + format_gpu(r.free) + " free, " +
         format_gpu(r.held_by_team) + " held by your team, " + format_thousandths(others) +
         " by other teams";
}

ReasonWords limit_words(const Workload& workload, const Reason& r, const std::string& team,
                        const std::string& pool) {
  const GpuAmount sum = r.held_by_team + r.asked;
  const std::int64_t over = std::max<std::int64_t>(0, sum.as_milli() - r.limit.as_milli());
  const std::int64_t fits =
      std::max<std::int64_t>(0, r.limit.as_milli() - r.held_by_team.as_milli());
  ReasonWords words{
      "Team " + team + " would pass its limit: held " + format_gpu(r.held_by_team) + " + asked " +
          format_gpu(r.asked) + " = " + format_gpu(sum) + ", limit " + format_gpu(r.limit) +
          " on " + pool + ": " + format_thousandths(over) + " too many.",
      "Wait until work of your own ends, or ask an administrator for a higher limit."};
  if (fits >= 1000 && workload.spec->shape.request.whole())
    words.next = "With " + std::to_string(fits / 1000) + " GPUs in all it would fit. " + words.next;
  return words;
}

}  // namespace

ReasonWords words_for(const State& state, const Workload& workload, const Reason& r) {
  const std::string pool = pool_name(state, r.pool);
  const Team* team = state.teams().find(workload.team);
  const bool one = workload.spec->shape.replicas == 1;
  const std::string needed = gpus(on_one_node(workload, r.needed_on_one_node));
  const std::string most = format_gpu(on_one_node(workload, r.most_free_on_one_node));
  switch (r.code) {
    case ReasonCode::kNone:
      return {"Nothing keeps it from starting.", ""};
    case ReasonCode::kNotPlannedYet:
      return {"It is new: the scheduler looks at it in its next round.", ""};
    case ReasonCode::kNoSuchPool:
      return {"No pool that it accepts has any nodes.", "heddle pools shows what there is."};
    case ReasonCode::kNeverFits:
      return {"Nothing in pool " + pool + " could ever hold it: it needs " + needed +
                  " on one node, and " + gpus(r.asked) + " in all.",
              "Ask for fewer GPUs on each node, or for another pool: heddle nodes"};
    case ReasonCode::kTeamLimit:
      return limit_words(workload, r, team == nullptr ? "" : team->name, pool);
    case ReasonCode::kNoFreeDevices:
      return {"Not enough GPUs are free in pool " + pool + ": it asks for " + format_gpu(r.asked) +
                  "; " + who_holds(r) + ".",
              "It starts when enough of them are given back."};
    case ReasonCode::kFragmented:
      return {(one ? "No node has " + needed + " free together"
                   : "There are not enough nodes with " + needed + " free together") +
                  " in pool " + pool + ": most free on one is " + most + "; " + who_holds(r) + ".",
              "With fewer GPUs on each node it may start sooner."};
    case ReasonCode::kNoFreeCpuOrMemory:
      return {"GPUs are free in pool " + pool +
                  ", but their nodes lack the processors or the memory that it asks for.",
              "Ask for less processors or memory, or leave them out for the usual part of a node."};
    case ReasonCode::kBehindOthers:
      return {
          "What is free in pool " + pool + " goes to work ahead of it first; " + who_holds(r) + ".",
          "heddle ps shows your own order; a higher --priority moves it within your team."};
    case ReasonCode::kDeviceNotShareable:
      return {"What is free in pool " + pool +
                  " lies on GPUs that other teams use in part, and teams do not share a GPU here.",
              "It starts when a GPU of its own, or of your team, has room."};
    case ReasonCode::kStepBudget:
      return {"The scheduler had too much to look at; it comes to this one next.", ""};
  }
  return {};
}

void write_reason(JsonWriter& json, std::string_view name, const State& state,
                  const Workload& workload, const Reason& reason) {
  const ReasonWords words = words_for(state, workload, reason);
  const Pool* pool = state.pools().find(reason.pool);
  if (name.empty())
    json.open();
  else
    json.open(name, '{');
  json.text("code", name_of(reason.code))
      .text("sentence", words.sentence)
      .text("next", words.next)
      .id("pool_id", reason.pool)
      .text_or_null("pool_name", pool == nullptr ? "" : pool->name)
      .open("numbers", '{')
      .number("asked_gpu_milli", reason.asked.as_milli())
      .number("held_by_team_gpu_milli", reason.held_by_team.as_milli());
  if (reason.limit < GpuAmount::milli(GpuAmount::kMaxMilli))
    json.number("limit_gpu_milli", reason.limit.as_milli());
  json.number("guarantee_gpu_milli", reason.guarantee.as_milli())
      .number("usable_gpu_milli", reason.usable.as_milli())
      .number("free_gpu_milli", reason.free.as_milli())
      .number("most_free_on_one_node_gpu_milli",
              on_one_node(workload, reason.most_free_on_one_node).as_milli())
      .number("needed_on_one_node_gpu_milli",
              on_one_node(workload, reason.needed_on_one_node).as_milli())
      .close()
      .close();
}

}  // namespace heddle::api
