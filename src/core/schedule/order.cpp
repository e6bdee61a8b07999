#include "core/schedule/order.h"

#include "base/check.h"

namespace heddle {

bool ComesBefore::operator()(const Turn& a, const Turn& b) const {
  __extension__ using Wide = __int128;
  if (a.above_guarantee != b.above_guarantee) return b.above_guarantee;
  if (a.rank != b.rank) return a.rank > b.rank;
  const Wide load_a = Wide{a.held_milli} * b.weight;
  const Wide load_b = Wide{b.held_milli} * a.weight;
  if (load_a != load_b) return load_a < load_b;
  if (a.team != b.team) return a.team < b.team;
  return a.pool < b.pool;
}

GpuAmount Turns::asked(const Group& group, std::size_t pool) const {
  return asked_of(*group.shape, room_.pool(pool).device_memory_bytes);
}

std::optional<std::size_t> Turns::counts_in(const Group& group) const {
  for (const PoolId id : group.shape->pools) {
    const auto pool = ledger_.pool_index(id);
    if (pool && !ledger_.over_limit(group.team, *pool, asked(group, *pool))) return pool;
  }
  return std::nullopt;
}

bool Turns::add(std::size_t number) {
  const Group& group = groups_[number];
  const WaitingKey* head = head_of(state_, group);
  HEDDLE_CHECK(head != nullptr);
  const auto pool = counts_in(group);
  if (!pool) return false;
  lines_[{group.team, *pool}].heads.insert({head->work_class, head->minus_priority,
                                            head->submitted_at, head->id, number,
                                            asked(group, *pool)});
  rank_again(group.team, *pool);
  return true;
}

std::optional<std::size_t> Turns::next() {
  while (!turns_.empty()) {
    const Turn turn = *turns_.begin();
    Line& line = lines_.at({turn.team, turn.pool});
    const std::size_t group = line.heads.begin()->group;
    line.heads.erase(line.heads.begin());
    rank_again(turn.team, turn.pool);
    // At its limit everywhere by now: its turn comes all the same, and it is found out there.
    if (counts_in(groups_[group]) == turn.pool || !add(group)) return group;
  }
  return std::nullopt;
}

void Turns::refresh(std::size_t team, std::size_t pool) {
  rank_again(team, pool);
  if (const auto above = ledger_.above(team)) refresh(*above, pool);
}

void Turns::rank_again(std::size_t team, std::size_t pool) {
  const auto found = lines_.find({team, pool});
  if (found == lines_.end()) return;
  Line& line = found->second;
  if (line.turn) turns_.erase(*line.turn);
  line.turn.reset();
  if (line.heads.empty()) return;
  const Share& share = ledger_.share(team, pool);
  const GpuAmount held = ledger_.held(team, pool);
  const bool above = held + line.heads.begin()->asked > share.guarantee;
  line.turn = Turn{above, share.rank, held.as_milli(), share.weight, team, pool};
  turns_.insert(*line.turn);
}

}  // namespace heddle
