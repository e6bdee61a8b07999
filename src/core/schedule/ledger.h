// Ledger: what every level of the tree holds in every pool during one planning round.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "base/gpu_amount.h"
#include "core/model/ids.h"
#include "core/model/state.h"

namespace heddle {

// State counts a team's own work only; here each level counts everything below it too, because
// guarantee and limit of a level are promises about its whole subtree. Teams and pools are numbered
// densely, ascending by id.
class Ledger {
 public:
  // `pools`: ascending; only these are kept. A team without a row counts as a top-level team
  // without a share. The tree has no ring (HEDDLE_CHECK).
  Ledger(const State& state, std::vector<PoolId> pools);

  std::size_t team_index(TeamId id) const;
  TeamId team_id(std::size_t team) const { return teams_[team]; }
  std::optional<std::size_t> pool_index(PoolId id) const;
  std::size_t pool_count() const { return pools_.size(); }

  // The level itself and everything below it.
  GpuAmount held(std::size_t team, std::size_t pool) const { return cell(team, pool).held; }
  const Share& share(std::size_t team, std::size_t pool) const { return cell(team, pool).share; }

  // The level above, if there is one.
  std::optional<std::size_t> above(std::size_t team) const;

  // The first level, from the team upwards, whose limit `more` would pass; nullopt when all hold.
  std::optional<std::size_t> over_limit(std::size_t team, std::size_t pool, GpuAmount more) const;

  // The team starts something: counted at it and at every level above.
  void charge(std::size_t team, std::size_t pool, GpuAmount more);

 private:
  struct Cell {
    Share share;
    GpuAmount held;
  };
  const Cell& cell(std::size_t team, std::size_t pool) const {
    return cells_[team * pools_.size() + pool];
  }

  std::vector<TeamId> teams_;  // ascending
  std::vector<PoolId> pools_;  // ascending
  std::vector<std::size_t> above_;
  std::vector<Cell> cells_;  // team-major
};

}  // namespace heddle
