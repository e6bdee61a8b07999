#include "control/inventory.h"

#include <algorithm>
#include <set>
#include <string>

namespace heddle {
namespace {

std::string slug(std::string_view model) {
  std::string text;
  for (const char c : model) {
    if (c >= 'A' && c <= 'Z')
      text.push_back(static_cast<char>(c - 'A' + 'a'));
    else if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'))
      text.push_back(c);
    else if (!text.empty() && text.back() != '-')
      text.push_back('-');
  }
  if (text.size() > 60) text.resize(60);
  while (!text.empty() && text.back() == '-') text.pop_back();
  return text.empty() ? "gpu" : text;
}

// The short name when it is free (h100), else the long one (h100-80gb), else numbered.
std::string free_pool_name(const State& state, const std::string& model) {
  if (model.empty() && !state.pool_names().contains("cpu")) return "cpu";
  std::string full = model.empty() ? "cpu" : slug(model);
  std::string brief = full.substr(0, full.find('-'));
  if (!state.pool_names().contains(brief)) return brief;
  if (!state.pool_names().contains(full)) return full;
  for (int n = 2;; ++n) {
    const std::string name = full + "-" + std::to_string(n);
    if (!state.pool_names().contains(name)) return name;
  }
}

PoolId pool_for(Books& books, SiteId site, const FoundNode& found) {
  const std::int64_t memory = found.devices.empty() ? 0 : found.devices.front().memory_bytes;
  for (const auto& [id, pool] : books.state().pools())
    if (pool.site == site && pool.device_model == found.device_model &&
        pool.device_memory_bytes == memory)
      return id;
  Pool pool;
  pool.id = books.new_id<PoolTag>();
  pool.site = site;
  pool.name = free_pool_name(books.state(), found.device_model);
  pool.device_model = found.device_model;
  pool.device_memory_bytes = memory;
  pool.created_at = pool.updated_at = books.now;
  const PoolId id = pool.id;
  books.tell({}, SubjectKind::kPool, id.value, "found", pool.name);
  books.draft.put(std::move(pool));
  return id;
}

bool is_leased(const State& state, DeviceId device) { return state.device_use().contains(device); }

bool holds_anything(const State& state, NodeId node) {
  const auto at = state.node_allocations().lower_bound({node, AllocationId{}});
  return at != state.node_allocations().end() && at->key.first == node;
}

std::vector<Device> merged_devices(Books& books, const Node* old, const FoundNode& found) {
  std::vector<Device> devices;
  std::set<std::string> seen;
  for (const FoundDevice& f : found.devices) {
    if (!seen.insert(f.uuid).second) continue;
    Device device{{}, f.uuid, f.memory_bytes, f.health};
    const auto* known = books.state().device_uuids().find(f.uuid);
    device.id = known != nullptr ? known->second : books.new_id<DeviceTag>();
    devices.push_back(std::move(device));
  }
  if (old != nullptr) {
    for (Device device : old->devices) {
      if (seen.contains(device.uuid) || !is_leased(books.state(), device.id)) continue;
      device.health = DeviceHealth::kSick;
      devices.push_back(std::move(device));
    }
  }
  std::ranges::sort(devices, {}, &Device::id);
  return devices;
}

void take_node(Books& books, SiteId site, const FoundNode& found) {
  const NodeId* id = books.state().node_names().find(found.name);
  const Node* old = id != nullptr ? books.state().nodes().find(*id) : nullptr;
  Node node = old != nullptr ? *old : Node{};
  if (old == nullptr) {
    node.id = books.new_id<NodeTag>();
    node.name = found.name;
    node.created_at = books.now;
  } else if (node.state == NodeState::kLost) {
    node.state = NodeState::kReady;
  }
  node.site = site;
  // A node that holds work keeps its pool, so that running work stays where it is counted.
  if (old == nullptr || !holds_anything(books.state(), node.id))
    node.pool = pool_for(books, site, found);
  old = id != nullptr ? books.state().nodes().find(*id) : nullptr;
  node.simulated = found.simulated;
  node.cpu_milli = found.cpu_milli;
  node.memory_bytes = found.memory_bytes;
  node.devices = merged_devices(books, old, found);
  if (old != nullptr && *old == node) return;
  node.updated_at = books.now;
  if (old != nullptr) ++node.version;
  books.tell({}, SubjectKind::kNode, node.id.value, old == nullptr ? "found" : "changed",
             node.name);
  books.draft.put(std::move(node));
}

}  // namespace

SiteId take_site(Books& books, const std::string& name, const Engine& engine) {
  Site site;
  for (const auto& [id, known] : books.state().sites())
    if (known.name == name) site = known;
  const Site before = site;
  site.name = name;
  site.engine = engine.kind();
  site.traits = engine.traits();
  if (site.id.is_set() && site == before) return site.id;
  if (site.id.is_set()) {
    ++site.version;
  } else {
    site.id = books.new_id<SiteTag>();
    site.created_at = books.now;
  }
  site.updated_at = books.now;
  books.tell({}, SubjectKind::kSite, site.id.value, "changed", name);
  const SiteId id = site.id;
  books.draft.put(std::move(site));
  return id;
}

void take_nodes(Books& books, SiteId site, const std::vector<FoundNode>& nodes) {
  std::set<std::string> names;
  for (const FoundNode& found : nodes)
    if (names.insert(found.name).second) take_node(books, site, found);
  std::vector<Node> missing;
  for (const auto& [id, node] : books.state().nodes())
    if (node.site == site && !names.contains(node.name)) missing.push_back(node);
  for (Node& node : missing) {
    if (!holds_anything(books.state(), node.id)) {
      books.tell({}, SubjectKind::kNode, node.id.value, "gone", node.name);
      books.draft.erase(node.id);
    } else if (node.state != NodeState::kLost) {
      node.state = NodeState::kLost;
      node.updated_at = books.now;
      ++node.version;
      books.tell({}, SubjectKind::kNode, node.id.value, "lost", node.name);
      books.draft.put(std::move(node));
    }
  }
}

}  // namespace heddle
