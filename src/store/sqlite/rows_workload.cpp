#include <utility>

#include "store/sqlite/failure.h"
#include "store/sqlite/rows.h"
#include "store/sqlite/spec_text.h"

namespace heddle::sqlite {
namespace {

// The same values in the same order for a new row and a changed one.
std::int64_t write_row(Connection& connection, const char* sql, const Workload& w) {
  const UsageTotals& u = w.usage;
  return connection.run(
      sql, w.team, w.owner, w.spec->name, w.state, w.attempt, w.failures, w.losses, w.released,
      w.pool, w.cancel_requested, w.cancelled_by, w.submitted_at, w.waiting_since, w.starting_since,
      w.running_since, w.stopping_since, w.ended_at, w.end.cause, w.end.exit_code, w.end.signal,
      w.end.message, u.charged_gpu_milli_ms, u.lease_gpu_milli_ms, u.cpu_ms, u.peak_memory_bytes,
      u.waited_ms, u.starting_ms, u.ran_ms, u.releasing_ms, w.version, w.id);
}

void put_spec(Connection& connection, const Workload& w) {
  const std::string text = spec_text(*w.spec);
  // What could not be read back must not get in.
  if (!is_utf8(text)) {
    throw Failure{{.code = ErrorCode::kInvalidArgument,
                   .message = "A text in workload " + w.id.text() + " is not valid UTF-8."}};
  }
  connection.run("INSERT INTO workload_specs (workload, spec) VALUES (?, ?)", w.id, text);
  for (const FileRef& file : w.spec->files) {
    connection.run("INSERT OR IGNORE INTO blob_uses (workload, sha256_hex) VALUES (?, ?)", w.id,
                   file.sha256_hex);
  }
}

}  // namespace

// A job passes about four commits, of which one is its first: so the change is tried first, and
// what was asked is written once.
void put(Connection& connection, const Workload& w) {
  const std::int64_t changed = write_row(
      connection,
      "UPDATE workloads SET team = ?, owner = ?, name = ?, state = ?, attempt = ?, failures = ?,"
      " losses = ?, released = ?, pool = ?,"
      " cancel_requested = ?, cancelled_by = ?, submitted_at = ?, waiting_since = ?,"
      " starting_since = ?, running_since = ?, stopping_since = ?, ended_at = ?, end_cause = ?,"
      " end_exit_code = ?, end_signal = ?, end_message = ?, charged_gpu_milli_ms = ?,"
      " lease_gpu_milli_ms = ?, cpu_ms = ?, peak_memory_bytes = ?, waited_ms = ?, starting_ms = ?,"
      " ran_ms = ?, releasing_ms = ?, version = ? WHERE id = ?",
      w);
  if (changed == 1) return;
  write_row(
      connection,
      "INSERT INTO workloads (team, owner, name, state, attempt, failures, losses,"
      " released, pool, cancel_requested,"
      " cancelled_by, submitted_at, waiting_since, starting_since, running_since,"
      " stopping_since, ended_at, end_cause, end_exit_code, end_signal, end_message,"
      " charged_gpu_milli_ms, lease_gpu_milli_ms, cpu_ms, peak_memory_bytes, waited_ms,"
      " starting_ms, ran_ms, releasing_ms, version, id) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?,"
      " ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
      w);
  put_spec(connection, w);
}

Workload read_workload(Connection& connection, Query& query) {
  Workload w;
  UsageTotals& u = w.usage;
  query.take(w.id, w.team, w.owner, counted(w.state, kWorkloadStateCount), w.attempt, w.failures,
             w.losses, w.released, w.pool, w.cancel_requested, w.cancelled_by, w.submitted_at,
             w.waiting_since, w.starting_since, w.running_since, w.stopping_since, w.ended_at,
             counted(w.end.cause, kEndCauseCount), w.end.exit_code, w.end.signal, w.end.message);
  query.take_more(u.charged_gpu_milli_ms, u.lease_gpu_milli_ms, u.cpu_ms, u.peak_memory_bytes,
                  u.waited_ms, u.starting_ms, u.ran_ms, u.releasing_ms, w.version);
  w.spec = parse_spec_text(query.take_view());
  if (w.spec == nullptr) fail_damaged(connection.file(), "what workload " + w.id.text() + " asked");
  return w;
}

void load_live_workloads(Connection& connection, Draft& draft) {
  const auto query = connection.query("SELECT * FROM workload_rows WHERE state < 4 ORDER BY id");
  for (std::int64_t n = 1; query->next(); ++n) {
    draft.put(read_workload(connection, *query));
    // The draft notes what changes; nobody wants to know here, and it would hold it all twice.
    if (n % 1024 == 0) draft.take_changes();
  }
}

}  // namespace heddle::sqlite
