#include "core/check/auditor.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "core/model/limits.h"

namespace heddle {
namespace {

std::string number(std::int64_t n) { return std::to_string(n); }

class Audit {
 public:
  explicit Audit(const State& state) : state_{state} {}

  std::vector<std::string> run() {
    check_tree();
    check_shares();
    check_devices();
    for (const auto& [id, allocation] : state_.allocations()) check(allocation);
    for (const auto& [id, workload] : state_.workloads()) check(workload);
    if (!State::same_indexes(state_, state_.rebuilt()))
      complain("X1", "an index differs from what the rows say");
    return std::move(found_);
  }

 private:
  void complain(const char* invariant, std::string sentence) {
    found_.push_back(std::string{invariant} + ": " + std::move(sentence));
  }
  void require(bool holds, const char* invariant, const std::string& who, const char* what) {
    if (!holds) complain(invariant, who + " " + what);
  }

  void check_tree() {
    for (const auto& [id, team] : state_.teams()) {
      std::size_t levels = 0;
      const Team* at = &team;
      while (at != nullptr && at->parent.is_set() && levels <= state_.teams().size()) {
        const TeamId parent = at->parent;
        at = state_.teams().find(parent);
        require(at != nullptr, "R1", id.text(), "is below a team that does not exist");
        ++levels;
      }
      require(levels <= state_.teams().size(), "R1", id.text(), "is below itself");
    }
    require(state_.team_names().size() == state_.teams().size(), "R1", "two teams",
            "have one name");
    require(state_.user_names().size() == state_.users().size(), "R1", "two users",
            "have one name");
    require(state_.workload_names().size() == state_.workloads().size(), "R1",
            "two live workloads of a team", "have one name");
    for (const auto& [key, member] : state_.members())
      require(state_.teams().contains(key.team) && state_.users().contains(key.user), "R1",
              key.user.text() + " in " + key.team.text(), "is a member where one is unknown");
  }

  void check_shares() {
    for (const auto& [key, share] : state_.shares()) {
      const std::string who = "the share of " + key.team.text() + " in " + key.pool.text();
      require(state_.teams().contains(key.team) && state_.pools().contains(key.pool), "R1", who,
              "is of an unknown team or pool");
      require(share.weight >= 1 && share.weight <= limits::kWeight, "R1", who,
              "has a weight out of bounds");
    }
  }

  void check_devices() {
    struct Use {
      std::int64_t milli = 0;
      std::int64_t holders = 0;
      bool whole = false;
    };
    std::map<DeviceId, Use> uses;
    for (const auto& [id, allocation] : state_.allocations()) {
      for (const DeviceLease& lease : allocation.devices) {
        Use& use = uses[lease.device];
        use.milli += lease.amount.as_milli();
        ++use.holders;
        use.whole = use.whole || lease.amount == GpuAmount::devices(1);
      }
    }
    for (const auto& [id, use] : uses) {
      if (use.milli > GpuAmount::kMilliPerDevice)
        complain("I1", "device " + id.text() + " is used " + number(use.milli) + " of 1000");
      require(!use.whole || use.holders == 1, "I1", "device " + id.text(),
              "is held whole and shared at once");
    }
  }

  void check(const Allocation& a) {
    const std::string who = a.id.text() + " of " + a.workload.text();
    const Node* node = state_.nodes().find(a.node);
    require(node != nullptr, "R1", who, "is on a node that does not exist");
    if (node != nullptr) {
      require(node->pool == a.pool, "R1", who, "is in another pool than its node");
      for (const DeviceLease& lease : a.devices)
        require(std::ranges::find(node->devices, lease.device, &Device::id) != node->devices.end(),
                "I1", who, "holds a device that its node does not have");
    }
    for (std::size_t i = 1; i < a.devices.size(); ++i)
      require(a.devices[i - 1].device < a.devices[i].device, "I1", who,
              "names devices twice or out of order");
    check_times(a, who);
    const Workload* workload = state_.workloads().find(a.workload);
    if (workload == nullptr) return complain("L1", who + " belongs to no live workload");
    check_membership(a, *workload, who);
    check_charge(a, workload->spec->shape.request, who);
  }

  void check_times(const Allocation& a, const std::string& who) {
    require(a.recorded_at.is_set(), "T1", who, "was never recorded");
    require(!a.released_at.is_set(), "T1", who, "is released and still live");
    require(!a.running_at.is_set() || a.recorded_at <= a.running_at, "T1", who,
            "ran before it was recorded");
    const Instant begin = std::max(a.recorded_at, a.running_at);
    require(!a.ended_at.is_set() || begin <= a.ended_at, "T1", who, "ended before it began");
    const bool unknown_to_engine = a.state == AllocationState::kPlanned;
    require(!unknown_to_engine || !a.running_at.is_set(), "T1", who,
            "ran before it was told to the engine");
    const bool runs = a.state == AllocationState::kRunning;
    require(!runs || a.running_at.is_set(), "T1", who, "runs since no time");
    require(!runs || !a.ended_at.is_set(), "T1", who, "runs and has ended");
  }

  void check_membership(const Allocation& a, const Workload& workload, const std::string& who) {
    require(a.team == workload.team, "L1", who, "is charged to another team than its workload");
    require(a.replica >= 0 && a.replica < workload.spec->shape.replicas, "I3", who,
            "is a replica that was not asked for");
    const bool leaving =
        a.state == AllocationState::kReleasing || a.state == AllocationState::kLost;
    require(a.attempt <= workload.attempt, "L1", who, "belongs to a run that has not begun");
    const bool of_this_run =
        a.attempt == workload.attempt && workload.state != WorkloadState::kWaiting;
    if (!of_this_run)
      return require(leaving, "L1", who, "is left from a run before and not leaving");
    require(a.pool == workload.pool, "I3", who, "is in another pool than its workload");
    std::vector<const Allocation*>& run = runs_[workload.id];
    for (const Allocation* other : run)
      require(other->replica != a.replica, "I3", who, "is a replica that another one is already");
    run.push_back(&a);
  }

  void check_charge(const Allocation& a, const Request& request, const std::string& who) {
    require(static_cast<std::int64_t>(a.devices.size()) == request.devices, "I7", who,
            "holds another number of devices than was asked");
    for (const DeviceLease& lease : a.devices) {
      const std::int64_t milli = lease.amount.as_milli();
      require(milli >= 1 && milli <= GpuAmount::kMilliPerDevice, "I1", who,
              "holds nothing or more than all of a device");
      require(request.by_memory() || milli == request.milli_per_device, "I7", who,
              "is charged another amount than was asked");
    }
  }

  // After every allocation has been seen.
  void check(const Workload& workload) {
    const std::string who = workload.id.text();
    require(state_.teams().contains(workload.team), "R1", who, "is of a team that does not exist");
    const UsageTotals& usage = workload.usage;
    require(
        usage.charged_gpu_milli_ms >= 0 && usage.charged_gpu_milli_ms <= usage.lease_gpu_milli_ms,
        "I7", who, "is charged more than it held");
    require(workload.submitted_at.is_set(), "T1", who, "was never submitted");
    const std::vector<const Allocation*>& run = runs_[workload.id];
    const bool waits = workload.state == WorkloadState::kWaiting;
    // Replicas may end one after another, but together they are always the whole gang.
    require(waits || !run.empty(), "I3", who, "has begun and holds nothing");
    require(waits || static_cast<std::int64_t>(run.size()) + workload.released ==
                         workload.spec->shape.replicas,
            "I3", who, "is a gang of which a part is neither there nor gone");
    switch (workload.state) {
      case WorkloadState::kWaiting:
        return require(workload.waiting_since.is_set(), "T1", who, "waits since no time");
      case WorkloadState::kStarting:
        return require(workload.starting_since.is_set(), "T1", who, "starts since no time");
      case WorkloadState::kRunning:
        return require(workload.running_since.is_set(), "T1", who, "runs since no time");
      case WorkloadState::kStopping:
        return require(workload.stopping_since.is_set(), "T1", who, "stops since no time");
      case WorkloadState::kSucceeded:
      case WorkloadState::kFailed:
      case WorkloadState::kCancelled:
        return complain("L1", who + " has ended and is still live");
    }
  }

  const State& state_;
  std::vector<std::string> found_;
  std::map<WorkloadId, std::vector<const Allocation*>> runs_;  // of the present attempts
};

// What a level and everything below it hold in a pool, for every level.
std::map<ShareKey, GpuAmount> held_by_level(const State& state) {
  std::map<ShareKey, GpuAmount> held;
  for (const auto& [key, amount] : state.held()) {
    TeamId team = key.team;
    for (std::size_t level = 0; team.is_set() && level <= state.teams().size(); ++level) {
      held[{team, key.pool}] += amount;
      const Team* row = state.teams().find(team);
      team = row != nullptr ? row->parent : TeamId{};
    }
  }
  return held;
}

}  // namespace

std::vector<std::string> audit(const State& state) { return Audit{state}.run(); }

std::vector<std::string> audit_starts(const State& before, const State& after) {
  std::vector<std::string> found;
  std::set<ShareKey> levels;
  std::set<NodeId> nodes;
  std::map<WorkloadId, std::set<std::int64_t>> replicas;
  for (const auto& [id, a] : after.allocations()) {
    if (before.allocations().contains(id)) continue;
    nodes.insert(a.node);
    replicas[a.workload].insert(a.replica);
    TeamId team = a.amount().is_zero() ? TeamId{} : a.team;
    while (team.is_set() && levels.insert({team, a.pool}).second) {
      const Team* row = after.teams().find(team);
      team = row != nullptr ? row->parent : TeamId{};
    }
  }
  const auto held = held_by_level(after);
  for (const ShareKey& key : levels) {
    const auto at = held.find(key);
    const Share share = after.share(key);
    const bool limited = share.limit < GpuAmount::milli(GpuAmount::kMaxMilli);
    if (limited && at != held.end() && at->second > share.limit)
      found.push_back("I2: " + key.team.text() + " holds " + number(at->second.as_milli()) +
                      " milli in " + key.pool.text() + ", above its limit of " +
                      number(share.limit.as_milli()));
  }
  for (const auto& [id, started] : replicas) {
    const Workload* workload = after.workloads().find(id);
    const auto count = static_cast<std::int64_t>(started.size());
    if (workload != nullptr && count != workload->spec->shape.replicas)
      found.push_back("I3: of " + id.text() + " only a part was placed");
  }
  for (const NodeId& id : nodes) {
    const Node* node = after.nodes().find(id);
    const NodeUse* use = after.node_use().find(id);
    if (node == nullptr) continue;  // audit() complains
    if (node->state != NodeState::kReady)
      found.push_back("N1: " + id.text() + " takes no work, yet something started there");
    if (use != nullptr &&
        (use->cpu_milli > node->cpu_milli || use->memory_bytes > node->memory_bytes))
      found.push_back("N1: " + id.text() + " is above its CPU or memory");
  }
  return found;
}

}  // namespace heddle
