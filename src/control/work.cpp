// Submit and cancel.
#include <memory>
#include <string>

#include "control/admission.h"
#include "control/commands.h"
#include "control/judge.h"
#include "control/lifecycle.h"
#include "core/access/access.h"

namespace heddle {
namespace {

std::int64_t live_count(const State& state, TeamId team, std::int64_t up_to) {
  std::int64_t count = 0;
  for (auto at = state.team_workloads().lower_bound({team, WorkloadId{}});
       at != state.team_workloads().end() && at->key.first == team && count < up_to; ++at)
    ++count;
  return count;
}

}  // namespace

Result<Outcome> submit_workload(Books& books, UserId actor, const SubmitWorkload& what,
                                const CommandLimits& limits) {
  const State& state = books.state();
  if (!state.teams().contains(what.team)) return not_found("team");
  if (const auto ok = judge(state, actor, Action::kWorkloadSubmit, what.team); !ok)
    return ok.error();
  if (state.workload_names().contains({what.team, what.spec->name}))
    return Error{ErrorCode::kConflict,
                 "A live workload of this team is called '" + what.spec->name + "' already.",
                 {{"/name", "taken", what.spec->name}},
                 {},
                 "Choose another name, or cancel the other one first."};
  auto pools = admissible_pools(state, what.team, what.spec->shape);
  if (!pools) return pools.error();
  if (what.dry_run) return Outcome{};

  auto spec = what.spec;
  if (spec->shape.pools != *pools) {
    auto complete = std::make_shared<WorkloadSpec>(*spec);
    complete->shape.pools = std::move(*pools);
    spec = std::move(complete);
  }
  // Counting stops at the cap, and only a team near it pays for more than a glance.
  if (static_cast<std::int64_t>(state.workloads().size()) >= limits.live_workloads_per_team &&
      live_count(state, what.team, limits.live_workloads_per_team) >=
          limits.live_workloads_per_team)
    return Error{ErrorCode::kRateLimited,
                 "This team has as much live work as one team may have.",
                 {},
                 {{"live_workloads_max", limits.live_workloads_per_team}},
                 "Wait until some of it has ended."};
  Workload workload;
  workload.id = books.new_id<WorkloadTag>();
  workload.team = what.team;
  workload.owner = actor;
  workload.spec = std::move(spec);
  workload.submitted_at = workload.waiting_since = books.now;
  books.blobs.insert(books.blobs.end(), what.blobs.begin(), what.blobs.end());
  books.tell(what.team, SubjectKind::kWorkload, workload.id.value, "submitted",
             workload.spec->name);
  const std::uint64_t id = workload.id.value;
  books.draft.put(std::move(workload));
  return Outcome{id, false, {}};
}

Result<Outcome> cancel_workload(Books& books, UserId actor, const CancelWorkload& what) {
  const State& state = books.state();
  const Workload* found = state.workloads().find(what.workload);
  // The edge answers for work that has ended already; here it is simply not live.
  if (found == nullptr) return not_found("live workload");
  if (!may(state, actor, Action::kWorkloadRead, found->team)) return not_found("live workload");
  if (const auto ok = judge(state, actor, Action::kWorkloadCancel, found->team); !ok)
    return ok.error();
  if (const auto ok = check_version(what.if_version, found->version); !ok) return ok.error();
  request_cancel(books, what.workload, actor);
  return Outcome{what.workload.value, false, {}};
}

}  // namespace heddle
