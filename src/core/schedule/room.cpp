#include "core/schedule/room.h"

#include <algorithm>

#include "base/check.h"

namespace heddle {
namespace {

constexpr std::int64_t kWhole = GpuAmount::kMilliPerDevice;

// Look-ups in a map by keys that come in ascending order as a rule: then a step each, no search.
template <class Key, class Value>
class Walk {
 public:
  explicit Walk(const CowMap<Key, Value>& map) : map_{map}, at_{map.begin()} {}

  const Value* find(const Key& key) {
    if (key < last_ || too_far(key)) at_ = map_.lower_bound(key);
    last_ = key;
    return at_ != map_.end() && at_->key == key ? &at_->value : nullptr;
  }

 private:
  // Steps towards `key`; true when it is farther than a few steps.
  bool too_far(const Key& key) {
    for (int step = 0; step < 8; ++step) {
      if (at_ == map_.end() || !(at_->key < key)) return false;
      ++at_;
    }
    return at_ != map_.end() && at_->key < key;
  }

  const CowMap<Key, Value>& map_;
  typename CowMap<Key, Value>::const_iterator at_;  // first key not less than last_
  Key last_{};
};

}  // namespace

const std::set<SharedKey>& PoolRoom::shared() const {
  if (shared_) return *shared_;
  std::vector<SharedKey> keys;
  for (std::size_t node = 0; node < nodes.size(); ++node) {
    const auto count = static_cast<std::size_t>(nodes[node].size.devices);
    for (std::size_t n = 0; n < count; ++n) {
      const std::size_t device = nodes[node].first_device + n;
      const std::int64_t left = devices[device].free_milli;
      if (left > 0 && left < kWhole) keys.push_back(shared_key(node, device));
    }
  }
  std::ranges::sort(keys);
  shared_.emplace(keys.begin(), keys.end());
  return *shared_;
}

SharedKey PoolRoom::shared_key(std::size_t node, std::size_t device) const {
  const RoomDevice& d = devices[device];
  return {shared_under(d.holder), d.free_milli, node, device};
}

void PoolRoom::take(const Take& take, TeamId team) {
  Undo undo{take, {}};
  std::int64_t opened = 0;
  for (const Take::Part& part : take.parts) {
    const RoomDevice& device = devices[part.device];
    HEDDLE_CHECK(part.milli > 0 && part.milli <= device.free_milli);
    undo.holders.push_back(device.holder);
    const bool was_free = device.free_milli == kWhole;
    opened += was_free ? 1 : 0;
    set_device(take.node, part.device, device.free_milli - part.milli,
               was_free || device.holder == team ? team : TeamId{});
    free_milli -= part.milli;
  }
  move_node(take.node, nodes[take.node].free_devices - opened, take.beside, -1);
  undo_.push_back(std::move(undo));
}

void PoolRoom::undo(std::size_t mark) {
  for (; undo_.size() > mark; undo_.pop_back()) {
    const auto& [take, holders] = undo_.back();
    std::int64_t closed = 0;
    for (std::size_t i = 0; i < take.parts.size(); ++i) {
      const Take::Part& part = take.parts[i];
      const std::int64_t left = devices[part.device].free_milli + part.milli;
      closed += left == kWhole ? 1 : 0;
      set_device(take.node, part.device, left, holders[i]);
      free_milli += part.milli;
    }
    move_node(take.node, nodes[take.node].free_devices + closed, take.beside, 1);
  }
}

void PoolRoom::set_device(std::size_t node, std::size_t device, std::int64_t left, TeamId holder) {
  if (shared_) shared_->erase(shared_key(node, device));
  devices[device].free_milli = left;
  devices[device].holder = holder;
  if (shared_ && left > 0 && left < kWhole) shared_->insert(shared_key(node, device));
}

void PoolRoom::move_node(std::size_t at, std::int64_t free_devices, const Beside& less, int sign) {
  RoomNode& node = nodes[at];
  if (node.size.devices == 0) by_free_cpu_.erase({node.free_cpu_milli, at});
  node.free_cpu_milli += sign * less.cpu_milli;
  node.free_memory_bytes += sign * less.memory_bytes;
  if (node.size.devices == 0) {
    by_free_cpu_.insert({node.free_cpu_milli, at});
  } else if (node.free_devices != free_devices) {
    by_free_devices_[static_cast<std::size_t>(node.free_devices)].erase(at);
    by_free_devices_[static_cast<std::size_t>(free_devices)].insert(at);
    node.free_devices = free_devices;
  }
}

void PoolRoom::file_nodes() {
  for (std::size_t at = 0; at < nodes.size(); ++at) {
    RoomNode& node = nodes[at];
    if (node.size.devices == 0) {
      by_free_cpu_.insert({node.free_cpu_milli, at});
      continue;
    }
    for (std::size_t n = 0; n < static_cast<std::size_t>(node.size.devices); ++n) {
      const RoomDevice& device = devices[node.first_device + n];
      node.free_devices += device.free_milli == kWhole ? 1 : 0;
      free_milli += device.free_milli;
    }
    const auto bucket = static_cast<std::size_t>(node.free_devices);
    const auto buckets = static_cast<std::size_t>(node.size.devices) + 1;
    if (by_free_devices_.size() < buckets) by_free_devices_.resize(buckets);
    by_free_devices_[bucket].insert(at);
  }
}

Room::Room(const State& state, const std::vector<PoolId>& pools, bool share_across_teams) {
  pools_.resize(pools.size());
  for (PoolRoom& pool : pools_) pool.share_across_teams_ = share_across_teams;
  if (pools_.size() == 1) {
    pools_[0].nodes.reserve(state.nodes().size());
    pools_[0].devices.reserve(state.device_nodes().size());
  }
  Walk node_use{state.node_use()};
  Walk device_use{state.device_use()};
  for (const auto& [id, node] : state.nodes()) {
    const auto found = std::ranges::lower_bound(pools, node.pool);
    if (found == pools.end() || *found != node.pool) continue;
    PoolRoom& pool = pools_[static_cast<std::size_t>(found - pools.begin())];
    pool.has_nodes = true;
    if (node.state == NodeState::kLost) continue;
    const auto device_count = static_cast<std::int64_t>(node.devices.size());
    const NodeSize size{device_count, node.cpu_milli, node.memory_bytes};
    const std::int64_t memory = node.devices.empty() ? 0 : node.devices.front().memory_bytes;
    ++pool.kinds[{size, memory}];
    for (const Device& device : node.devices)
      pool.device_memory_bytes = std::max(pool.device_memory_bytes, device.memory_bytes);
    if (node.state != NodeState::kReady) continue;

    const NodeUse* used = node_use.find(id);
    const NodeUse taken = used != nullptr ? *used : NodeUse{};
    pool.nodes.push_back({id, size, pool.devices.size(), 0, node.cpu_milli - taken.cpu_milli,
                          node.memory_bytes - taken.memory_bytes});
    for (const Device& device : node.devices) {
      const std::int64_t whole = device.health == DeviceHealth::kHealthy ? kWhole : 0;
      const DeviceUse* use = device_use.find(device.id);
      const std::int64_t milli = use != nullptr ? use->used.as_milli() : 0;
      const TeamId holder = use != nullptr ? use->team : TeamId{};
      pool.devices.push_back(
          {device.id, std::max<std::int64_t>(0, whole - milli), holder, device.memory_bytes});
      pool.usable_milli += whole;
    }
  }
  for (PoolRoom& pool : pools_) pool.file_nodes();
}

}  // namespace heddle
