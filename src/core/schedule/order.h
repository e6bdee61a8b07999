// Order: whose turn is it?
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "core/schedule/groups.h"
#include "core/schedule/ledger.h"
#include "core/schedule/room.h"

namespace heddle {

// What decides between two teams, from the first difference on:
//   1. who stays within its guarantee with its next workload counted, first
//   2. higher rank first
//   3. smaller held / weight first (compared by cross multiplication)
//   4. lower team id, then lower pool id
// Amounts are those of the pool in which the team's next workload counts.
struct Turn {
  bool above_guarantee = false;
  std::int64_t rank = 0;
  std::int64_t held_milli = 0;
  std::int64_t weight = 1;
  std::size_t team = 0;
  std::size_t pool = 0;
};
struct ComesBefore {
  bool operator()(const Turn& a, const Turn& b) const;
};

// The line of everything that waits. Within a team: class, priority, time of submission, id. A
// workload counts in the first pool that it accepts with room under the limit.
class Turns {
 public:
  // All four outlive the line.
  Turns(const State& state, const Ledger& ledger, const Room& room,
        const std::vector<Group>& groups)
      : state_{state}, ledger_{ledger}, room_{room}, groups_{groups} {}

  // Puts group number `number` in line; false when no pool that it accepts has room under the
  // limit. The group has a head, and stays where it is while it is in line.
  bool add(std::size_t number);

  // Takes the group whose turn it is out of the line. Who counts in another pool by now, because
  // a limit was reached meanwhile, is put in line there first.
  std::optional<std::size_t> next();

  // What `team` holds in `pool` has changed, and so for every level above it.
  void refresh(std::size_t team, std::size_t pool);

 private:
  struct Head {
    WorkloadClass work_class;
    std::int64_t minus_priority;
    Instant submitted_at;
    WorkloadId id;
    std::size_t group;
    GpuAmount asked;
    friend constexpr auto operator<=>(const Head&, const Head&) = default;
  };
  struct Line {
    std::set<Head> heads;
    std::optional<Turn> turn;  // where it stands in turns_
  };
  void rank_again(std::size_t team, std::size_t pool);
  std::optional<std::size_t> counts_in(const Group& group) const;
  GpuAmount asked(const Group& group, std::size_t pool) const;

  const State& state_;
  const Ledger& ledger_;
  const Room& room_;
  const std::vector<Group>& groups_;
  std::map<std::pair<std::size_t, std::size_t>, Line> lines_;  // (team, pool)
  std::set<Turn, ComesBefore> turns_;
};

}  // namespace heddle
