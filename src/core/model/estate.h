// Sites, pools, nodes and devices: what there is to share.
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <vector>

#include "base/gpu_amount.h"
#include "base/money.h"
#include "base/time.h"
#include "core/model/ids.h"

namespace heddle {

// What an engine can promise; what it cannot is refused by name or shown as `not enforced`.
struct EngineTraits {
  bool isolates_jobs = false;         // tenants cannot see or reach each other
  bool fences_device_memory = false;  // a fraction cannot use more than its memory
  bool places_device = false;         // the plan's device is the device that is used
  bool limits_memory = false;
  bool limits_processes = false;
  bool wipes_devices = false;      // device memory is wiped before another team gets it
  std::vector<std::string> notes;  // each a sentence for people about what is missing
  friend bool operator==(const EngineTraits&, const EngineTraits&) = default;
};

struct Site {
  SiteId id;
  std::string name;
  std::string engine;  // local, slurm, kubernetes, fake
  EngineTraits traits;
  Instant created_at;
  Instant updated_at;
  std::int64_t version = 1;
  friend bool operator==(const Site&, const Site&) = default;
};

// Nodes of one site with the same hardware shape.
struct Pool {
  PoolId id;
  SiteId site;
  std::string name;          // such as h100; `cpu` for nodes without GPUs
  std::string device_model;  // such as H100-80GB; empty in pool `cpu`
  std::int64_t device_memory_bytes = 0;
  Money price_per_gpu_hour{1'000'000};
  Instant created_at;
  Instant updated_at;
  std::int64_t version = 1;
  friend bool operator==(const Pool&, const Pool&) = default;
};

enum class DeviceHealth : std::uint8_t { kHealthy, kSick };

// One physical GPU. Its UUID is its identity, never its index.
struct Device {
  DeviceId id;
  std::string uuid;
  std::int64_t memory_bytes = 0;
  DeviceHealth health = DeviceHealth::kHealthy;
  friend bool operator==(const Device&, const Device&) = default;
};

// ready: takes work. draining: keeps its work, takes no new. lost: not heard of.
enum class NodeState : std::uint8_t { kReady, kDraining, kLost };
inline constexpr int kNodeStateCount = 3;

struct Node {
  NodeId id;
  SiteId site;
  PoolId pool;
  std::string name;
  NodeState state = NodeState::kReady;
  bool simulated = false;
  std::int64_t cpu_milli = 0;
  std::int64_t memory_bytes = 0;
  std::vector<Device> devices;  // ascending by id
  Instant created_at;
  Instant updated_at;
  std::int64_t version = 1;
  friend bool operator==(const Node&, const Node&) = default;
};

struct ShareKey {
  TeamId team;
  PoolId pool;
  friend constexpr auto operator<=>(const ShareKey&, const ShareKey&) = default;
};

// What a level of the tree is promised in a pool, its ceiling, and its part of the surplus.
struct Share {
  ShareKey key;
  GpuAmount guarantee;
  GpuAmount limit = GpuAmount::milli(GpuAmount::kMaxMilli);  // kMaxMilli: none
  std::int64_t weight = 1;  // 1..kWeight; twice the weight, twice the surplus
  std::int64_t rank = 0;    // higher is served first from the surplus
  std::int64_t version = 1;
  friend bool operator==(const Share&, const Share&) = default;
};

}  // namespace heddle
