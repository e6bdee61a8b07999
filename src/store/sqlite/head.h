// The head row: who writes, and how far every counter has come. Private to store/sqlite.
#pragma once

#include <cstdint>
#include <optional>

#include "control/ports/store.h"
#include "store/sqlite/connection.h"

namespace heddle::sqlite {

struct Head {
  std::int64_t epoch = 0;
  std::int64_t batch = 0;
  std::uint64_t last_id = 0;
  std::int64_t last_team_slot = 0;
  std::int64_t last_feed_seq = 0;
  std::int64_t last_audit_seq = 0;
  std::optional<ClockMark> clock;
};

// All throw Failure.
Head read_head(Connection& connection);

// Inside a transaction: the next writer's epoch begins, with no batch yet.
Head begin_epoch(Connection& connection, std::int64_t epoch);

// Inside the batch's own transaction, first: fails with conflict when a newer writer is there.
// Everything else in the head is brought up to what the batch holds.
void advance_head(Connection& connection, const Batch& batch);

bool batch_is_there(Connection& connection, std::int64_t epoch, std::int64_t batch);

// The head's counters as they stand after a restore, see backup.h.
void overwrite_head(Connection& connection, const Head& head);

}  // namespace heddle::sqlite
