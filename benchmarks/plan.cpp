// Measures the planner alone, without store or engines: JSON lines on stdout.
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "core/model/draft.h"
#include "core/schedule/plan.h"

namespace {

using namespace heddle;

constexpr std::int64_t kTeams = 1000;
constexpr std::int64_t kNodes = 10'000;
constexpr std::int64_t kDevicesPerNode = 8;
constexpr Instant kNow{1'000'000};

struct World {
  Draft draft{State{}};
  std::uint64_t last_id = 0;
  PoolId pool;

  World() {
    Pool row;
    row.id = pool = PoolId{++last_id};
    row.name = "h100";
    row.device_memory_bytes = 80LL << 30;
    draft.put(row);
    for (std::int64_t n = 0; n < kNodes; ++n) {
      Node node;
      node.id = NodeId{++last_id};
      node.pool = pool;
      node.name = "h100-" + std::to_string(n);
      node.cpu_milli = 64'000;
      node.memory_bytes = 512LL << 30;
      for (std::int64_t d = 0; d < kDevicesPerNode; ++d)
        node.devices.push_back({DeviceId{++last_id}, "GPU-" + std::to_string(last_id),
                                row.device_memory_bytes, DeviceHealth::kHealthy});
      draft.put(std::move(node));
    }
    for (std::int64_t t = 0; t < kTeams; ++t) {
      Team team;
      team.id = TeamId{++last_id};
      team.name = "team-" + std::to_string(t);
      draft.put(team);
      Share share;
      share.key = {team.id, pool};
      share.guarantee = GpuAmount::devices(40);
      draft.put(share);
    }
  }

  std::shared_ptr<const WorkloadSpec> a_spec(std::int64_t devices, std::int64_t replicas) const {
    WorkloadSpec spec;
    spec.name = "job";
    spec.command = {"true"};
    spec.shape.request.devices = devices;
    spec.shape.request.milli_per_device = 1000;
    spec.shape.replicas = replicas;
    spec.shape.pools = {pool};
    return std::make_shared<const WorkloadSpec>(std::move(spec));
  }

  void submit(TeamId team, const std::shared_ptr<const WorkloadSpec>& spec) {
    Workload job;
    job.id = WorkloadId{++last_id};
    job.team = team;
    job.spec = spec;
    job.submitted_at = job.waiting_since = kNow;
    draft.put(std::move(job));
  }

  // Every device is held, by whole nodes.
  void fill() {
    const State before = draft.state();
    for (const auto& [id, node] : before.nodes()) {
      Allocation a;
      a.id = AllocationId{++last_id};
      a.workload = WorkloadId{++last_id};
      a.team = before.teams().begin()->key;
      a.pool = pool;
      a.node = id;
      for (const Device& device : node.devices)
        a.devices.push_back({device.id, GpuAmount::devices(1)});
      a.cpu_milli = node.cpu_milli;
      a.memory_bytes = node.memory_bytes;
      draft.put(std::move(a));
    }
  }

  void submit_for_every_team(std::int64_t each, std::int64_t shapes) {
    const State before = draft.state();
    for (std::int64_t s = 1; s <= shapes; ++s) {
      const auto spec = a_spec(s, 1);
      for (const auto& [team, row] : before.teams())
        for (std::int64_t n = 0; n < each; ++n) submit(team, spec);
    }
  }
};

struct Measured {
  double ms = 0;
  Plan plan;
};

Measured best_of(int runs, const State& state) {
  Measured best;
  for (int n = 0; n < runs; ++n) {
    const auto start = std::chrono::steady_clock::now();
    Plan made = plan(state, {.step_budget = 100'000'000}, kNow);
    const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - start;
    if (n == 0 || took.count() < best.ms) best = {took.count(), std::move(made)};
  }
  return best;
}

void figure(const char* name, double value, const char* unit) {
  std::printf("{\"name\": \"%s\", \"value\": %.3f, \"unit\": \"%s\"}\n", name, value, unit);
  std::fflush(stdout);
}

}  // namespace

int main() {
  {
    World world;  // 40,000 jobs of 1..4 devices on free nodes
    world.submit_for_every_team(10, 4);
    const Measured m = best_of(3, world.draft.state());
    const auto starts = static_cast<double>(m.plan.starts.size());
    std::fprintf(stderr, "plan: %.0f starts, %zu reasons\n", starts, m.plan.reasons.size());
    figure("plan.decisions_per_s", starts / (m.ms / 1000), "1/s");
  }
  World full;  // nothing fits: 1,000 teams, 4 shapes each, 100,000 waiting
  full.fill();
  full.submit_for_every_team(25, 4);
  Measured m = best_of(10, full.draft.state());
  std::fprintf(stderr, "full: %zu starts, %zu reasons\n", m.plan.starts.size(),
               m.plan.reasons.size());
  figure("plan.full_pass_ms", m.ms, "ms");
  {
    World world;  // one gang of 1,024 nodes
    world.submit(world.draft.state().teams().begin()->key, world.a_spec(8, 1024));
    const double with = best_of(10, world.draft.state()).ms;
    World without;
    without.submit(without.draft.state().teams().begin()->key, without.a_spec(9, 1));
    figure("plan.gang_1024_ms", with - best_of(10, without.draft.state()).ms, "ms");
  }
  return 0;
}
