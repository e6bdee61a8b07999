// RowMaker: random rows of every kind, biased to the edges of what a row may hold.
#pragma once

#include <cstdint>
#include <string>

#include "base/rng.h"
#include "core/model/state.h"

namespace heddle::conformance {

class RowMaker {
 public:
  explicit RowMaker(std::uint64_t seed) : rng{seed} {}

  // Between low and high, often at or beside the ends, zero or a power of two.
  std::int64_t edge(std::int64_t low, std::int64_t high);
  // Valid UTF-8 with quotes, control characters, zero bytes and far planes in it; rarely of
  // `bytes_max` bytes, mostly short.
  std::string text(std::size_t bytes_max);
  Instant at();

  Team team(TeamId id, std::int64_t slot);
  User user(UserId id);
  Member member(MemberKey key);
  Token token(TokenId id, UserId user);
  Site site(SiteId id);
  Pool pool(PoolId id, SiteId site);
  // Devices get the ids after `id`.
  Node node(NodeId id, SiteId site, PoolId pool, std::int64_t devices);
  Share share(ShareKey key);
  WorkloadSpec spec(std::string name, PoolId pool);
  // All that may change of a workload, for a new one or one that goes on.
  void change(Workload& workload, WorkloadState state);
  Allocation allocation(AllocationId id, const Workload& workload, const Node& node);
  void change(Allocation& allocation, AllocationState state);

  Rng rng;

 private:
  template <class E>
  E any_of(int count) {
    return static_cast<E>(rng.between(0, count - 1));
  }
  EndFact end_fact();
};

}  // namespace heddle::conformance
