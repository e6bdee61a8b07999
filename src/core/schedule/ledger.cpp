#include "core/schedule/ledger.h"

#include <algorithm>
#include <limits>

#include "base/check.h"

namespace heddle {
namespace {

constexpr std::size_t kNoTeam = std::numeric_limits<std::size_t>::max();

// Every team of which the round may speak, ascending.
std::vector<TeamId> teams_of(const State& state) {
  std::vector<TeamId> teams;
  for (const auto& [id, team] : state.teams()) teams.push_back(id);
  for (const auto& [key, held] : state.held()) teams.push_back(key.team);
  const auto& waiting = state.waiting();
  for (auto at = waiting.begin(); at != waiting.end();) {
    teams.push_back(at->key.team);
    WaitingKey next;
    next.team = TeamId{at->key.team.value + 1};
    next.shape = std::numeric_limits<std::int64_t>::min();
    at = waiting.lower_bound(next);
  }
  std::ranges::sort(teams);
  const auto doubled = std::ranges::unique(teams);
  teams.erase(doubled.begin(), doubled.end());
  return teams;
}

}  // namespace

Ledger::Ledger(const State& state, std::vector<PoolId> pools)
    : teams_{teams_of(state)}, pools_{std::move(pools)} {
  above_.assign(teams_.size(), kNoTeam);
  for (std::size_t team = 0; team < teams_.size(); ++team) {
    const Team* row = state.teams().find(teams_[team]);
    if (row == nullptr || !row->parent.is_set()) continue;
    if (state.teams().contains(row->parent)) above_[team] = team_index(row->parent);
  }
  for (std::size_t team = 0; team < teams_.size(); ++team) {
    std::size_t levels = 0;
    for (std::size_t at = team; at != kNoTeam; at = above_[at])
      HEDDLE_CHECK(++levels <= teams_.size());
  }
  cells_.resize(teams_.size() * pools_.size());
  for (const auto& [key, share] : state.shares()) {
    const auto pool = pool_index(key.pool);
    if (pool && state.teams().contains(key.team))
      cells_[team_index(key.team) * pools_.size() + *pool].share = share;
  }
  for (const auto& [key, amount] : state.held())
    if (const auto pool = pool_index(key.pool)) charge(team_index(key.team), *pool, amount);
}

std::size_t Ledger::team_index(TeamId id) const {
  const auto at = std::ranges::lower_bound(teams_, id);
  HEDDLE_CHECK(at != teams_.end() && *at == id);
  return static_cast<std::size_t>(at - teams_.begin());
}

std::optional<std::size_t> Ledger::pool_index(PoolId id) const {
  const auto at = std::ranges::lower_bound(pools_, id);
  if (at == pools_.end() || *at != id) return std::nullopt;
  return static_cast<std::size_t>(at - pools_.begin());
}

std::optional<std::size_t> Ledger::above(std::size_t team) const {
  if (above_[team] == kNoTeam) return std::nullopt;
  return above_[team];
}

std::optional<std::size_t> Ledger::over_limit(std::size_t team, std::size_t pool,
                                              GpuAmount more) const {
  // Work that asks for no GPU is not GPU usage, so no limit stops it, not even a lowered one.
  if (more.is_zero()) return std::nullopt;
  for (std::size_t at = team; at != kNoTeam; at = above_[at]) {
    const Cell& level = cell(at, pool);
    const bool limited = level.share.limit.as_milli() < GpuAmount::kMaxMilli;
    if (limited && level.held + more > level.share.limit) return at;
  }
  return std::nullopt;
}

void Ledger::charge(std::size_t team, std::size_t pool, GpuAmount more) {
  for (std::size_t at = team; at != kNoTeam; at = above_[at])
    cells_[at * pools_.size() + pool].held += more;
}

}  // namespace heddle
