// Place: every replica of a workload in one pool, or none.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "core/schedule/fit.h"
#include "core/schedule/room.h"

namespace heddle {

// The looks that one round may take. What does not fit into them waits for another round.
class Steps {
 public:
  explicit Steps(std::int64_t budget) : budget_{budget} {}

  // Counts one look; false when the budget is used up.
  bool look() {
    if (used_ >= budget_) return false;
    ++used_;
    return true;
  }
  bool exhausted() const { return used_ >= budget_; }
  std::int64_t used() const { return used_; }

 private:
  std::int64_t budget_;
  std::int64_t used_ = 0;
};

// What has failed in this pool and round. Room only shrinks, so it need not be tried again, nor a
// larger gang of the same request. Whole requests are the same for every team (team unset).
class Failed {
 public:
  bool known(const Shape& shape, TeamId team) const;
  void note(const Shape& shape, TeamId team);

 private:
  struct Key {
    TeamId team;
    Request request;
    friend auto operator<=>(const Key&, const Key&) = default;
  };
  static Key key(const Shape& shape, TeamId team);
  std::map<Key, std::int64_t> replicas_;  // the smallest gang that failed
};

// Takes room for all replicas, in order of replica, and returns what each takes; or takes nothing
// and returns nullopt (also when the steps ran out, then steps.exhausted()).
//
// Best fit: a part of a device goes to the fullest device that fits, several parts to the node that
// opens the fewest free devices; whole devices to the node with the fewest free devices that fits;
// work without GPUs to the node with the least free CPU that fits. Replicas may share a node. Ties
// go to the lower id.
std::optional<std::vector<Take>> place(PoolRoom& room, const Shape& shape, TeamId team,
                                       Steps& steps);

}  // namespace heddle
