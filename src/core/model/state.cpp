#include "core/model/state.h"

#include <algorithm>
#include <vector>

#include "base/check.h"

namespace heddle {
namespace {

// Adds `change` to the value at `key`, dropping the entry when nothing is left, so that equal
// facts have equal indexes.
template <class Map, class Key, class Change>
void adjust(Map& map, const Key& key, Change change) {
  const auto* found = map.find(key);
  auto value = found != nullptr ? *found : std::decay_t<decltype(*found)>{};
  if (change(value))
    map.put(key, std::move(value));
  else
    map.erase(key);
}

}  // namespace

std::int64_t State::shape_number(const Shape& shape) const {
  const auto* number = shape_numbers_.find(shape);
  return number != nullptr ? *number : 0;
}

GpuAmount State::held(ShareKey key) const {
  const auto* amount = held_.find(key);
  return amount != nullptr ? *amount : GpuAmount{};
}

Share State::share(ShareKey key) const {
  const auto* share = shares_.find(key);
  if (share != nullptr) return *share;
  Share none;
  none.key = key;
  return none;
}

void State::put(Team team) {
  if (const Team* old = teams_.find(team.id)) team_names_.erase(old->name);
  team_names_.put(team.name, team.id);
  const TeamId id = team.id;
  teams_.put(id, std::move(team));
}

void State::put(User user) {
  if (const User* old = users_.find(user.id)) user_names_.erase(old->name);
  user_names_.put(user.name, user.id);
  const UserId id = user.id;
  users_.put(id, std::move(user));
}

void State::put(Member member) {
  const MemberKey key = member.key;
  members_.put(key, std::move(member));
}

void State::put(Token token) {
  const TokenId id = token.id;
  tokens_.put(id, std::move(token));
}

void State::put(Site site) {
  const SiteId id = site.id;
  sites_.put(id, std::move(site));
}

void State::put(Pool pool) {
  if (const Pool* old = pools_.find(pool.id)) pool_names_.erase(old->name);
  pool_names_.put(pool.name, pool.id);
  const PoolId id = pool.id;
  pools_.put(id, std::move(pool));
}

void State::put(Node node) {
  if (const Node* old = nodes_.find(node.id)) unindex(*old);
  index(node);
  const NodeId id = node.id;
  nodes_.put(id, std::move(node));
}

void State::put(Share share) {
  const ShareKey key = share.key;
  shares_.put(key, std::move(share));
}

void State::put(Workload workload) {
  if (const Workload* old = workloads_.find(workload.id)) unindex(*old);
  index(workload);
  const WorkloadId id = workload.id;
  workloads_.put(id, std::move(workload));
}

void State::put(Allocation allocation) {
  if (const Allocation* old = allocations_.find(allocation.id)) unindex(*old);
  index(allocation);
  const AllocationId id = allocation.id;
  allocations_.put(id, std::move(allocation));
}

void State::erase(const MemberKey& key) { members_.erase(key); }
void State::erase(TokenId id) { tokens_.erase(id); }

void State::erase(WorkloadId id) {
  const Workload* old = workloads_.find(id);
  if (old == nullptr) return;
  unindex(*old);
  workloads_.erase(id);
}

void State::erase(AllocationId id) {
  const Allocation* old = allocations_.find(id);
  if (old == nullptr) return;
  unindex(*old);
  allocations_.erase(id);
}

void State::erase(NodeId id) {
  const Node* old = nodes_.find(id);
  if (old == nullptr) return;
  unindex(*old);
  nodes_.erase(id);
}

WaitingKey State::waiting_key(const Workload& workload) {
  const Shape& shape = workload.spec->shape;
  std::int64_t number = shape_number(shape);
  if (number == 0) {
    number = next_shape_++;
    shape_numbers_.put(shape, number);
    shapes_.put(number, shape);
  }
  return {workload.team,         number,     workload.spec->work_class, -workload.spec->priority,
          workload.submitted_at, workload.id};
}

void State::index(const Workload& workload) {
  team_workloads_.put({workload.team, workload.id}, 0);
  workload_names_.put({workload.team, workload.spec->name}, workload.id);
  if (workload.state != WorkloadState::kWaiting) return;
  const WaitingKey key = waiting_key(workload);
  waiting_.put(key, 0);
  adjust(shape_waiters_, key.shape, [](std::int64_t& n) { return ++n > 0; });
}

void State::unindex(const Workload& workload) {
  team_workloads_.erase({workload.team, workload.id});
  workload_names_.erase({workload.team, workload.spec->name});
  if (workload.state != WorkloadState::kWaiting) return;
  const WaitingKey key = waiting_key(workload);
  waiting_.erase(key);
  adjust(shape_waiters_, key.shape, [](std::int64_t& n) { return --n > 0; });
  if (shape_waiters_.contains(key.shape)) return;
  shape_numbers_.erase(workload.spec->shape);
  shapes_.erase(key.shape);
}

void State::index(const Allocation& a) {
  workload_allocations_.put({a.workload, a.id}, 0);
  node_allocations_.put({a.node, a.id}, 0);
  if (a.deadline.is_set()) deadlines_.put({a.deadline, a.id}, 0);
  adjust(held_, ShareKey{a.team, a.pool}, [&](GpuAmount& held) {
    held += a.amount();
    return !held.is_zero();
  });
  adjust(node_use_, a.node, [&](NodeUse& use) {
    use.cpu_milli += a.cpu_milli;
    use.memory_bytes += a.memory_bytes;
    return use.cpu_milli != 0 || use.memory_bytes != 0;
  });
  for (const DeviceLease& lease : a.devices) {
    adjust(device_use_, lease.device, [&](DeviceUse& use) {
      use.team = use.holders == 0 || use.team == a.team ? a.team : TeamId{};
      use.used += lease.amount;
      ++use.holders;
      return true;
    });
  }
}

void State::unindex(const Allocation& a) {
  workload_allocations_.erase({a.workload, a.id});
  node_allocations_.erase({a.node, a.id});
  deadlines_.erase({a.deadline, a.id});
  adjust(held_, ShareKey{a.team, a.pool}, [&](GpuAmount& held) {
    held -= a.amount();
    return !held.is_zero();
  });
  adjust(node_use_, a.node, [&](NodeUse& use) {
    use.cpu_milli -= a.cpu_milli;
    use.memory_bytes -= a.memory_bytes;
    return use.cpu_milli != 0 || use.memory_bytes != 0;
  });
  for (const DeviceLease& lease : a.devices) {
    adjust(device_use_, lease.device, [&](DeviceUse& use) {
      use.used -= lease.amount;
      --use.holders;
      if (use.holders == 0) return false;
      // Which teams are left? Few share a device, and all of them are on this node.
      TeamId left;
      bool several = false;
      for (auto at = node_allocations_.lower_bound({a.node, AllocationId{}});
           at != node_allocations_.end() && at->key.first == a.node; ++at) {
        const Allocation& other = *allocations_.find(at->key.second);
        if (other.id == a.id) continue;
        const bool holds = std::ranges::any_of(
            other.devices, [&](const DeviceLease& d) { return d.device == lease.device; });
        if (!holds) continue;
        several = several || (left.is_set() && left != other.team);
        left = other.team;
      }
      use.team = several ? TeamId{} : left;
      return true;
    });
  }
}

void State::index(const Node& node) {
  node_names_.put(node.name, node.id);
  for (const Device& device : node.devices) {
    device_uuids_.put(device.uuid, {node.id, device.id});
    device_nodes_.put(device.id, node.id);
  }
}

void State::unindex(const Node& node) {
  node_names_.erase(node.name);
  for (const Device& device : node.devices) {
    device_uuids_.erase(device.uuid);
    device_nodes_.erase(device.id);
  }
}

State State::rebuilt() const {
  State fresh;
  for (const auto& [id, team] : teams_) fresh.put(team);
  for (const auto& [id, user] : users_) fresh.put(user);
  for (const auto& [key, member] : members_) fresh.put(member);
  for (const auto& [id, token] : tokens_) fresh.put(token);
  for (const auto& [id, site] : sites_) fresh.put(site);
  for (const auto& [id, pool] : pools_) fresh.put(pool);
  for (const auto& [id, node] : nodes_) fresh.put(node);
  for (const auto& [key, share] : shares_) fresh.put(share);
  for (const auto& [id, workload] : workloads_) fresh.put(workload);
  for (const auto& [id, allocation] : allocations_) fresh.put(allocation);
  return fresh;
}

bool State::same_facts(const State& a, const State& b) {
  return a.teams_ == b.teams_ && a.users_ == b.users_ && a.members_ == b.members_ &&
         a.tokens_ == b.tokens_ && a.sites_ == b.sites_ && a.pools_ == b.pools_ &&
         a.nodes_ == b.nodes_ && a.shares_ == b.shares_ && a.workloads_ == b.workloads_ &&
         a.allocations_ == b.allocations_;
}

bool State::same_indexes(const State& a, const State& b) {
  // Shape numbers are names only: compare what waits with the shape written out.
  auto waiting_by_shape = [](const State& s) {
    std::vector<std::pair<WaitingKey, Shape>> all;
    for (const auto& [key, none] : s.waiting_) {
      WaitingKey nameless = key;
      nameless.shape = 0;
      const Shape* shape = s.shapes_.find(key.shape);
      all.emplace_back(nameless, shape != nullptr ? *shape : Shape{});
    }
    std::ranges::sort(all);
    return all;
  };
  return waiting_by_shape(a) == waiting_by_shape(b) &&
         a.shape_numbers_.size() == b.shape_numbers_.size() &&
         a.shape_waiters_.size() == b.shape_waiters_.size() && a.held_ == b.held_ &&
         a.device_use_ == b.device_use_ && a.node_use_ == b.node_use_ &&
         a.workload_allocations_ == b.workload_allocations_ &&
         a.node_allocations_ == b.node_allocations_ && a.deadlines_ == b.deadlines_ &&
         a.team_workloads_ == b.team_workloads_ && a.workload_names_ == b.workload_names_ &&
         a.team_names_ == b.team_names_ && a.user_names_ == b.user_names_ &&
         a.pool_names_ == b.pool_names_ && a.node_names_ == b.node_names_ &&
         a.device_uuids_ == b.device_uuids_ && a.device_nodes_ == b.device_nodes_;
}

}  // namespace heddle
