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

// 1250 -> 1.25
std::string decimal(std::int64_t milli) {
  std::string text = std::to_string(milli / 1000);
  if (milli % 1000 != 0) {
    std::string places = std::to_string(1000 + milli % 1000).substr(1);
    places.resize(places.find_last_not_of('0') + 1);
    text += '.' + places;
  }
  return text;
}

constexpr std::int64_t kBytesPerMib = 1 << 20;

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
    if (key == "gpus") {
      request.devices = *number;
      request.milli_per_device = GpuAmount::kMilliPerDevice;
    } else if (key == "gpu") {
      request.milli_per_device = *number;
    } else if (key == "memory") {
      request.mib_per_device = *number;
    } else if (key == "devices") {
      request.devices = *number;
    } else if (key == "nodes") {
      spec.shape.replicas = *number;
    } else if (key == "cpu") {
      request.cpu_milli = *number * 1000;
    } else if (key == "ram") {
      request.memory_bytes = *number * kBytesPerMib;
    } else if (key == "priority") {
      spec.priority = *number;
    } else {
      return wrong("job:", key);
    }
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

Plan Scenario::plan_now() const { return plan(state(), policy_, now_); }

void Scenario::apply(const Plan& plan) { apply_plan(draft_, plan, now_, last_id_); }

void apply_plan(Draft& draft, const Plan& plan, Instant now, std::uint64_t& last_id) {
  for (const StartAction& start : plan.starts) {
    Workload job = *draft.state().workloads().find(start.workload);
    HEDDLE_CHECK(job.state == WorkloadState::kWaiting);
    job.state = WorkloadState::kStarting;
    job.starting_since = now;
    job.pool = start.pool;
    ++job.attempt;
    for (const Placement& placement : start.placements) {
      Allocation allocation;
      allocation.id = AllocationId{++last_id};
      allocation.workload = job.id;
      allocation.team = job.team;
      allocation.pool = start.pool;
      allocation.node = placement.node;
      allocation.replica = placement.replica;
      allocation.attempt = job.attempt;
      allocation.devices = placement.devices;
      allocation.cpu_milli = placement.cpu_milli;
      allocation.memory_bytes = placement.memory_bytes;
      allocation.recorded_at = now;
      draft.put(std::move(allocation));
    }
    draft.put(std::move(job));
  }
}

std::vector<std::string> Scenario::describe(const Plan& plan) const {
  std::vector<std::string> lines;
  for (const StartAction& start : plan.starts) {
    std::string line = "start " + state().workloads().find(start.workload)->spec->name + " on";
    for (const Placement& placement : start.placements) line += " " + place_text(placement);
    lines.push_back(std::move(line));
  }
  for (const auto& [key, reason] : plan.reasons) lines.push_back(wait_text(key, reason));
  if (plan.step_budget_hit) lines.push_back("step budget hit");
  if (lines.empty()) lines.push_back("nothing to do");
  return lines;
}

// h100-1[0 1 2], with the part where it is less than a device: h100-1[3:0.25]
std::string Scenario::place_text(const Placement& placement) const {
  const Node& node = *state().nodes().find(placement.node);
  std::string text = node.name;
  for (const DeviceLease& lease : placement.devices) {
    const auto at = std::ranges::find(node.devices, lease.device, &Device::id);
    text += lease.device == placement.devices.front().device ? '[' : ' ';
    text += std::to_string(at - node.devices.begin());
    if (lease.amount < GpuAmount::devices(1)) text += ':' + decimal(lease.amount.as_milli());
  }
  return placement.devices.empty() ? text : text + ']';
}

std::string Scenario::wait_text(const ReasonKey& key, const Reason& reason) const {
  std::string text = "wait " + state().teams().find(key.team)->name + ":";
  WaitingKey from;
  from.team = key.team;
  from.shape = key.shape;
  std::vector<const WorkloadSpec*> specs;
  for (const auto& [waiting, none] : state().waiting())
    if (waiting.team == key.team && waiting.shape == key.shape)
      if (const Workload* job = state().workloads().find(waiting.id))
        specs.push_back(job->spec.get());
  for (const WorkloadSpec* spec : specs) text += ' ' + spec->name;
  text += ": " + std::string{name_of(reason.code)};
  if (const Pool* pool = state().pools().find(reason.pool)) text += " in " + pool->name;
  text += ", asked " + decimal(reason.asked.as_milli());
  text += ", held " + decimal(reason.held_by_team.as_milli());
  if (reason.limit < GpuAmount::milli(GpuAmount::kMaxMilli))
    text += " of at most " + decimal(reason.limit.as_milli());
  text += ", free " + decimal(reason.free.as_milli()) + " of " + decimal(reason.usable.as_milli());
  const Shape* shape = state().shapes().find(key.shape);
  const bool whole = shape != nullptr && shape->request.whole();
  const auto on_node = [&](std::int64_t n) { return whole ? std::to_string(n) : decimal(n); };
  text += ", on one node " + on_node(reason.most_free_on_one_node) + " for " +
          on_node(reason.needed_on_one_node);
  return text;
}

}  // namespace heddle
