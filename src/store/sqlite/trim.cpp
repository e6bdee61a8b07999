#include "store/sqlite/records.h"

namespace heddle::sqlite {
namespace {

// The oldest entries of a log that are past, at most `rows`; stops at the first that is kept, so
// that a log never gets holes.
std::int64_t last_past_seq(Query& oldest_first, Instant before) {
  std::int64_t last = 0;
  while (oldest_first.next()) {
    std::int64_t seq = 0;
    Instant at;
    oldest_first.take(seq, at);
    if (at >= before) break;
    last = seq;
  }
  return last;
}

std::int64_t trim_feed(Connection& connection, Instant before, std::int64_t rows) {
  const std::int64_t last = last_past_seq(
      *connection.query("SELECT seq, at FROM feed ORDER BY seq LIMIT ?", rows), before);
  return connection.run("DELETE FROM feed WHERE seq <= ?", last);
}

std::int64_t trim_audit(Connection& connection, Instant before, std::int64_t rows) {
  const std::int64_t last = last_past_seq(
      *connection.query("SELECT seq, at FROM audit ORDER BY seq LIMIT ?", rows), before);
  return connection.run("DELETE FROM audit WHERE seq <= ?", last);
}

std::int64_t trim_idempotency(Connection& connection, Instant before, std::int64_t rows) {
  return connection.run(
      "DELETE FROM idempotency WHERE (user, route, key) IN"
      " (SELECT user, route, key FROM idempotency WHERE at < ? ORDER BY at LIMIT ?)",
      before, rows);
}

void delete_workload(Connection& connection, WorkloadId id) {
  std::vector<std::string> blobs;
  {
    const auto uses = connection.query("SELECT sha256_hex FROM blob_uses WHERE workload = ?", id);
    while (uses->next()) uses->take(blobs.emplace_back());
  }
  connection.run("DELETE FROM blob_uses WHERE workload = ?", id);
  for (const std::string& sha256_hex : blobs) {
    connection.run(
        "DELETE FROM blobs WHERE sha256_hex = ?1 AND NOT EXISTS"
        " (SELECT 1 FROM blob_uses WHERE sha256_hex = ?1)",
        sha256_hex);
  }
  connection.run(
      "DELETE FROM leases WHERE allocation IN (SELECT id FROM allocations WHERE workload = ?)", id);
  connection.run("DELETE FROM allocations WHERE workload = ?", id);
  connection.run("DELETE FROM workload_specs WHERE workload = ?", id);
  connection.run("DELETE FROM workloads WHERE id = ?", id);
}

std::vector<WorkloadId> trim_workloads(Connection& connection, Instant before, std::int64_t rows) {
  std::vector<WorkloadId> old;
  {
    // What still holds devices stays in the books, however old.
    const auto query = connection.query(
        "SELECT id FROM workloads w INDEXED BY workloads_ended_at"
        " WHERE state >= 4 AND ended_at < ? AND NOT EXISTS"
        " (SELECT 1 FROM allocations WHERE workload = w.id AND state <> 5)"
        " ORDER BY ended_at LIMIT ?",
        before, rows);
    while (query->next()) query->take(old.emplace_back());
  }
  for (const WorkloadId id : old) delete_workload(connection, id);
  return old;
}

}  // namespace

Trimmed trim(Connection& connection, Instant now, const Retention& retention, std::int64_t rows) {
  Transaction transaction{connection, Span::kWrite};
  std::int64_t deleted = trim_feed(connection, now - retention.feed, rows);
  deleted += trim_audit(connection, now - retention.audit, rows - deleted);
  deleted += trim_idempotency(connection, now - retention.idempotency, rows - deleted);
  std::vector<WorkloadId> workloads =
      trim_workloads(connection, now - retention.ended_workloads, rows - deleted);
  transaction.commit();
  deleted += static_cast<std::int64_t>(workloads.size());
  return {deleted, std::move(workloads)};
}

}  // namespace heddle::sqlite
