#include "store/sqlite/records.h"

#include <utility>

#include "store/sqlite/rows.h"

namespace heddle::sqlite {
void append(Connection& connection, const FeedEvent& e) {
  connection.run(
      "INSERT INTO feed (seq, at, team, subject_kind, subject, what, note)"
      " VALUES (?, ?, ?, ?, ?, ?, ?)",
      e.seq, e.at, e.team, e.subject_kind, Id<struct SubjectTag>{e.subject}, e.what, e.note);
}

void append(Connection& connection, const AuditEntry& e) {
  // A refused act may name a subject that never was.
  connection.run(
      "INSERT INTO audit (seq, at, who, action, subject_kind, subject, team, result, request_id)"
      " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
      e.seq, e.at, e.who, e.action, e.subject_kind, static_cast<std::int64_t>(e.subject), e.team,
      e.result, e.request_id);
}

void keep(Connection& connection, const Blob& blob) {
  connection.run("INSERT OR IGNORE INTO blobs (sha256_hex, bytes) VALUES (?, ?)", blob.sha256_hex,
                 BlobView{blob.bytes});
}

void keep(Connection& connection, const IdempotencyRecord& r) {
  connection.run(
      "INSERT OR REPLACE INTO idempotency (user, route, key, body_sha256_hex, subject, at)"
      " VALUES (?, ?, ?, ?, ?, ?)",
      r.user, r.route, r.key, r.body_sha256_hex, Id<struct SubjectTag>{r.subject}, r.at);
}

std::vector<FeedEvent> read_feed(Connection& connection, std::int64_t after, std::int64_t limit) {
  std::vector<FeedEvent> events;
  const auto query = connection.query(
      "SELECT seq, at, team, subject_kind, subject, what, note FROM feed WHERE seq > ?"
      " ORDER BY seq LIMIT ?",
      after, limit);
  while (query->next()) {
    FeedEvent e;
    query->take(e.seq, e.at, e.team, counted(e.subject_kind, kSubjectKindCount), e.subject, e.what,
                e.note);
    events.push_back(std::move(e));
  }
  return events;
}

std::vector<AuditEntry> read_audit(Connection& connection, std::int64_t before,
                                   std::int64_t limit) {
  std::vector<AuditEntry> entries;
  const auto query = connection.query(
      "SELECT seq, at, who, action, subject_kind, subject, team, result, request_id FROM audit"
      " WHERE seq < ? ORDER BY seq DESC LIMIT ?",
      before > 0 ? before : INT64_MAX, limit);
  while (query->next()) {
    AuditEntry e;
    std::int64_t subject = 0;
    query->take(e.seq, e.at, e.who, e.action, counted(e.subject_kind, kSubjectKindCount), subject,
                e.team, e.result, e.request_id);
    e.subject = static_cast<std::uint64_t>(subject);
    entries.push_back(std::move(e));
  }
  return entries;
}

std::optional<IdempotencyRecord> read_idempotency(Connection& connection, UserId user,
                                                  const std::string& route,
                                                  const std::string& key) {
  const auto query = connection.query(
      "SELECT user, route, key, body_sha256_hex, subject, at FROM idempotency"
      " WHERE user = ? AND route = ? AND key = ?",
      stored_form(user.value), route, key);
  if (!query->next()) return std::nullopt;
  IdempotencyRecord r;
  query->take(r.user, r.route, r.key, r.body_sha256_hex, r.subject, r.at);
  return r;
}

std::optional<std::string> read_blob(Connection& connection, const std::string& sha256_hex) {
  const auto query = connection.query("SELECT bytes FROM blobs WHERE sha256_hex = ?", sha256_hex);
  if (!query->next()) return std::nullopt;
  return std::string{query->take_view()};
}

std::optional<Workload> read_ended(Connection& connection, WorkloadId id) {
  const auto query = connection.query("SELECT * FROM workload_rows WHERE id = ? AND state >= 4",
                                      stored_form(id.value));
  if (!query->next()) return std::nullopt;
  return read_workload(connection, *query);
}

}  // namespace heddle::sqlite
