#include "store/conformance/rows.h"

#include <algorithm>
#include <array>
#include <memory>
#include <string_view>
#include <utility>

#include "core/model/limits.h"

namespace heddle::conformance {

std::int64_t RowMaker::edge(std::int64_t low, std::int64_t high) {
  const std::int64_t power = std::int64_t{1} << rng.between(0, 62);
  const std::array<std::int64_t, 7> edges{
      low, high, low == high ? low : low + 1, low == high ? low : high - 1, 0, power, power - 1};
  const auto pick = edges[static_cast<std::size_t>(rng.between(0, 6))];
  return rng.one_in(2) ? std::clamp(pick, low, high) : rng.between(low, high);
}

std::string RowMaker::text(std::size_t bytes_max) {
  static constexpr std::array<std::string_view, 16> kPieces{
      "a", {"\0", 1}, "\"",   "\\",   "'",  "\n",        "\x1b[31m",   "\x7f",
      "é", "\u2028",  "日本", "🧵", "%s", "</script>", "\U0010FFFF", "\\u0000"};
  if (rng.one_in(5)) return {};
  if (rng.one_in(50)) return std::string(bytes_max, 'x');
  std::string text;
  for (auto n = rng.between(1, 12); n > 0; --n) {
    const auto piece = kPieces[static_cast<std::size_t>(rng.between(0, kPieces.size() - 1))];
    if (text.size() + piece.size() <= bytes_max) text += piece;
  }
  return text;
}

Instant RowMaker::at() { return {edge(0, INT64_MAX)}; }

Team RowMaker::team(TeamId id, std::int64_t slot) {
  return {id,
          TeamId{rng.next() % (id.value + 1)},
          "team-" + id.text().substr(3),
          text(256),
          slot,
          at(),
          at(),
          edge(1, INT64_MAX)};
}

User RowMaker::user(UserId id) {
  return {id, "user-" + id.text().substr(3), rng.one_in(2), at(), at(), edge(1, INT64_MAX)};
}

Member RowMaker::member(MemberKey key) { return {key, any_of<Role>(kRoleCount), at()}; }

Token RowMaker::token(TokenId id, UserId user) {
  Token token{id, user, text(63), {}, at(), at(), at()};
  for (auto& byte : token.hash) byte = static_cast<std::uint8_t>(rng.next());
  return token;
}

Site RowMaker::site(SiteId id) {
  Site site{id, text(63), "fake", {}, at(), at(), edge(1, INT64_MAX)};
  for (bool* trait :
       {&site.traits.isolates_jobs, &site.traits.fences_device_memory, &site.traits.places_device,
        &site.traits.limits_memory, &site.traits.limits_processes, &site.traits.wipes_devices})
    *trait = rng.one_in(2);
  for (auto n = rng.between(0, 3); n > 0; --n) site.traits.notes.push_back(text(1024));
  return site;
}

Pool RowMaker::pool(PoolId id, SiteId site) {
  return {id,
          site,
          "pool-" + id.text().substr(3),
          text(63),
          edge(0, limits::kMemoryBytes),
          Money{edge(0, limits::kPriceMicros)},
          at(),
          at(),
          edge(1, INT64_MAX)};
}

Node RowMaker::node(NodeId id, SiteId site, PoolId pool, std::int64_t devices) {
  Node node{id,
            site,
            pool,
            "node-" + id.text().substr(3),
            any_of<NodeState>(kNodeStateCount),
            rng.one_in(2),
            edge(0, limits::kCpuMilli),
            edge(0, limits::kMemoryBytes),
            {},
            at(),
            at(),
            edge(1, INT64_MAX)};
  for (std::int64_t n = 1; n <= devices; ++n) {
    const DeviceId device{id.value + static_cast<std::uint64_t>(n)};
    node.devices.push_back(
        {device, "GPU-" + device.text(), edge(0, limits::kMemoryBytes), any_of<DeviceHealth>(2)});
  }
  return node;
}

Share RowMaker::share(ShareKey key) {
  return {key,
          GpuAmount::milli(edge(0, limits::kGpuMilli)),
          GpuAmount::milli(edge(0, limits::kGpuMilli)),
          edge(1, limits::kWeight),
          edge(-limits::kRank, limits::kRank),
          edge(1, INT64_MAX)};
}

WorkloadSpec RowMaker::spec(std::string name, PoolId pool) {
  WorkloadSpec spec;
  spec.name = std::move(name);
  spec.project = text(63);
  spec.kind = any_of<WorkloadKind>(kWorkloadKindCount);
  spec.work_class = any_of<WorkloadClass>(kWorkloadClassCount);
  spec.priority = edge(-limits::kPriority, limits::kPriority);
  spec.shape = {
      {edge(0, limits::kDevicesPerReplica), edge(0, 1000), edge(0, limits::kDeviceMemoryMib),
       edge(0, limits::kCpuMilli), edge(0, limits::kMemoryBytes)},
      edge(1, limits::kReplicas),
      {pool}};
  for (auto n = rng.between(0, 2); n > 0; --n)
    spec.shape.pools.push_back({static_cast<std::uint64_t>(edge(1, INT64_MAX))});
  spec.procs_per_node = edge(1, limits::kProcsPerNode);
  for (auto n = rng.between(1, 4); n > 0; --n) spec.command.push_back(text(64 * 1024));
  for (auto n = rng.between(0, 3); n > 0; --n)
    spec.env.emplace_back("V" + std::to_string(9 - n), text(64 * 1024));
  spec.time_limit = {edge(0, limits::kRunTimeMs)};
  spec.grace = {edge(0, limits::kGraceMs)};
  spec.retries = edge(0, 100);
  return spec;
}

EndFact RowMaker::end_fact() {
  return {any_of<EndCause>(kEndCauseCount), edge(INT64_MIN, INT64_MAX), edge(0, 64), text(1024)};
}

void RowMaker::change(Workload& w, WorkloadState state) {
  w.state = state;
  for (std::int64_t* count : {&w.attempt, &w.failures, &w.losses, &w.released})
    *count = edge(0, INT64_MAX);
  w.cancel_requested = rng.one_in(2);
  w.cancelled_by = {static_cast<std::uint64_t>(edge(0, INT64_MAX))};
  for (Instant* when : {&w.submitted_at, &w.waiting_since, &w.starting_since, &w.running_since,
                        &w.stopping_since, &w.ended_at})
    *when = at();
  w.end = end_fact();
  for (std::int64_t* sum : {&w.usage.charged_gpu_milli_ms, &w.usage.lease_gpu_milli_ms,
                            &w.usage.cpu_ms, &w.usage.peak_memory_bytes, &w.usage.waited_ms,
                            &w.usage.starting_ms, &w.usage.ran_ms, &w.usage.releasing_ms})
    *sum = edge(0, INT64_MAX);
  w.version = edge(1, INT64_MAX);
}

Allocation RowMaker::allocation(AllocationId id, const Workload& workload, const Node& node) {
  Allocation a;
  a.id = id;
  a.workload = workload.id;
  a.team = workload.team;
  a.pool = node.pool;
  a.node = node.id;
  a.replica = edge(0, limits::kReplicas - 1);
  a.attempt = edge(0, INT64_MAX);
  for (const Device& device : node.devices)
    if (rng.one_in(2)) a.devices.push_back({device.id, GpuAmount::milli(edge(1, 1000))});
  change(a, AllocationState::kPlanned);
  return a;
}

void RowMaker::change(Allocation& a, AllocationState state) {
  a.state = state;
  a.epoch = edge(0, INT64_MAX);
  a.cpu_milli = edge(0, limits::kCpuMilli);
  a.memory_bytes = edge(0, limits::kMemoryBytes);
  for (Instant* when : {&a.recorded_at, &a.running_at, &a.ended_at, &a.released_at, &a.deadline})
    *when = at();
  a.stop_requested = rng.one_in(2);
  a.stop_cause = any_of<EndCause>(kEndCauseCount);
  a.end = end_fact();
  a.cpu_ms = edge(0, INT64_MAX);
  a.peak_memory_bytes = edge(0, limits::kMemoryBytes);
}

}  // namespace heddle::conformance
