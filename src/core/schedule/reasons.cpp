#include "core/schedule/reasons.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <numeric>
#include <optional>

namespace heddle {
namespace {

__extension__ using Wide = __int128;

// How many replicas go onto one node's devices, CPU and memory left aside. `slots`: for each
// device, how often the part fits. A replica wants `wanted` different devices.
std::int64_t replicas_on(const std::vector<std::int64_t>& slots, std::int64_t wanted) {
  std::int64_t enough = 0;
  std::int64_t too_many = std::accumulate(slots.begin(), slots.end(), std::int64_t{0}) / wanted + 1;
  while (too_many - enough > 1) {
    const std::int64_t replicas = enough + (too_many - enough) / 2;
    std::int64_t parts = 0;
    for (const std::int64_t n : slots) parts += std::min(n, replicas);
    (parts >= wanted * replicas ? enough : too_many) = replicas;
  }
  return enough;
}

// Replicas of a request by parts over all nodes, on devices that `may_use` lets through.
template <class MayUse>
std::int64_t replicas_by_parts(const PoolRoom& room, const Request& request, MayUse may_use) {
  std::int64_t replicas = 0;
  std::vector<std::int64_t> slots;
  for (const RoomNode& node : room.nodes) {
    slots.clear();
    const auto end = node.first_device + static_cast<std::size_t>(node.size.devices);
    for (std::size_t at = node.first_device; at < end; ++at) {
      const RoomDevice& device = room.devices[at];
      if (!may_use(device)) continue;
      const std::int64_t each = milli_on_device(request, device.memory_bytes);
      if (each > 0) slots.push_back(device.free_milli / each);
    }
    replicas += replicas_on(slots, request.devices);
  }
  return replicas;
}

}  // namespace

Reason Reasons::of(const Group& group) {
  std::optional<Reason> best;
  for (const PoolId id : group.shape->pools) {
    const Reason reason = in_pool(group, id);
    if (!best || reason.code > best->code) best = reason;
  }
  return best ? *best : Reason{ReasonCode::kNoSuchPool, {}, {}, {}, {}, {}, {}, {}};
}

Reason Reasons::with_code(const Group& group, ReasonCode code) {
  Reason reason = of(group);
  reason.code = code;
  return reason;
}

Reason Reasons::in_pool(const Group& group, PoolId id) {
  Reason reason;
  reason.pool = id;
  const auto pool = ledger_.pool_index(id);
  if (!pool) {
    reason.code = ReasonCode::kNoSuchPool;
    return reason;
  }
  const PoolRoom& room = room_.pool(*pool);
  const Request& request = group.shape->request;
  reason.asked = asked_of(*group.shape, room.device_memory_bytes);
  reason.guarantee = ledger_.share(group.team, *pool).guarantee;
  const std::size_t level =
      ledger_.over_limit(group.team, *pool, reason.asked).value_or(group.team);
  reason.held_by_team = ledger_.held(level, *pool);
  reason.limit = ledger_.share(level, *pool).limit;
  reason.usable = GpuAmount::milli(room.usable_milli);
  reason.free = GpuAmount::milli(room.free_milli);
  if (well_formed(*group.shape)) {
    const bool whole = request.whole() || request.devices == 0;
    const std::int64_t each = whole ? 1 : milli_on_device(request, room.device_memory_bytes);
    reason.most_free_on_one_node = most_free_on_one_node(request, *pool);
    reason.needed_on_one_node = each * request.devices;
  }
  reason.code = code_in(group, *pool, reason);
  return reason;
}

ReasonCode Reasons::code_in(const Group& group, std::size_t pool, const Reason& numbers) {
  const PoolRoom& room = room_.pool(pool);
  const Shape& shape = *group.shape;
  if (!room.has_nodes) return ReasonCode::kNoSuchPool;
  if (!could_ever_fit(shape, pool)) return ReasonCode::kNeverFits;
  if (ledger_.over_limit(group.team, pool, numbers.asked)) return ReasonCode::kTeamLimit;
  if (shape.request.devices == 0) return ReasonCode::kNoFreeCpuOrMemory;
  if (numbers.asked > numbers.free) return ReasonCode::kNoFreeDevices;
  if (devices_would_do(group, pool)) return ReasonCode::kNoFreeCpuOrMemory;
  if (would_fit_if_shared(shape, pool)) return ReasonCode::kDeviceNotShareable;
  return ReasonCode::kFragmented;
}

// A pool whose nodes are all lost has no size to judge by; they may come back.
bool Reasons::could_ever_fit(const Shape& shape, std::size_t pool) {
  if (!well_formed(shape)) return false;
  const auto& kinds = room_.pool(pool).kinds;
  if (kinds.empty()) return true;
  const auto [at, fresh] = capacity_.try_emplace({pool, shape.request}, 0);
  if (fresh) {
    Wide sum = 0;
    for (const auto& [kind, nodes] : kinds) sum += Wide{capacity_of(kind, shape.request)} * nodes;
    constexpr Wide kMost = std::numeric_limits<std::int64_t>::max();
    at->second = static_cast<std::int64_t>(std::min(sum, kMost));
  }
  return at->second >= shape.replicas;
}

// Would it fit if CPU and memory did not count?
bool Reasons::devices_would_do(const Group& group, std::size_t pool) {
  const PoolRoom& room = room_.pool(pool);
  const Shape& shape = *group.shape;
  if (shape.request.whole()) {
    std::int64_t replicas = 0;
    const auto& buckets = room.by_free_devices();
    for (std::size_t free = 0; free < buckets.size(); ++free)
      replicas += static_cast<std::int64_t>(free) / shape.request.devices *
                  static_cast<std::int64_t>(buckets[free].size());
    return replicas >= shape.replicas;
  }
  // What the most open sharing cannot give, no team can have: one walk answers for most teams.
  if (!would_fit_if_shared(shape, pool)) return false;
  const auto open = [&](const RoomDevice& d) { return room.open_to(d, group.key.team); };
  return replicas_by_parts(room, shape.request, open) >= shape.replicas;
}

bool Reasons::would_fit_if_shared(const Shape& shape, std::size_t pool) {
  if (shape.request.whole()) return false;
  const auto [at, fresh] = if_shared_.try_emplace({pool, shape.request}, 0);
  if (fresh)
    at->second =
        replicas_by_parts(room_.pool(pool), shape.request, [](const RoomDevice&) { return true; });
  return at->second >= shape.replicas;
}

// Whole devices for whole requests; for parts the milli of the `devices` emptiest devices of a
// node, since more than that a replica cannot use there.
std::int64_t Reasons::most_free_on_one_node(const Request& request, std::size_t pool) {
  const PoolRoom& room = room_.pool(pool);
  if (request.devices == 0) return 0;
  if (request.whole()) {
    const auto& buckets = room.by_free_devices();
    for (std::size_t free = buckets.size(); free > 0; --free)
      if (!buckets[free - 1].empty()) return static_cast<std::int64_t>(free - 1);
    return 0;
  }
  const auto [at, fresh] = most_free_.try_emplace({pool, request.devices}, 0);
  if (!fresh) return at->second;
  std::vector<std::int64_t> left;
  for (const RoomNode& node : room.nodes) {
    left.clear();
    const auto end = node.first_device + static_cast<std::size_t>(node.size.devices);
    for (std::size_t device = node.first_device; device < end; ++device)
      left.push_back(room.devices[device].free_milli);
    std::ranges::sort(left, std::greater{});
    std::int64_t sum = 0;
    for (std::size_t i = 0; i < left.size() && static_cast<std::int64_t>(i) < request.devices; ++i)
      sum += left[i];
    at->second = std::max(at->second, sum);
  }
  return at->second;
}

}  // namespace heddle
