#include "store/sqlite/connection.h"

#include <sqlite3.h>

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "store/sqlite/failure.h"

namespace heddle::sqlite {

std::int64_t stored_form(std::uint64_t id) {
  return id <= static_cast<std::uint64_t>(INT64_MAX) ? static_cast<std::int64_t>(id) : -1;
}

Query::~Query() {
  sqlite3_reset(statement_);
  sqlite3_clear_bindings(statement_);
}

bool Query::next() {
  const int code = sqlite3_step(statement_);
  if (code == SQLITE_ROW) return true;
  if (code == SQLITE_DONE) return false;
  fail(connection_.raw(), sqlite3_extended_errcode(connection_.raw()), connection_.file());
}

void Query::bind_one(std::int64_t value) {
  HEDDLE_CHECK(sqlite3_bind_int64(statement_, ++bound_, value) == SQLITE_OK);
}

void Query::bind_one(std::string_view text) {
  // A null pointer would bind NULL.
  const char* start = text.data() != nullptr ? text.data() : "";
  const int code =
      sqlite3_bind_text64(statement_, ++bound_, start, text.size(), SQLITE_STATIC, SQLITE_UTF8);
  if (code != SQLITE_OK) fail(connection_.raw(), code, connection_.file());
}

void Query::bind_one(BlobView blob) {
  const char* start = blob.bytes.data() != nullptr ? blob.bytes.data() : "";
  const int code =
      sqlite3_bind_blob64(statement_, ++bound_, start, blob.bytes.size(), SQLITE_STATIC);
  if (code != SQLITE_OK) fail(connection_.raw(), code, connection_.file());
}

void Query::bind_id(std::uint64_t id) {
  HEDDLE_CHECK(id <= static_cast<std::uint64_t>(INT64_MAX));
  bind_one(static_cast<std::int64_t>(id));
}

std::string_view Query::take_view() {
  const int column = column_++;
  const auto* start = static_cast<const char*>(sqlite3_column_blob(statement_, column));
  const auto size = static_cast<std::size_t>(sqlite3_column_bytes(statement_, column));
  return start != nullptr ? std::string_view{start, size} : std::string_view{};
}

std::int64_t Query::take_integer(std::int64_t low, std::int64_t high) {
  const std::int64_t value = sqlite3_column_int64(statement_, column_++);
  if (value < low || value > high)
    fail_damaged(connection_.file(), "a number in it is out of its range");
  return value;
}

void Query::take_one(std::array<std::uint8_t, 32>& hash) {
  const std::string_view bytes = take_view();
  if (bytes.size() != hash.size()) fail_damaged(connection_.file(), "a hash has a wrong length");
  std::copy(bytes.begin(), bytes.end(), hash.begin());
}

Connection::Connection(std::string file, Access access, const std::string& vfs)
    : file_{std::move(file)} {
  const int mode = access == Access::kReadOnly ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE;
  const int code = sqlite3_open_v2(file_.c_str(), &db_, mode | SQLITE_OPEN_NOMUTEX,
                                   vfs.empty() ? nullptr : vfs.c_str());
  try {
    if (code != SQLITE_OK) fail(db_, db_ != nullptr ? sqlite3_extended_errcode(db_) : code, file_);
    sqlite3_extended_result_codes(db_, 1);
    sqlite3_busy_timeout(db_, 5000);
  } catch (...) {
    close();
    throw;
  }
}

Connection::~Connection() { close(); }

void Connection::close() {
  for (const auto& [sql, statement] : statements_) sqlite3_finalize(statement);
  sqlite3_close(db_);
}

sqlite3_stmt* Connection::statement(const char* sql) {
  sqlite3_stmt*& kept = statements_[sql];
  if (kept == nullptr) {
    const int code = sqlite3_prepare_v3(db_, sql, -1, SQLITE_PREPARE_PERSISTENT, &kept, nullptr);
    if (code != SQLITE_OK) fail(db_, sqlite3_extended_errcode(db_), file_);
  }
  HEDDLE_CHECK(sqlite3_stmt_busy(kept) == 0);
  return kept;
}

std::int64_t Connection::changes() { return sqlite3_changes64(db_); }

std::int64_t Connection::number(const char* sql) {
  Query query{*this, statement(sql)};
  std::int64_t value = 0;
  if (query.next()) query.take(value);
  return value;
}

void Connection::execute(const std::string& sql) {
  const int code = sqlite3_exec(db_, sql.c_str(), nullptr, nullptr, nullptr);
  if (code != SQLITE_OK) fail(db_, sqlite3_extended_errcode(db_), file_);
}

Transaction::Transaction(Connection& connection, Span span) : connection_{connection} {
  connection_.run(span == Span::kWrite ? "BEGIN IMMEDIATE" : "BEGIN");
}

Transaction::~Transaction() {
  // After some errors SQLite has rolled back by itself.
  if (open_ && sqlite3_get_autocommit(connection_.raw()) == 0)
    sqlite3_exec(connection_.raw(), "ROLLBACK", nullptr, nullptr, nullptr);
}

void Transaction::commit() {
  connection_.run("COMMIT");
  open_ = false;
}

}  // namespace heddle::sqlite
