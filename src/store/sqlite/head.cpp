#include "store/sqlite/head.h"

#include <algorithm>
#include <variant>

#include "store/sqlite/failure.h"

namespace heddle::sqlite {
namespace {

struct Counters {
  std::uint64_t id = 0;
  std::int64_t team_slot = 0;
  std::int64_t feed_seq = 0;
  std::int64_t audit_seq = 0;
};

// The greatest of each in the batch.
Counters counters_of(const Batch& batch) {
  Counters c;
  for (const PutRow& row : batch.changes.puts) {
    std::visit(
        [&](const auto& r) {
          if constexpr (requires { r.id; }) c.id = std::max(c.id, r.id.value);
          if constexpr (requires { r.slot; }) c.team_slot = std::max(c.team_slot, r.slot);
        },
        row);
    if (const auto* node = std::get_if<Node>(&row))
      for (const Device& device : node->devices) c.id = std::max(c.id, device.id.value);
  }
  if (!batch.feed.empty()) c.feed_seq = batch.feed.back().seq;
  if (!batch.audit.empty()) c.audit_seq = batch.audit.back().seq;
  return c;
}

}  // namespace

Head read_head(Connection& connection) {
  const auto query = connection.query(
      "SELECT epoch, batch, last_id, last_team_slot, last_feed_seq, last_audit_seq,"
      " clock_set, clock_now, clock_boot_ms, clock_boot_id FROM head");
  if (!query->next()) fail_damaged(connection.file(), "its first row is missing");
  Head head;
  bool clock_set = false;
  ClockMark clock;
  query->take(head.epoch, head.batch, head.last_id, head.last_team_slot, head.last_feed_seq,
              head.last_audit_seq, clock_set, clock.now, clock.boot_ms, clock.boot_id);
  if (clock_set) head.clock = clock;
  return head;
}

Head begin_epoch(Connection& connection, std::int64_t epoch) {
  connection.run("INSERT OR REPLACE INTO past_epochs (epoch, batch) SELECT epoch, batch FROM head");
  connection.run("UPDATE head SET epoch = ?, batch = 0", epoch);
  return read_head(connection);
}

void advance_head(Connection& connection, const Batch& batch) {
  const Counters c = counters_of(batch);
  const std::int64_t rows = connection.run(
      "UPDATE head SET batch = ?1, last_id = max(last_id, ?2),"
      " last_team_slot = max(last_team_slot, ?3), last_feed_seq = max(last_feed_seq, ?4),"
      " last_audit_seq = max(last_audit_seq, ?5), clock_set = 1, clock_now = ?6,"
      " clock_boot_ms = ?7, clock_boot_id = ?8 WHERE epoch = ?9 AND batch < ?1",
      batch.batch_id, Id<struct AnyTag>{c.id}, c.team_slot, c.feed_seq, c.audit_seq,
      batch.clock.now, batch.clock.boot_ms, batch.clock.boot_id, batch.epoch);
  if (rows == 1) return;
  if (read_head(connection).epoch != batch.epoch) {
    throw Failure{{.code = ErrorCode::kConflict,
                   .message = "Another server has taken over " + connection.file() +
                              "; this one must stop."}};
  }
  throw Failure{{.code = ErrorCode::kInternal, .message = "This batch was committed before."}};
}

bool batch_is_there(Connection& connection, std::int64_t epoch, std::int64_t batch) {
  const auto query = connection.query(
      "SELECT max(batch) FROM (SELECT batch FROM head WHERE epoch = ?1"
      " UNION ALL SELECT batch FROM past_epochs WHERE epoch = ?1)",
      epoch);
  std::int64_t last = 0;
  if (query->next()) query->take(last);
  return batch <= last;
}

void overwrite_head(Connection& connection, const Head& head) {
  const ClockMark clock = head.clock.value_or(ClockMark{});
  connection.run(
      "UPDATE head SET epoch = ?, batch = ?, last_id = ?, last_team_slot = ?, last_feed_seq = ?,"
      " last_audit_seq = ?, clock_set = ?, clock_now = ?, clock_boot_ms = ?, clock_boot_id = ?",
      head.epoch, head.batch, Id<struct AnyTag>{head.last_id}, head.last_team_slot,
      head.last_feed_seq, head.last_audit_seq, head.clock.has_value(), clock.now, clock.boot_ms,
      clock.boot_id);
}

}  // namespace heddle::sqlite
