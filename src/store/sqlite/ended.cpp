// Pages of ended workloads: a merge of runs that the indexes give in descending order, one for each
// (team, state). Every run is read in small bites, so a page costs about as many index entries as
// there are runs plus rows on the page, however much has ended and whoever asks.
#include <algorithm>
#include <queue>
#include <utility>

#include "store/sqlite/records.h"
#include "store/sqlite/rows.h"

namespace heddle::sqlite {
namespace {

struct Run {
  TeamId team;
  WorkloadState state = WorkloadState::kSucceeded;
  std::int64_t below = 0;
  std::vector<std::int64_t> bite;  // ids ascending: the next one is at the back
  bool at_end = false;
};

void read_bite(Connection& connection, const std::string& name, std::int64_t size, Run& run) {
  const auto query =
      name.empty() ? connection.query(kEndedIds, run.team, run.state, run.below, size)
                   : connection.query(kEndedIdsNamed, run.team, name, run.state, run.below, size);
  std::int64_t id = 0;
  while (query->next()) {
    query->take(id);
    run.bite.push_back(id);
  }
  run.at_end = static_cast<std::int64_t>(run.bite.size()) < size;
  if (!run.bite.empty()) run.below = run.bite.back();
  std::ranges::reverse(run.bite);
}

std::vector<Run> runs_of(const EndedQuery& query) {
  constexpr auto kTop = static_cast<std::uint64_t>(INT64_MAX);
  const bool from_top = !query.below.is_set() || query.below.value > kTop;
  const auto below = static_cast<std::int64_t>(from_top ? kTop : query.below.value);
  std::vector<TeamId> teams = query.teams;
  std::ranges::sort(teams);
  teams.erase(std::unique(teams.begin(), teams.end()), teams.end());
  std::vector<Run> runs;
  for (const TeamId team : teams) {
    if (team.value > kTop) continue;
    for (const auto state :
         {WorkloadState::kSucceeded, WorkloadState::kFailed, WorkloadState::kCancelled})
      if (!query.state || *query.state == state) runs.push_back({team, state, below, {}, false});
  }
  return runs;
}

// The ids of the page, descending.
std::vector<std::int64_t> page_ids(Connection& connection, const EndedQuery& query) {
  std::vector<Run> runs = runs_of(query);
  if (runs.empty()) return {};
  const std::int64_t bite =
      std::max<std::int64_t>(4, query.limit / static_cast<std::int64_t>(runs.size()));
  std::priority_queue<std::pair<std::int64_t, std::size_t>> heads;
  auto refill = [&](std::size_t at) {
    Run& run = runs[at];
    if (run.bite.empty() && !run.at_end) read_bite(connection, query.name, bite, run);
    if (run.bite.empty()) return;
    heads.emplace(run.bite.back(), at);
    run.bite.pop_back();
  };
  for (std::size_t at = 0; at < runs.size(); ++at) refill(at);
  std::vector<std::int64_t> ids;
  while (!heads.empty() && static_cast<std::int64_t>(ids.size()) < query.limit) {
    const auto [id, at] = heads.top();
    heads.pop();
    ids.push_back(id);
    refill(at);
  }
  return ids;
}

}  // namespace

std::vector<Workload> read_ended_page(Connection& connection, const EndedQuery& query) {
  // One reading transaction, so that a row found in the index is still there when it is read.
  const Transaction moment{connection, Span::kRead};
  std::vector<Workload> page;
  for (const std::int64_t id : page_ids(connection, query)) {
    auto workload = read_ended(connection, {static_cast<std::uint64_t>(id)});
    if (workload) page.push_back(std::move(*workload));
  }
  return page;
}

}  // namespace heddle::sqlite
