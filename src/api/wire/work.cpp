#include "api/wire/work.h"

#include <algorithm>
#include <tuple>
#include <vector>

#include "api/reasons.h"
#include "api/wire/names.h"
#include "core/meter/receipt.h"

namespace heddle::api {
namespace {

template <class Names, class Enum>
std::string_view name_in(const Names& names, Enum value) {
  return names[static_cast<std::size_t>(value)];
}

Instant newest(const Workload& w) {
  return std::max({w.submitted_at, w.waiting_since, w.starting_since, w.running_since,
                   w.stopping_since, w.ended_at});
}

// Visits the live allocations of a workload, ascending.
template <class Visit>
void each_allocation(const State& state, WorkloadId id, Visit visit) {
  const auto& index = state.workload_allocations();
  for (auto at = index.lower_bound({id, AllocationId{}}); at != index.end(); ++at) {
    if (at->key.first != id) break;
    if (const Allocation* a = state.allocations().find(at->key.second)) visit(*a);
  }
}

void write_end(JsonWriter& json, const Workload& w) {
  if (!has_ended(w.state)) {
    json.null("end");
    return;
  }
  json.open("end", '{').text("cause", name_in(wire::kEndCauses, w.end.cause));
  if (w.end.cause == EndCause::kExited)
    json.number("exit_code", w.end.exit_code);
  else
    json.null("exit_code");
  json.number_or_null("signal", w.end.signal).text("message", w.end.message).close();
}

// What it does, in one sentence; nothing for waiting work.
std::string doing(const Workload& w) {
  switch (w.state) {
    case WorkloadState::kWaiting:
      return {};
    case WorkloadState::kStarting:
      return "It is starting: its GPUs are taken and its programs are being set up.";
    case WorkloadState::kRunning:
      return "It runs.";
    case WorkloadState::kStopping:
      return w.cancel_requested ? "It was cancelled and is being stopped." : "It is being stopped.";
    case WorkloadState::kSucceeded:
      return "It has ended well.";
    case WorkloadState::kFailed:
      return "It has failed. " + w.end.message;
    case WorkloadState::kCancelled:
      return "It was cancelled.";
  }
  return {};
}

}  // namespace

void write_resources(JsonWriter& json, const Request& request) {
  json.open("resources", '{')
      .number("devices", request.devices)
      .number("gpu_milli_per_device", request.milli_per_device)
      .number("gpu_memory_bytes_per_device", request.mib_per_device << 20)
      .number("cpu_milli", request.cpu_milli)
      .number("memory_bytes", request.memory_bytes)
      .close();
}

std::optional<GpuAmount> asked_of(const Shape& shape) {
  if (shape.request.by_memory()) return std::nullopt;
  return GpuAmount::milli(shape.request.devices * shape.request.milli_per_device * shape.replicas);
}

std::string WorkWriter::pool_name(PoolId id) const {
  const Pool* pool = view_.state.pools().find(id);
  return pool == nullptr ? "" : pool->name;
}

const PoolNotes& WorkWriter::notes(PoolId pool) {
  auto at = notes_.find(pool);
  if (at == notes_.end()) at = notes_.emplace(pool, notes_of(view_.state, pool)).first;
  return at->second;
}

Reason WorkWriter::reason_of(const Workload& w) const {
  const std::int64_t shape = view_.state.shape_number(w.spec->shape);
  if (const Reason* reason = view_.reasons.find({w.team, shape})) return *reason;
  Reason reason;  // not planned yet
  if (!w.spec->shape.pools.empty()) reason.pool = w.spec->shape.pools.front();
  if (const auto asked = asked_of(w.spec->shape)) reason.asked = *asked;
  return reason;
}

// Where it runs, what it holds, and what is not enforced there.
void WorkWriter::placement(JsonWriter& json, const Workload& w) {
  GpuAmount held;
  std::vector<std::pair<std::int64_t, NodeId>> nodes;
  each_allocation(view_.state, w.id, [&](const Allocation& a) {
    held += a.amount();
    nodes.emplace_back(a.replica, a.node);
  });
  std::sort(nodes.begin(), nodes.end());
  json.open("pools", '[');
  for (const PoolId pool : w.spec->shape.pools) json.item(pool_name(pool));
  json.close(']').id("pool_id", w.pool).text_or_null("pool_name", pool_name(w.pool));
  const auto asked = asked_of(w.spec->shape);
  if (asked)
    json.number("gpu_milli", asked->as_milli());
  else
    json.number_or_null("gpu_milli", held.as_milli());
  json.number("held_gpu_milli", held.as_milli()).open("node_names", '[');
  for (const auto& [replica, node] : nodes)
    if (const Node* row = view_.state.nodes().find(node)) json.item(row->name);
  json.close(']');
  const PoolId where = w.pool.is_set()               ? w.pool
                       : w.spec->shape.pools.empty() ? PoolId{}
                                                     : w.spec->shape.pools.front();
  const PoolNotes& said = notes(where);
  json.flag("simulated", said.simulated);
  write_texts(json, "notes", said.notes);
}

void WorkWriter::content(JsonWriter& json, const Workload& w) {
  if (!rights_.may(Action::kWorkloadContent, w.team)) {
    json.null("command").null("env").null("files");
    return;
  }
  write_texts(json, "command", w.spec->command);
  json.open("env", '{');
  for (const auto& [name, value] : w.spec->env) json.text(name, value);
  json.close().open("files", '[');
  for (const FileRef& file : w.spec->files)
    json.open()
        .text("path", file.path)
        .number("bytes", file.bytes)
        .text("sha256", file.sha256_hex)
        .flag("executable", file.executable)
        .close();
  json.close(']');
}

void WorkWriter::workload(JsonWriter& json, const Workload& w) {
  const State& state = view_.state;
  const WorkloadSpec& spec = *w.spec;
  const Team* team = state.teams().find(w.team);
  const User* owner = state.users().find(w.owner);
  json.open()
      .id("id", w.id)
      .text("name", spec.name)
      .id("team_id", w.team)
      .text("team_name", team == nullptr ? "" : team->name)
      .id("owner_id", w.owner)
      .text("owner_name", owner == nullptr ? "" : owner->name)
      .text("project", spec.project)
      .text("kind", name_in(wire::kWorkloadKinds, spec.kind))
      .text("class", name_in(wire::kWorkloadClasses, spec.work_class))
      .number("priority", spec.priority)
      .text("state", name_in(wire::kWorkloadStates, w.state))
      .number("attempt", w.attempt);
  write_resources(json, spec.shape.request);
  json.number("nodes", spec.shape.replicas).number("procs_per_node", spec.procs_per_node);
  placement(json, w);
  content(json, w);
  json.number_or_null("time_limit_ms", spec.time_limit.ms)
      .number("grace_ms", spec.grace.ms)
      .number("retries", spec.retries)
      .flag("cancel_requested", w.cancel_requested)
      .time("waiting_since", w.waiting_since)
      .time("starting_since", w.starting_since)
      .time("running_since", w.running_since)
      .time("stopping_since", w.stopping_since)
      .time("ended_at", w.ended_at);
  const bool bounded = w.running_since.is_set() && spec.time_limit.ms > 0 && !has_ended(w.state);
  json.time("ends_by", bounded ? w.running_since + spec.time_limit : Instant{});
  write_end(json, w);
  if (w.state == WorkloadState::kWaiting)
    write_reason(json, "reason", state, w, reason_of(w));
  else
    json.null("reason");
  json.large("cost_micros", receipt_of(state, w, now_).cost.micros)
      .text("currency", currency_)
      .time("created_at", w.submitted_at)
      .time("updated_at", newest(w))
      .number("version", w.version)
      .open("can", '[');
  for (const Action action : {Action::kWorkloadRead, Action::kWorkloadContent})
    if (rights_.may(action, w.team)) json.item(name_of(action));
  if (!has_ended(w.state) && rights_.may(Action::kWorkloadCancel, w.team))
    json.item(name_of(Action::kWorkloadCancel));
  json.close(']').close();
}

void WorkWriter::receipt(JsonWriter& json, const Workload& w) {
  const Receipt r = receipt_of(view_.state, w, now_);
  json.open()
      .id("workload_id", w.id)
      .id("team_id", w.team)
      .text("name", w.spec->name)
      .text("state", name_in(wire::kWorkloadStates, w.state))
      .flag("final", r.final)
      .number("waited_ms", r.waited_ms)
      .number("starting_ms", r.starting_ms)
      .number("ran_ms", r.ran_ms)
      .number("releasing_ms", r.releasing_ms)
      .large("charged_gpu_milli_ms", r.charged_gpu_milli_ms)
      .large("not_charged_gpu_milli_ms", r.not_charged_gpu_milli_ms)
      .large("lease_gpu_milli_ms", r.lease_gpu_milli_ms)
      .number("cpu_ms", r.cpu_ms)
      .number("peak_memory_bytes", r.peak_memory_bytes)
      .number("price_micros_per_gpu_hour", r.price_per_gpu_hour.micros)
      .large("cost_micros", r.cost.micros)
      .text("currency", currency_)
      .time("as_of", now_)
      .close();
}

// Waiting work of its team that stands before it, plus one.
std::int64_t WorkWriter::place_in_team(const Workload& w) const {
  const auto order = [](const WaitingKey& key) {
    return std::tie(key.work_class, key.minus_priority, key.submitted_at, key.id);
  };
  const WaitingKey mine{w.team, 0, w.spec->work_class, -w.spec->priority, w.submitted_at, w.id};
  std::int64_t place = 1;
  const auto& waiting = view_.state.waiting();
  WaitingKey first;
  first.team = w.team;
  for (auto at = waiting.lower_bound(first); at != waiting.end() && at->key.team == w.team; ++at)
    if (order(at->key) < order(mine)) ++place;
  return place;
}

void WorkWriter::why(JsonWriter& json, const Workload& w) {
  const bool waits = w.state == WorkloadState::kWaiting;
  const Reason reason = waits ? reason_of(w) : Reason{};
  json.open()
      .id("workload_id", w.id)
      .text("name", w.spec->name)
      .text("state", name_in(wire::kWorkloadStates, w.state))
      .text("sentence", waits ? words_for(view_.state, w, reason).sentence : doing(w))
      .open("reasons", '[');
  if (waits) write_reason(json, {}, view_.state, w, reason);
  json.close(']').number_or_null("place_in_team", waits ? place_in_team(w) : 0);
  json.time("as_of", view_.as_of).close();
}

void WorkWriter::allocation(JsonWriter& json, const Allocation& a, const std::string& work_name) {
  const State& state = view_.state;
  const Node* node = state.nodes().find(a.node);
  json.open()
      .id("id", a.id)
      .id("workload_id", a.workload)
      .text_or_null("workload_name", work_name)
      .id("team_id", a.team)
      .id("pool_id", a.pool)
      .text("pool_name", pool_name(a.pool))
      .id("node_id", a.node)
      .text("node_name", node == nullptr ? "" : node->name)
      .number("replica", a.replica)
      .number("attempt", a.attempt)
      .text("state", name_in(wire::kAllocationStates, a.state))
      .number("gpu_milli", a.amount().as_milli())
      .open("devices", '[');
  for (const DeviceLease& lease : a.devices) {
    std::string uuid;
    if (node != nullptr)
      for (const Device& device : node->devices)
        if (device.id == lease.device) uuid = device.uuid;
    json.open()
        .id("device_id", lease.device)
        .text_or_null("uuid", uuid)
        .number("gpu_milli", lease.amount.as_milli())
        .close();
  }
  json.close(']')
      .number("cpu_milli", a.cpu_milli)
      .number("memory_bytes", a.memory_bytes)
      .time("created_at", a.recorded_at)
      .time("running_at", a.running_at)
      .time("ended_at", a.ended_at)
      .time("released_at", a.released_at)
      .close();
}

}  // namespace heddle::api
