#include <utility>

#include "store/sqlite/failure.h"
#include "store/sqlite/rows.h"
#include "store/sqlite/spec_text.h"

namespace heddle::sqlite {

void put(Connection& connection, const Site& s) {
  const EngineTraits& t = s.traits;
  const std::string notes = string_list_text(t.notes);
  connection.run(
      "INSERT OR REPLACE INTO sites (id, name, engine, isolates_jobs, fences_device_memory,"
      " places_device, limits_memory, limits_processes, wipes_devices, notes, created_at,"
      " updated_at, version) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
      s.id, s.name, s.engine, t.isolates_jobs, t.fences_device_memory, t.places_device,
      t.limits_memory, t.limits_processes, t.wipes_devices, notes, s.created_at, s.updated_at,
      s.version);
}

void put(Connection& connection, const Pool& p) {
  connection.run(
      "INSERT OR REPLACE INTO pools (id, site, name, device_model, device_memory_bytes,"
      " micros_per_gpu_hour, created_at, updated_at, version) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
      p.id, p.site, p.name, p.device_model, p.device_memory_bytes, p.price_per_gpu_hour,
      p.created_at, p.updated_at, p.version);
}

void put(Connection& connection, const Node& n) {
  connection.run(
      "INSERT OR REPLACE INTO nodes (id, site, pool, name, state, simulated, cpu_milli,"
      " memory_bytes, created_at, updated_at, version) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
      n.id, n.site, n.pool, n.name, n.state, n.simulated, n.cpu_milli, n.memory_bytes, n.created_at,
      n.updated_at, n.version);
  connection.run("DELETE FROM devices WHERE node = ?", n.id);
  for (const Device& d : n.devices) {
    connection.run(
        "INSERT INTO devices (node, id, uuid, memory_bytes, health) VALUES (?, ?, ?, ?, ?)", n.id,
        d.id, d.uuid, d.memory_bytes, d.health);
  }
}

void put(Connection& connection, const Share& s) {
  connection.run(
      "INSERT OR REPLACE INTO shares (team, pool, guarantee_milli, limit_milli, weight, rank,"
      " version) VALUES (?, ?, ?, ?, ?, ?, ?)",
      s.key.team, s.key.pool, s.guarantee, s.limit, s.weight, s.rank, s.version);
}

void erase(Connection& connection, NodeId id) {
  connection.run("DELETE FROM devices WHERE node = ?", id);
  connection.run("DELETE FROM nodes WHERE id = ?", id);
}

namespace {

void load_sites(Connection& connection, Draft& draft) {
  const auto sites = connection.query(
      "SELECT id, name, engine, isolates_jobs, fences_device_memory, places_device, limits_memory,"
      " limits_processes, wipes_devices, created_at, updated_at, version, notes FROM sites"
      " ORDER BY id");
  while (sites->next()) {
    Site s;
    EngineTraits& t = s.traits;
    sites->take(s.id, s.name, s.engine, t.isolates_jobs, t.fences_device_memory, t.places_device,
                t.limits_memory, t.limits_processes, t.wipes_devices, s.created_at, s.updated_at,
                s.version);
    auto notes = parse_string_list(sites->take_view());
    if (!notes) fail_damaged(connection.file(), "the notes of site " + s.id.text());
    t.notes = std::move(*notes);
    draft.put(std::move(s));
  }
}

std::vector<Device> read_devices(Connection& connection, NodeId node) {
  std::vector<Device> devices;
  const auto query = connection.query(
      "SELECT id, uuid, memory_bytes, health FROM devices WHERE node = ? ORDER BY id", node);
  while (query->next()) {
    Device d;
    query->take(d.id, d.uuid, d.memory_bytes, counted(d.health, 2));
    devices.push_back(std::move(d));
  }
  return devices;
}

void load_nodes(Connection& connection, Draft& draft) {
  const auto nodes = connection.query(
      "SELECT id, site, pool, name, state, simulated, cpu_milli, memory_bytes, created_at,"
      " updated_at, version FROM nodes ORDER BY id");
  while (nodes->next()) {
    Node n;
    nodes->take(n.id, n.site, n.pool, n.name, counted(n.state, kNodeStateCount), n.simulated,
                n.cpu_milli, n.memory_bytes, n.created_at, n.updated_at, n.version);
    n.devices = read_devices(connection, n.id);
    draft.put(std::move(n));
  }
}

}  // namespace

void load_estate(Connection& connection, Draft& draft) {
  load_sites(connection, draft);
  const auto pools = connection.query(
      "SELECT id, site, name, device_model, device_memory_bytes, micros_per_gpu_hour, created_at,"
      " updated_at, version FROM pools ORDER BY id");
  while (pools->next()) {
    Pool p;
    pools->take(p.id, p.site, p.name, p.device_model, p.device_memory_bytes, p.price_per_gpu_hour,
                p.created_at, p.updated_at, p.version);
    draft.put(std::move(p));
  }
  load_nodes(connection, draft);
  const auto shares = connection.query(
      "SELECT team, pool, guarantee_milli, limit_milli, weight, rank, version FROM shares"
      " ORDER BY team, pool");
  while (shares->next()) {
    Share s;
    shares->take(s.key.team, s.key.pool, s.guarantee, s.limit, s.weight, s.rank, s.version);
    draft.put(s);
  }
}

}  // namespace heddle::sqlite
