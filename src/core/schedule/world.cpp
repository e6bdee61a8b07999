#include "core/schedule/world.h"

#include <algorithm>
#include <functional>
#include <initializer_list>
#include <memory>
#include <utility>

namespace heddle {
namespace {

constexpr std::int64_t kGib = 1LL << 30;

std::int64_t one_of(Rng& rng, std::initializer_list<std::int64_t> choices) {
  return choices.begin()[rng.between(0, static_cast<std::int64_t>(choices.size()) - 1)];
}

Node a_node(Rng& rng, const Pool& pool, std::uint64_t& id, bool cpu_only, bool odd_devices) {
  Node node;
  node.id = NodeId{++id};
  node.pool = pool.id;
  node.name = "node-" + std::to_string(id);
  node.state = rng.one_in(8) ? static_cast<NodeState>(rng.between(1, 2)) : NodeState::kReady;
  node.cpu_milli = one_of(rng, {0LL, 7'001LL, 16'000LL, 64'000LL});
  node.memory_bytes = one_of(rng, {8 * kGib, 64 * kGib, 512 * kGib});
  const std::int64_t devices = cpu_only ? 0 : one_of(rng, {1, 2, 3, 4, 8});
  // Ids of devices grow with the nodes as a rule, not always.
  std::uint64_t device_id = rng.one_in(4) ? 900'000 - 10 * node.id.value : 10 * node.id.value;
  for (std::int64_t d = 0; d < devices; ++d) {
    Device device{DeviceId{++device_id}, "GPU-" + std::to_string(device_id),
                  pool.device_memory_bytes,
                  rng.one_in(10) ? DeviceHealth::kSick : DeviceHealth::kHealthy};
    if (odd_devices && rng.one_in(3)) device.memory_bytes = rng.between(0, 100) * kGib;
    node.devices.push_back(device);
  }
  return node;
}

Shape a_shape(Rng& rng, const std::vector<Pool>& pools) {
  Shape shape;
  Request& request = shape.request;
  switch (rng.between(0, 5)) {
    case 0:
      break;  // no GPU
    case 1:
    case 2:
      request.devices = one_of(rng, {1, 1, 2, 3, 4, 8, 9});
      request.milli_per_device = 1000;
      break;
    case 3:
    case 4:
      request.devices = one_of(rng, {1, 1, 1, 2, 3});
      request.milli_per_device = one_of(rng, {1, 125, 250, 333, 400, 500, 501, 999});
      break;
    default:
      request.devices = one_of(rng, {1, 1, 2});
      request.mib_per_device = one_of(rng, {1, 1024, 20'480, 40'960, 81'920, 81'921});
  }
  if (rng.one_in(3)) request.cpu_milli = rng.between(1, 20'000);
  if (rng.one_in(4)) request.memory_bytes = rng.between(1, 32) * kGib;
  shape.replicas = rng.one_in(3) ? rng.between(2, 6) : 1;
  for (const Pool& pool : pools)
    if (!rng.one_in(3)) shape.pools.push_back(pool.id);
  if (shape.pools.empty()) shape.pools.push_back(PoolId{rng.one_in(2) ? 1U : 999'999U});
  if (rng.one_in(2)) std::ranges::reverse(shape.pools);
  return shape;
}

}  // namespace

World a_world(Rng& rng, const WorldOptions& options) {
  World world;
  std::uint64_t id = 0;
  for (std::int64_t n = rng.between(1, 3); n > 0; --n) {
    Pool pool;
    pool.id = PoolId{++id};
    pool.name = "pool-" + std::to_string(id);
    pool.device_memory_bytes = one_of(rng, {40 * kGib, 80 * kGib, 15'360LL << 20});
    const bool cpu_only = n == 1 && rng.one_in(2);
    for (std::int64_t nodes = rng.between(0, 4); nodes > 0; --nodes)
      world.nodes.push_back(a_node(rng, pool, id, cpu_only, options.odd_devices));
    world.pools.push_back(pool);
  }
  for (std::int64_t n = rng.between(1, 5); n > 0; --n) {
    Team team;
    team.id = TeamId{++id};
    team.name = "team-" + std::to_string(id);
    if (!world.teams.empty() && rng.one_in(2))
      team.parent =
          world.teams[static_cast<std::size_t>(rng.between(0, std::ssize(world.teams) - 1))].id;
    world.teams.push_back(team);
    for (const Pool& pool : world.pools) {
      if (rng.one_in(3)) continue;
      Share share;
      share.key = {team.id, pool.id};
      share.guarantee = GpuAmount::milli(rng.between(0, 8) * 500);
      if (rng.one_in(2)) share.limit = GpuAmount::milli(rng.between(0, 12) * 700);
      share.weight = rng.between(1, 5);
      share.rank = rng.between(-1, 1);
      world.shares.push_back(share);
    }
  }
  std::vector<Shape> shapes;
  for (std::int64_t n = rng.between(1, options.shapes_max); n > 0; --n)
    shapes.push_back(a_shape(rng, world.pools));
  for (std::int64_t n = rng.between(0, options.workloads_max); n > 0; --n) {
    WorkloadSpec spec;
    spec.name = "job-" + std::to_string(++id);
    spec.command = {"true"};
    spec.work_class = static_cast<WorkloadClass>(rng.between(0, 3));
    spec.priority = rng.between(-1, 1);
    spec.shape = shapes[static_cast<std::size_t>(rng.between(0, std::ssize(shapes) - 1))];
    Workload job;
    job.id = WorkloadId{id};
    job.team =
        world.teams[static_cast<std::size_t>(rng.between(0, std::ssize(world.teams) - 1))].id;
    job.spec = std::make_shared<const WorkloadSpec>(std::move(spec));
    job.submitted_at = job.waiting_since = Instant{rng.between(1, 10)};
    world.workloads.push_back(std::move(job));
  }
  return world;
}

Draft shuffled(const World& world, Rng& rng) {
  Draft draft{State{}};
  std::vector<std::function<void()>> puts;
  const auto add = [&](const auto& rows) {
    for (const auto& row : rows) puts.emplace_back([&draft, &row] { draft.put(row); });
  };
  add(world.pools);
  add(world.nodes);
  add(world.teams);
  add(world.shares);
  add(world.workloads);
  for (std::size_t i = puts.size(); i > 1; --i)
    std::swap(puts[i - 1],
              puts[static_cast<std::size_t>(rng.between(0, static_cast<std::int64_t>(i) - 1))]);
  for (const auto& put : puts) put();
  return draft;
}

}  // namespace heddle
