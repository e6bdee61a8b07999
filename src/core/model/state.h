// State: everything that is live, with the indexes that planning and reading need.
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <utility>

#include "base/cow_map.h"
#include "base/gpu_amount.h"
#include "core/model/allocation.h"
#include "core/model/estate.h"
#include "core/model/ids.h"
#include "core/model/tenancy.h"
#include "core/model/workload.h"

namespace heddle {

// Place of a waiting workload. Workloads of one (team, shape) stand together, best first, so the
// planner looks at the head of each group only.
struct WaitingKey {
  TeamId team;
  std::int64_t shape = 0;  // ShapeIndex number
  WorkloadClass work_class = WorkloadClass::kProduction;
  std::int64_t minus_priority = 0;
  Instant submitted_at;
  WorkloadId id;
  friend constexpr auto operator<=>(const WaitingKey&, const WaitingKey&) = default;
};

// What is taken of one device. Whole: milli == 1000 by one holder.
struct DeviceUse {
  GpuAmount used;
  std::int64_t holders = 0;
  TeamId team;  // of the holders; unset when several teams share it
  friend bool operator==(const DeviceUse&, const DeviceUse&) = default;
};

struct NodeUse {
  std::int64_t cpu_milli = 0;
  std::int64_t memory_bytes = 0;
  friend bool operator==(const NodeUse&, const NodeUse&) = default;
};

// A value: copies are cheap and share what has not changed. Read freely; change only through
// Draft (core/model/draft.h), which keeps the indexes true and notes what must be stored.
class State {
 public:
  // ---- what is stored ----
  const CowMap<TeamId, Team>& teams() const { return teams_; }
  const CowMap<UserId, User>& users() const { return users_; }
  const CowMap<MemberKey, Member>& members() const { return members_; }
  const CowMap<TokenId, Token>& tokens() const { return tokens_; }
  const CowMap<SiteId, Site>& sites() const { return sites_; }
  const CowMap<PoolId, Pool>& pools() const { return pools_; }
  const CowMap<NodeId, Node>& nodes() const { return nodes_; }
  const CowMap<ShareKey, Share>& shares() const { return shares_; }
  const CowMap<WorkloadId, Workload>& workloads() const { return workloads_; }          // live ones
  const CowMap<AllocationId, Allocation>& allocations() const { return allocations_; }  // live

  // ---- derived, equal to what rebuilt() makes of the above ----
  const CowMap<WaitingKey, char>& waiting() const { return waiting_; }
  const CowMap<Shape, std::int64_t>& shape_numbers() const { return shape_numbers_; }
  const CowMap<std::int64_t, Shape>& shapes() const { return shapes_; }
  // Charged now, allocations of every live state counted. Teams count their own work only.
  const CowMap<ShareKey, GpuAmount>& held() const { return held_; }
  const CowMap<DeviceId, DeviceUse>& device_use() const { return device_use_; }
  const CowMap<NodeId, NodeUse>& node_use() const { return node_use_; }
  const CowMap<std::pair<WorkloadId, AllocationId>, char>& workload_allocations() const {
    return workload_allocations_;
  }
  const CowMap<std::pair<NodeId, AllocationId>, char>& node_allocations() const {
    return node_allocations_;
  }
  // When live allocations are due to leave their state, soonest first.
  const CowMap<std::pair<Instant, AllocationId>, char>& deadlines() const { return deadlines_; }
  const CowMap<std::pair<TeamId, WorkloadId>, char>& team_workloads() const {
    return team_workloads_;
  }
  const CowMap<std::pair<TeamId, std::string>, WorkloadId>& workload_names() const {
    return workload_names_;
  }
  const CowMap<std::string, TeamId>& team_names() const { return team_names_; }
  const CowMap<std::string, UserId>& user_names() const { return user_names_; }
  const CowMap<std::string, PoolId>& pool_names() const { return pool_names_; }
  const CowMap<std::string, NodeId>& node_names() const { return node_names_; }
  const CowMap<std::string, std::pair<NodeId, DeviceId>>& device_uuids() const {
    return device_uuids_;
  }
  const CowMap<DeviceId, NodeId>& device_nodes() const { return device_nodes_; }

  // The number of a live waiting shape, or 0.
  std::int64_t shape_number(const Shape& shape) const;
  GpuAmount held(ShareKey key) const;
  // The share of a team in a pool; guarantee 0, no limit, weight 1 where none was set.
  Share share(ShareKey key) const;

  // The same facts with every index made anew. Shape numbers may differ, so compare with
  // same_indexes().
  State rebuilt() const;
  static bool same_indexes(const State& a, const State& b);
  // Equal facts (the stored part), whatever the indexes say.
  static bool same_facts(const State& a, const State& b);

 private:
  friend class Draft;

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
  void erase(WorkloadId id);
  void erase(AllocationId id);
  void erase(NodeId id);

  void index(const Workload& workload);
  void unindex(const Workload& workload);
  void index(const Allocation& allocation);
  void unindex(const Allocation& allocation);
  void index(const Node& node);
  void unindex(const Node& node);
  WaitingKey waiting_key(const Workload& workload);

  CowMap<TeamId, Team> teams_;
  CowMap<UserId, User> users_;
  CowMap<MemberKey, Member> members_;
  CowMap<TokenId, Token> tokens_;
  CowMap<SiteId, Site> sites_;
  CowMap<PoolId, Pool> pools_;
  CowMap<NodeId, Node> nodes_;
  CowMap<ShareKey, Share> shares_;
  CowMap<WorkloadId, Workload> workloads_;
  CowMap<AllocationId, Allocation> allocations_;

  CowMap<WaitingKey, char> waiting_;
  CowMap<Shape, std::int64_t> shape_numbers_;
  CowMap<std::int64_t, Shape> shapes_;
  CowMap<std::int64_t, std::int64_t> shape_waiters_;  // number -> how many wait
  std::int64_t next_shape_ = 1;
  CowMap<ShareKey, GpuAmount> held_;
  CowMap<DeviceId, DeviceUse> device_use_;
  CowMap<NodeId, NodeUse> node_use_;
  CowMap<std::pair<WorkloadId, AllocationId>, char> workload_allocations_;
  CowMap<std::pair<NodeId, AllocationId>, char> node_allocations_;
  CowMap<std::pair<Instant, AllocationId>, char> deadlines_;
  CowMap<std::pair<TeamId, WorkloadId>, char> team_workloads_;
  CowMap<std::pair<TeamId, std::string>, WorkloadId> workload_names_;
  CowMap<std::string, TeamId> team_names_;
  CowMap<std::string, UserId> user_names_;
  CowMap<std::string, PoolId> pool_names_;
  CowMap<std::string, NodeId> node_names_;
  CowMap<std::string, std::pair<NodeId, DeviceId>> device_uuids_;
  CowMap<DeviceId, NodeId> device_nodes_;
};

}  // namespace heddle
