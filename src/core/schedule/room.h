// Room: what is free during one planning round, as an overlay that can be rolled back.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "core/model/state.h"
#include "core/schedule/amounts.h"
#include "core/schedule/index_set.h"

namespace heddle {

struct RoomDevice {
  DeviceId id;
  std::int64_t free_milli = 0;  // 0 when sick
  TeamId holder;                // of a shared device; unset when free or held by several teams
  std::int64_t memory_bytes = 0;
};

struct RoomNode {
  NodeId id;
  NodeSize size;
  std::size_t first_device = 0;   // into PoolRoom::devices
  std::int64_t free_devices = 0;  // whole ones
  std::int64_t free_cpu_milli = 0;
  std::int64_t free_memory_bytes = 0;
};

// A shared device with something left. Open sharing files all of them under no team.
struct SharedKey {
  TeamId team;
  std::int64_t free_milli = 0;
  std::size_t node = 0;
  std::size_t device = 0;
  friend constexpr auto operator<=>(const SharedKey&, const SharedKey&) = default;
};

// What one replica takes of one node.
struct Take {
  struct Part {
    std::size_t device = 0;  // into PoolRoom::devices
    std::int64_t milli = 0;
  };
  std::size_t node = 0;
  std::vector<Part> parts;  // ascending by device
  Beside beside;
};

// How many nodes that are ready or draining, and so may give it one day, are of one size.
struct NodeKind {
  NodeSize size;
  std::int64_t device_memory_bytes = 0;
  friend constexpr auto operator<=>(const NodeKind&, const NodeKind&) = default;
};

// Ready nodes and healthy devices of one pool. Whole requests search nodes by the number of free
// devices, so best fit costs a look, not a walk. Room only shrinks, except by undo().
class PoolRoom {
 public:
  std::vector<RoomNode> nodes;  // ascending by id
  std::vector<RoomDevice> devices;
  std::map<NodeKind, std::int64_t> kinds;
  std::int64_t usable_milli = 0;
  std::int64_t free_milli = 0;
  std::int64_t device_memory_bytes = 0;  // the greatest of any device
  bool has_nodes = false;                // in whatever state

  // Nodes with devices, by free whole devices; nodes without devices, by free CPU.
  const std::vector<IndexSet>& by_free_devices() const { return by_free_devices_; }
  const std::set<std::pair<std::int64_t, std::size_t>>& by_free_cpu() const { return by_free_cpu_; }
  const std::set<SharedKey>& shared() const;  // made when first asked for

  // May `team` put a part of its work on the device?
  bool open_to(const RoomDevice& device, TeamId team) const {
    return device.free_milli == GpuAmount::kMilliPerDevice || share_across_teams_ ||
           (device.free_milli > 0 && device.holder == team);
  }
  // The team under which shared() files what `team` may use.
  TeamId shared_under(TeamId team) const { return share_across_teams_ ? TeamId{} : team; }

  std::size_t mark() const { return undo_.size(); }
  void take(const Take& take, TeamId team);
  void undo(std::size_t mark);
  void keep() { undo_.clear(); }  // what was taken stays taken

 private:
  friend class Room;
  struct Undo {
    Take take;
    std::vector<TeamId> holders;  // before, one per part
  };
  void set_device(std::size_t node, std::size_t device, std::int64_t free_milli, TeamId holder);
  void move_node(std::size_t node, std::int64_t free_devices, const Beside& less, int sign);
  void file_nodes();
  SharedKey shared_key(std::size_t node, std::size_t device) const;

  bool share_across_teams_ = false;
  std::vector<IndexSet> by_free_devices_;
  std::set<std::pair<std::int64_t, std::size_t>> by_free_cpu_;
  mutable std::optional<std::set<SharedKey>> shared_;
  std::vector<Undo> undo_;
};

class Room {
 public:
  // `pools`: ascending; the others are left out. Costs a walk over nodes and devices.
  Room(const State& state, const std::vector<PoolId>& pools, bool share_across_teams);

  PoolRoom& pool(std::size_t index) { return pools_[index]; }
  const PoolRoom& pool(std::size_t index) const { return pools_[index]; }

 private:
  std::vector<PoolRoom> pools_;
};

}  // namespace heddle
