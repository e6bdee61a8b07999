#include <utility>

#include "store/sqlite/rows.h"

namespace heddle::sqlite {
namespace {

std::int64_t write_row(Connection& connection, const char* sql, const Allocation& a) {
  return connection.run(sql, a.epoch, a.state, a.cpu_milli, a.memory_bytes, a.recorded_at,
                        a.running_at, a.ended_at, a.released_at, a.deadline, a.stop_requested,
                        a.stop_cause, a.end.cause, a.end.exit_code, a.end.signal, a.end.message,
                        a.cpu_ms, a.peak_memory_bytes, a.workload, a.team, a.pool, a.node,
                        a.replica, a.attempt, a.amount(), a.id);
}

std::vector<DeviceLease> read_leases(Connection& connection, AllocationId id) {
  std::vector<DeviceLease> leases;
  const auto query = connection.query(
      "SELECT device, amount_milli FROM leases WHERE allocation = ? ORDER BY device", id);
  while (query->next()) {
    DeviceLease lease;
    query->take(lease.device, lease.amount);
    leases.push_back(lease);
  }
  return leases;
}

Allocation read_row(Connection& connection, Query& query) {
  Allocation a;
  query.take(a.epoch, counted(a.state, kAllocationStateCount), a.cpu_milli, a.memory_bytes,
             a.recorded_at, a.running_at, a.ended_at, a.released_at, a.deadline, a.stop_requested,
             counted(a.stop_cause, kEndCauseCount), counted(a.end.cause, kEndCauseCount),
             a.end.exit_code, a.end.signal, a.end.message, a.cpu_ms, a.peak_memory_bytes);
  query.take_more(a.workload, a.team, a.pool, a.node, a.replica, a.attempt, a.id);
  a.devices = read_leases(connection, a.id);
  return a;
}

}  // namespace

void put(Connection& connection, const Allocation& a) {
  // The WHERE names what never changes: a row that differs there is refused by the INSERT below.
  const std::int64_t changed = write_row(
      connection,
      "UPDATE allocations SET epoch = ?, state = ?, cpu_milli = ?, memory_bytes = ?,"
      " recorded_at = ?, running_at = ?, ended_at = ?, released_at = ?, deadline = ?,"
      " stop_requested = ?, stop_cause = ?, end_cause = ?, end_exit_code = ?, end_signal = ?,"
      " end_message = ?, cpu_ms = ?, peak_memory_bytes = ? WHERE workload = ? AND team = ? AND"
      " pool = ? AND node = ? AND replica = ? AND attempt = ? AND gpu_milli = ? AND id = ?",
      a);
  if (changed == 1) return;
  write_row(connection,
            "INSERT INTO allocations (epoch, state, cpu_milli, memory_bytes, recorded_at,"
            " running_at, ended_at, released_at, deadline, stop_requested, stop_cause, end_cause,"
            " end_exit_code, end_signal, end_message, cpu_ms, peak_memory_bytes, workload, team,"
            " pool, node, replica, attempt, gpu_milli, id) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?,"
            " ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            a);
  for (const DeviceLease& lease : a.devices) {
    connection.run("INSERT INTO leases (allocation, device, amount_milli) VALUES (?, ?, ?)", a.id,
                   lease.device, lease.amount);
  }
}

void erase(Connection& connection, AllocationId id) {
  connection.run("DELETE FROM leases WHERE allocation = ?", id);
  connection.run("DELETE FROM allocations WHERE id = ?", id);
}

void load_live_allocations(Connection& connection, Draft& draft) {
  const auto query = connection.query(
      "SELECT epoch, state, cpu_milli, memory_bytes, recorded_at, running_at, ended_at,"
      " released_at, deadline, stop_requested, stop_cause, end_cause, end_exit_code, end_signal,"
      " end_message, cpu_ms, peak_memory_bytes, workload, team, pool, node, replica, attempt, id"
      " FROM allocations WHERE state <> 5 ORDER BY id");
  while (query->next()) draft.put(read_row(connection, *query));
}

std::vector<Allocation> read_released(Connection& connection, WorkloadId workload) {
  std::vector<Allocation> all;
  const auto query = connection.query(
      "SELECT epoch, state, cpu_milli, memory_bytes, recorded_at, running_at, ended_at,"
      " released_at, deadline, stop_requested, stop_cause, end_cause, end_exit_code, end_signal,"
      " end_message, cpu_ms, peak_memory_bytes, workload, team, pool, node, replica, attempt, id"
      " FROM allocations WHERE workload = ? AND state = 5 ORDER BY id",
      stored_form(workload.value));
  while (query->next()) all.push_back(read_row(connection, *query));
  return all;
}

}  // namespace heddle::sqlite
