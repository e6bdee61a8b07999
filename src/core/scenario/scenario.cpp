#include "core/scenario/scenario.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <memory>
#include <optional>
#include <utility>

#include "base/check.h"

namespace heddle {

// The words of one line, taken one after the other.
class Scenario::Words {
 public:
  explicit Words(std::string_view line) {
    line = line.substr(0, line.find('#'));
    while (true) {
      const auto start = line.find_first_not_of(" \t\r");
      if (start == std::string_view::npos) return;
      line.remove_prefix(start);
      const auto end = std::min(line.find_first_of(" \t\r"), line.size());
      words_.emplace_back(line.substr(0, end));
      line.remove_prefix(end);
    }
  }
  bool empty() const { return at_ == words_.size(); }
  std::string_view next() { return empty() ? std::string_view{} : words_[at_++]; }

 private:
  std::vector<std::string> words_;
  std::size_t at_ = 0;
};

namespace {

constexpr std::array<std::string_view, kWorkloadClassCount> kClasses{"production", "training",
                                                                     "development", "batch"};
constexpr std::array<std::string_view, kNodeStateCount> kNodeStates{"ready", "draining", "lost"};

Error wrong(std::string_view what, std::string_view word) {
  return Error::invalid("", "scenario", std::string{what} + " '" + std::string{word} + "'");
}

std::optional<std::int64_t> whole_number(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// 1.25 -> 1250
std::optional<std::int64_t> thousandths(std::string_view text) {
  const auto dot = text.find('.');
  const auto whole = whole_number(text.substr(0, dot));
  if (!whole || *whole < 0 || *whole > GpuAmount::kMaxMilli) return std::nullopt;
  std::int64_t milli = 0;
  if (dot != std::string_view::npos) {
    std::string places{text.substr(dot + 1)};
    if (places.empty() || places.size() > 3) return std::nullopt;
    places.resize(3, '0');
    const auto rest = whole_number(places);
    if (!rest || *rest < 0) return std::nullopt;
    milli = *rest;
  }
  return *whole * 1000 + milli;
}

// 20GiB -> 20480
std::optional<std::int64_t> mebibytes(std::string_view text) {
  const bool gib = text.ends_with("GiB");
  if (!gib && !text.ends_with("MiB")) return std::nullopt;
  const auto number = whole_number(text.substr(0, text.size() - 3));
  if (!number || *number < 0 || *number > (1LL << 40)) return std::nullopt;
  return gib ? *number * 1024 : *number;
}

template <class Names>
std::optional<std::size_t> index_of(const Names& names, std::string_view name) {
  const auto at = std::ranges::find(names, name);
  if (at == names.end()) return std::nullopt;
  return static_cast<std::size_t>(at - names.begin());
}

constexpr std::int64_t kBytesPerMib = 1 << 20;

bool set_number(WorkloadSpec& spec, std::string_view key, std::int64_t number) {
  Request& request = spec.shape.request;
  if (key == "gpus") {
    request.devices = number;
    request.milli_per_device = GpuAmount::kMilliPerDevice;
    return true;
  }
  struct Field {
    std::string_view key;
    std::int64_t* value;
    std::int64_t times;
  };
  const std::array<Field, 7> fields{{{"gpu", &request.milli_per_device, 1},
                                     {"memory", &request.mib_per_device, 1},
                                     {"devices", &request.devices, 1},
                                     {"nodes", &spec.shape.replicas, 1},
                                     {"cpu", &request.cpu_milli, 1000},
                                     {"ram", &request.memory_bytes, kBytesPerMib},
                                     {"priority", &spec.priority, 1}}};
  for (const Field& field : fields) {
    if (field.key != key) continue;
    *field.value = number * field.times;
    return true;
  }
  return false;
}

}  // namespace

Result<Done> Scenario::say(std::string_view line) {
  Words words{line};
  if (words.empty()) return Done{};
  now_ = now_ + Duration::seconds(1);
  const std::string_view verb = words.next();
  if (verb == "pool") return say_pool(words);
  if (verb == "node") return say_node(words);
  if (verb == "sick") return say_sick(words);
  if (verb == "team") return say_team(words);
  if (verb == "share") return say_share(words);
  if (verb == "policy") return say_policy(words);
  if (verb == "job") return say_job(words);
  if (verb == "end") return say_end(words);
  return wrong("no such verb:", verb);
}

Result<Done> Scenario::say_pool(Words& words) {
  Pool pool;
  pool.id = PoolId{++last_id_};
  pool.name = words.next();
  const std::string_view size = words.next();
  const auto x = size.find('x');
  const auto nodes = whole_number(size.substr(0, x));
  const auto devices =
      whole_number(x == std::string_view::npos ? std::string_view{} : size.substr(x + 1));
  if (!nodes || !devices) return wrong("a pool needs NODESxDEVICES, not", size);
  std::int64_t memory_mib = 80 * 1024, ram_mib = 512 * 1024, cores = 64;
  while (!words.empty()) {
    const std::string_view key = words.next(), value = words.next();
    const auto number = key == "cpu" ? whole_number(value) : mebibytes(value);
    if (!number || (key != "memory" && key != "ram" && key != "cpu")) return wrong("pool:", key);
    (key == "memory" ? memory_mib : key == "ram" ? ram_mib : cores) = *number;
  }
  pool.device_memory_bytes = memory_mib * kBytesPerMib;
  draft_.put(pool);
  for (std::int64_t n = 1; n <= *nodes; ++n) {
    Node node;
    node.id = NodeId{++last_id_};
    node.pool = pool.id;
    node.name = pool.name + "-" + std::to_string(n);
    node.cpu_milli = cores * 1000;
    node.memory_bytes = ram_mib * kBytesPerMib;
    for (std::int64_t d = 0; d < *devices; ++d)
      node.devices.push_back({DeviceId{++last_id_}, node.name + "-" + std::to_string(d),
                              pool.device_memory_bytes, DeviceHealth::kHealthy});
    draft_.put(node);
  }
  return Done{};
}

Result<Done> Scenario::say_node(Words& words) {
  const std::string name{words.next()};
  const NodeId* id = state().node_names().find(name);
  if (id == nullptr) return wrong("no such node:", name);
  const std::string_view word = words.next();
  const auto at = index_of(kNodeStates, word);
  if (!at) return wrong("node:", word);
  Node node = *state().nodes().find(*id);
  node.state = static_cast<NodeState>(*at);
  draft_.put(node);
  return Done{};
}

Result<Done> Scenario::say_sick(Words& words) {
  const std::string name{words.next()};
  const NodeId* id = state().node_names().find(name);
  if (id == nullptr) return wrong("no such node:", name);
  Node node = *state().nodes().find(*id);
  const std::string_view word = words.next();
  const auto device = whole_number(word);
  if (!device || *device < 0 || static_cast<std::size_t>(*device) >= node.devices.size())
    return wrong("no such device:", word);
  node.devices[static_cast<std::size_t>(*device)].health = DeviceHealth::kSick;
  draft_.put(node);
  return Done{};
}

Result<Done> Scenario::say_team(Words& words) {
  Team team;
  team.id = TeamId{++last_id_};
  team.name = words.next();
  team.slot = static_cast<std::int64_t>(last_id_);
  if (state().pools().empty()) return wrong("a pool must come before team", team.name);
  draft_.put(team);
  return read_share(words, team.id, state().pools().begin()->key, true);
}

Result<Done> Scenario::say_share(Words& words) {
  const std::string team{words.next()}, pool{words.next()};
  const TeamId* team_id = state().team_names().find(team);
  const PoolId* pool_id = state().pool_names().find(pool);
  if (team_id == nullptr) return wrong("no such team:", team);
  if (pool_id == nullptr) return wrong("no such pool:", pool);
  return read_share(words, *team_id, *pool_id, false);
}

Result<Done> Scenario::read_share(Words& words, TeamId team, PoolId pool, bool pool_may_follow) {
  Share share = state().share({team, pool});
  bool said = false;
  while (!words.empty()) {
    const std::string_view key = words.next();
    const std::string value{words.next()};
    if (pool_may_follow && key == "below") {
      const TeamId* parent = state().team_names().find(value);
      if (parent == nullptr) return wrong("no such team:", value);
      Team row = *state().teams().find(team);
      row.parent = *parent;
      draft_.put(row);
      continue;
    }
    if (pool_may_follow && key == "pool") {
      const PoolId* id = state().pool_names().find(value);
      if (id == nullptr) return wrong("no such pool:", value);
      share.key.pool = *id;
      continue;
    }
    const bool amount = key == "guarantee" || key == "limit";
    const auto number = amount ? thousandths(value) : whole_number(value);
    if (!number || (!amount && key != "weight" && key != "rank")) return wrong("share:", key);
    said = true;
    if (key == "guarantee") share.guarantee = GpuAmount::milli(*number);
    if (key == "limit") share.limit = GpuAmount::milli(*number);
    if (key == "weight") share.weight = *number;
    if (key == "rank") share.rank = *number;
  }
  share.key.team = team;
  if (said) draft_.put(share);
  return Done{};
}

Result<Done> Scenario::say_policy(Words& words) {
  while (!words.empty()) {
    const std::string_view key = words.next();
    if (key == "share_devices_across_teams") {
      policy_.share_devices_across_teams = true;
    } else if (const auto steps = whole_number(key == "steps" ? words.next() : ""); steps) {
      policy_.step_budget = *steps;
    } else {
      return wrong("policy:", key);
    }
  }
  return Done{};
}

Result<Done> Scenario::say_job(Words& words) {
  WorkloadSpec spec;
  spec.name = words.next();
  spec.command = {"true"};
  const std::string team{words.next()};
  const TeamId* team_id = state().team_names().find(team);
  if (team_id == nullptr) return wrong("no such team:", team);
  Request& request = spec.shape.request;
  while (!words.empty()) {
    const std::string_view key = words.next();
    const std::string value{words.next()};
    if (key == "class") {
      const auto at = index_of(kClasses, value);
      if (!at) return wrong("no such class:", value);
      spec.work_class = static_cast<WorkloadClass>(*at);
      continue;
    }
    if (key == "pools") {
      for (std::size_t from = 0; from <= value.size();) {
        const std::size_t comma = std::min(value.find(',', from), value.size());
        const PoolId* pool = state().pool_names().find(value.substr(from, comma - from));
        if (pool == nullptr) return wrong("no such pool in", value);
        spec.shape.pools.push_back(*pool);
        from = comma + 1;
      }
      continue;
    }
    const bool size = key == "memory" || key == "ram";
    const auto number = size           ? mebibytes(value)
                        : key == "gpu" ? thousandths(value)
                                       : whole_number(value);
    if (!number) return wrong("not a number for " + std::string{key} + ":", value);
    if (!set_number(spec, key, *number)) return wrong("job:", key);
  }
  if (request.devices == 0 && (request.milli_per_device > 0 || request.by_memory()))
    request.devices = 1;
  if (spec.shape.pools.empty())
    for (const auto& [id, pool] : state().pools()) spec.shape.pools.push_back(id);
  Workload job;
  job.id = WorkloadId{++last_id_};
  job.team = *team_id;
  job.spec = std::make_shared<const WorkloadSpec>(std::move(spec));
  job.submitted_at = job.waiting_since = now_;
  draft_.put(job);
  return Done{};
}

Result<Done> Scenario::say_end(Words& words) {
  const std::string name{words.next()};
  const auto& workloads = state().workloads();
  const auto found = std::find_if(workloads.begin(), workloads.end(),
                                  [&](const auto& e) { return e.value.spec->name == name; });
  if (found == workloads.end()) return wrong("no such job:", name);
  Workload job = found->value;
  std::vector<Allocation> mine;
  const auto& by_workload = state().workload_allocations();
  for (auto at = by_workload.lower_bound({job.id, AllocationId{}});
       at != by_workload.end() && at->key.first == job.id; ++at)
    mine.push_back(*state().allocations().find(at->key.second));
  for (Allocation& allocation : mine) {
    allocation.state = AllocationState::kReleased;
    allocation.ended_at = allocation.released_at = now_;
    draft_.put(allocation);
  }
  job.state = WorkloadState::kSucceeded;
  job.ended_at = now_;
  draft_.put(job);
  return Done{};
}

}  // namespace heddle
