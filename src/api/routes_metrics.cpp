// Metrics in the Prometheus text format.
#include <map>

#include "api/call.h"
#include "api/counters.h"
#include "api/route.h"
#include "api/wire/names.h"

namespace heddle::api {
namespace {

// Label values here are names of ours ([a-z0-9-] and route templates), so nothing needs escaping.
class Exposition {
 public:
  void family(std::string_view name, std::string_view type, std::string_view help) {
    name_ = name;
    out_ += "# HELP " + name_ + " " + std::string{help} + "\n# TYPE " + name_ + " " +
            std::string{type} + "\n";
  }
  void sample(const std::string& labels, std::int64_t value) {
    out_ += name_ + (labels.empty() ? "" : "{" + labels + "}") + " " + std::to_string(value) + "\n";
  }
  std::string take() { return std::move(out_); }

 private:
  std::string name_;
  std::string out_;
};

std::string label(std::string_view name, std::string_view value) {
  return std::string{name} + "=\"" + std::string{value} + "\"";
}

void write_work(Exposition& out, const CallPtr& call) {
  const State& state = call->state();
  out.family("heddle_workloads", "gauge", "Live workloads of a team by state.");
  for (const TeamId team : call->rights->visible_teams()) {
    if (!call->rights->may(Action::kWorkloadRead, team)) continue;
    std::map<WorkloadState, std::int64_t> counts;
    const auto& index = state.team_workloads();
    for (auto at = index.lower_bound({team, WorkloadId{}});
         at != index.end() && at->key.first == team; ++at)
      if (const Workload* w = state.workloads().find(at->key.second)) ++counts[w->state];
    for (const auto& [s, n] : counts)
      out.sample(label("team", state.teams().find(team)->name) + "," +
                     label("state", wire::kWorkloadStates[static_cast<std::size_t>(s)]),
                 n);
  }
}

void write_held(Exposition& out, const CallPtr& call) {
  const State& state = call->state();
  out.family("heddle_team_held_gpu_milli", "gauge",
             "Thousandths of GPUs that a team holds in a pool.");
  for (const auto& [key, amount] : state.held()) {
    const Team* team = state.teams().find(key.team);
    const Pool* pool = state.pools().find(key.pool);
    if (team == nullptr || pool == nullptr || !call->rights->may(Action::kTeamRead, key.team))
      continue;
    out.sample(label("team", team->name) + "," + label("pool", pool->name), amount.as_milli());
  }
}

void write_server(Exposition& out, const CallPtr& call) {
  const View& view = *call->view;
  out.family("heddle_requests_total", "counter", "Answers by route and class of status.");
  const auto routes_of = routes();
  for (std::size_t row = 0; row <= routes_of.size(); ++row)
    for (std::size_t hundred = 1; hundred < 6; ++hundred) {
      const auto n = call->shared->counters->answers[row][hundred].load();
      if (n == 0) continue;
      out.sample(label("method", row == 0 ? "" : routes_of[row - 1].method) + "," +
                     label("route", row == 0 ? "none" : routes_of[row - 1].path) + "," +
                     label("status", std::to_string(hundred) + "xx"),
                 static_cast<std::int64_t>(n));
    }
  out.family("heddle_streams", "gauge", "Open event streams.");
  out.sample({}, static_cast<std::int64_t>(call->shared->followers.count()));
  out.family("heddle_store_stale", "gauge", "1 while the store cannot be written.");
  out.sample({}, view.stale ? 1 : 0);
  out.family("heddle_feed_seq", "counter", "Number of the newest event.");
  out.sample({}, view.last_feed_seq);
  out.family("heddle_live_workloads", "gauge", "Live workloads in all.");
  out.sample({}, static_cast<std::int64_t>(view.state.workloads().size()));
  out.family("heddle_live_allocations", "gauge", "Live allocations in all.");
  out.sample({}, static_cast<std::int64_t>(view.state.allocations().size()));
}

}  // namespace

void get_metrics(const CallPtr& call) {
  Faults faults;
  call->query.finish(faults);
  if (!faults.empty()) return call->fail(faults.error());
  Exposition out;
  write_work(out, call);
  write_held(out, call);
  if (call->rights->may(Action::kMetricsRead)) write_server(out, call);
  call->answer_raw({200,
                    {{"Content-Type", "text/plain; version=0.0.4; charset=utf-8"},
                     {"X-Request-Id", call->request_id},
                     {"Cache-Control", "no-store"}},
                    out.take()});
}

}  // namespace heddle::api
