#include "core/model/draft.h"

namespace heddle {
namespace {

template <class Map>
void move_values(Map& from, std::vector<PutRow>& to) {
  for (auto& [key, value] : from) to.emplace_back(std::move(value));
  from.clear();
}

template <class Map>
void move_keys(Map& from, std::vector<ErasedRow>& to) {
  for (auto& [key, gone] : from)
    if (gone) to.emplace_back(key);
  from.clear();
}

}  // namespace

void Draft::put(Team team) {
  teams_.insert_or_assign(team.id, team);
  state_.put(std::move(team));
}

void Draft::put(User user) {
  users_.insert_or_assign(user.id, user);
  state_.put(std::move(user));
}

void Draft::put(Member member) {
  erased_members_.erase(member.key);
  members_.insert_or_assign(member.key, member);
  state_.put(std::move(member));
}

void Draft::put(Token token) {
  erased_tokens_.erase(token.id);
  tokens_.insert_or_assign(token.id, token);
  state_.put(std::move(token));
}

void Draft::put(Site site) {
  sites_.insert_or_assign(site.id, site);
  state_.put(std::move(site));
}

void Draft::put(Pool pool) {
  pools_.insert_or_assign(pool.id, pool);
  state_.put(std::move(pool));
}

void Draft::put(Node node) {
  erased_nodes_.erase(node.id);
  nodes_.insert_or_assign(node.id, node);
  state_.put(std::move(node));
}

void Draft::put(Share share) {
  shares_.insert_or_assign(share.key, share);
  state_.put(std::move(share));
}

void Draft::put(Workload workload) {
  workloads_.insert_or_assign(workload.id, workload);
  if (has_ended(workload.state))
    state_.erase(workload.id);
  else
    state_.put(std::move(workload));
}

void Draft::put(Allocation allocation) {
  allocations_.insert_or_assign(allocation.id, allocation);
  if (allocation.state == AllocationState::kReleased)
    state_.erase(allocation.id);
  else
    state_.put(std::move(allocation));
}

void Draft::erase(const MemberKey& key) {
  members_.erase(key);
  erased_members_[key] = true;
  state_.erase(key);
}

void Draft::erase(TokenId id) {
  tokens_.erase(id);
  erased_tokens_[id] = true;
  state_.erase(id);
}

void Draft::erase(NodeId id) {
  nodes_.erase(id);
  erased_nodes_[id] = true;
  state_.erase(id);
}

Changes Draft::take_changes() {
  Changes changes;
  move_values(teams_, changes.puts);
  move_values(users_, changes.puts);
  move_values(members_, changes.puts);
  move_values(tokens_, changes.puts);
  move_values(sites_, changes.puts);
  move_values(pools_, changes.puts);
  move_values(nodes_, changes.puts);
  move_values(shares_, changes.puts);
  move_values(workloads_, changes.puts);
  move_values(allocations_, changes.puts);
  move_keys(erased_members_, changes.erased);
  move_keys(erased_tokens_, changes.erased);
  move_keys(erased_nodes_, changes.erased);
  return changes;
}

}  // namespace heddle
