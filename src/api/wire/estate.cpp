#include "api/wire/estate.h"

#include <algorithm>

#include "api/wire/names.h"

namespace heddle::api {
namespace {

GpuAmount used_of(const State& state, DeviceId id) {
  const DeviceUse* use = state.device_use().find(id);
  return use == nullptr ? GpuAmount{} : use->used;
}

struct NodeSums {
  GpuAmount usable, used, free;
  std::int64_t devices = 0;
  std::int64_t sick = 0;
};

// Usable and free count healthy devices of a ready node.
NodeSums sums_of(const State& state, const Node& node) {
  NodeSums sums;
  for (const Device& device : node.devices) {
    const GpuAmount used = used_of(state, device.id);
    ++sums.devices;
    sums.used += used;
    if (device.health == DeviceHealth::kSick) ++sums.sick;
    if (device.health == DeviceHealth::kSick || node.state != NodeState::kReady) continue;
    sums.usable += GpuAmount::devices(1);
    sums.free += GpuAmount::devices(1) - used;
  }
  return sums;
}

}  // namespace

void write_texts(JsonWriter& json, std::string_view name, const std::vector<std::string>& texts) {
  json.open(name, '[');
  for (const std::string& text : texts) json.item(text);
  json.close(']');
}

PoolNotes notes_of(const State& state, PoolId id) {
  PoolNotes out;
  const Pool* pool = state.pools().find(id);
  if (pool == nullptr) return out;
  for (const auto& [node_id, node] : state.nodes())
    if (node.pool == id && node.simulated) {
      out.simulated = true;
      break;
    }
  if (out.simulated) out.notes.push_back("The GPUs of this pool are simulated.");
  if (const Site* site = state.sites().find(pool->site))
    out.notes.insert(out.notes.end(), site->traits.notes.begin(), site->traits.notes.end());
  return out;
}

void write_site(JsonWriter& json, Rights& rights, const Site& site) {
  const EngineTraits& traits = site.traits;
  json.open()
      .id("id", site.id)
      .text("name", site.name)
      .text("engine", site.engine)
      .open("traits", '{')
      .flag("isolates_jobs", traits.isolates_jobs)
      .flag("fences_device_memory", traits.fences_device_memory)
      .flag("places_device", traits.places_device)
      .flag("limits_memory", traits.limits_memory)
      .flag("limits_processes", traits.limits_processes)
      .flag("wipes_devices", traits.wipes_devices)
      .close();
  write_texts(json, "notes", traits.notes);
  json.time("created_at", site.created_at)
      .time("updated_at", site.updated_at)
      .number("version", site.version);
  rights.write_can(json, {}, {Action::kEstateManage});
  json.close();
}

void write_pool(JsonWriter& json, const State& state, Rights& rights, const Pool& pool,
                const std::string& currency) {
  NodeSums sums;
  std::int64_t nodes = 0;
  for (const auto& [id, node] : state.nodes()) {
    if (node.pool != pool.id) continue;
    const NodeSums one = sums_of(state, node);
    ++nodes;
    sums.devices += one.devices;
    sums.sick += one.sick;
    sums.usable += one.usable;
    sums.used += one.used;
    sums.free += one.free;
  }
  const Site* site = state.sites().find(pool.site);
  const PoolNotes notes = notes_of(state, pool.id);
  json.open()
      .id("id", pool.id)
      .id("site_id", pool.site)
      .text("site_name", site == nullptr ? "" : site->name)
      .text("name", pool.name)
      .text("device_model", pool.device_model)
      .number("device_memory_bytes", pool.device_memory_bytes)
      .number("price_micros_per_gpu_hour", pool.price_per_gpu_hour.micros)
      .text("currency", currency)
      .number("nodes", nodes)
      .number("devices", sums.devices)
      .number("usable_gpu_milli", sums.usable.as_milli())
      .number("used_gpu_milli", sums.used.as_milli())
      .number("free_gpu_milli", sums.free.as_milli())
      .number("sick_devices", sums.sick)
      .flag("simulated", notes.simulated);
  write_texts(json, "notes", notes.notes);
  json.time("created_at", pool.created_at)
      .time("updated_at", pool.updated_at)
      .number("version", pool.version);
  rights.write_can(json, {}, {Action::kEstateManage});
  json.close();
}

void write_node(JsonWriter& json, const State& state, Rights& rights, const Node& node) {
  const NodeSums sums = sums_of(state, node);
  const NodeUse* use = state.node_use().find(node.id);
  const Pool* pool = state.pools().find(node.pool);
  json.open()
      .id("id", node.id)
      .id("site_id", node.site)
      .id("pool_id", node.pool)
      .text("pool_name", pool == nullptr ? "" : pool->name)
      .text("name", node.name)
      .text("state", wire::kNodeStates[static_cast<std::size_t>(node.state)])
      .flag("simulated", node.simulated)
      .number("cpu_milli", node.cpu_milli)
      .number("cpu_used_milli", use == nullptr ? 0 : use->cpu_milli)
      .number("memory_bytes", node.memory_bytes)
      .number("memory_used_bytes", use == nullptr ? 0 : use->memory_bytes)
      .number("used_gpu_milli", sums.used.as_milli())
      .number("free_gpu_milli", sums.free.as_milli())
      .open("devices", '[');
  for (const Device& device : node.devices)
    json.open()
        .id("id", device.id)
        .text("uuid", device.uuid)
        .number("memory_bytes", device.memory_bytes)
        .text("health", wire::kDeviceHealths[static_cast<std::size_t>(device.health)])
        .number("used_gpu_milli", used_of(state, device.id).as_milli())
        .close();
  json.close(']')
      .time("created_at", node.created_at)
      .time("updated_at", node.updated_at)
      .number("version", node.version);
  rights.write_can(json, {}, {Action::kEstateManage});
  json.close();
}

}  // namespace heddle::api
