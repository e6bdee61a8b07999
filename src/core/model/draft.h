// Draft: a State being changed, with the list of what changed.
#pragma once

#include <map>
#include <variant>
#include <vector>

#include "core/model/state.h"

namespace heddle {

// A row as it now is, or the key of a row that is gone.
using PutRow =
    std::variant<Team, User, Member, Token, Site, Pool, Node, Share, Workload, Allocation>;
using ErasedRow = std::variant<MemberKey, TokenId, NodeId, AllocationId>;

// The rows of one transaction, in a fixed order: by table, then by key. A workload that ended and
// an allocation that was released are put one last time with their final values; they leave the
// live State and the store keeps them as ended.
struct Changes {
  std::vector<PutRow> puts;
  std::vector<ErasedRow> erased;
  bool empty() const { return puts.empty() && erased.empty(); }
};

// The only way to change a State. Throw the Draft away to undo.
class Draft {
 public:
  explicit Draft(State state) : state_{std::move(state)} {}

  const State& state() const { return state_; }

  // Sets the row with that key. A workload in an ended state leaves the live State; so does an
  // allocation that is released. References into state() die.
  void put(Team team);
  void put(User user);
  void put(Member member);
  void put(Token token);
  void put(Site site);
  void put(Pool pool);
  void put(Node node);
  void put(Share share);
  void put(Workload workload);
  void put(Allocation allocation);
  void erase(const MemberKey& key);
  void erase(TokenId id);
  void erase(NodeId id);  // it holds nothing

  // What changed since the start or the last call, each row once, as it now is.
  Changes take_changes();

 private:
  State state_;
  std::map<TeamId, Team> teams_;
  std::map<UserId, User> users_;
  std::map<MemberKey, Member> members_;
  std::map<TokenId, Token> tokens_;
  std::map<SiteId, Site> sites_;
  std::map<PoolId, Pool> pools_;
  std::map<NodeId, Node> nodes_;
  std::map<ShareKey, Share> shares_;
  std::map<WorkloadId, Workload> workloads_;
  std::map<AllocationId, Allocation> allocations_;
  std::map<MemberKey, bool> erased_members_;
  std::map<TokenId, bool> erased_tokens_;
  std::map<NodeId, bool> erased_nodes_;
};

}  // namespace heddle
