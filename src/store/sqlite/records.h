// Rows beside the model: feed, audit, blobs, idempotency; pages of ended work; retention.
// Private to store/sqlite. All throw Failure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "control/ports/store.h"
#include "store/sqlite/connection.h"

namespace heddle::sqlite {

// records.cpp; the writes run inside the batch's transaction.
void append(Connection& connection, const FeedEvent& event);
void append(Connection& connection, const AuditEntry& entry);
void keep(Connection& connection, const Blob& blob);
void keep(Connection& connection, const IdempotencyRecord& record);
std::vector<FeedEvent> read_feed(Connection& connection, std::int64_t after, std::int64_t limit);
std::vector<AuditEntry> read_audit(Connection& connection, std::int64_t before, std::int64_t limit);
std::optional<IdempotencyRecord> read_idempotency(Connection& connection, UserId user,
                                                  const std::string& route, const std::string& key);
std::optional<std::string> read_blob(Connection& connection, const std::string& sha256_hex);

// ended.cpp
// The index holds ended work only, so the query must say so; as `likely` it is not taken for a
// range to search, which would sort all of a team's work for each page.
inline constexpr const char* kEndedIds =
    "SELECT id FROM workloads INDEXED BY workloads_ended WHERE likely(state >= 4) AND team = ?"
    " AND state = ? AND id < ? ORDER BY id DESC LIMIT ?";
inline constexpr const char* kEndedIdsNamed =
    "SELECT id FROM workloads INDEXED BY workloads_ended_named WHERE likely(state >= 4) AND"
    " team = ? AND name = ? AND state = ? AND id < ? ORDER BY id DESC LIMIT ?";
std::optional<Workload> read_ended(Connection& connection, WorkloadId id);
std::vector<Workload> read_ended_page(Connection& connection, const EndedQuery& query);

// trim.cpp; see Store::trim. One transaction.
Trimmed trim(Connection& connection, Instant now, const Retention& retention, std::int64_t rows);

}  // namespace heddle::sqlite
