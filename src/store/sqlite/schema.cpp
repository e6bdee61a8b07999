#include "store/sqlite/schema.h"

#include "base/check.h"
#include "store/sqlite/failure.h"

namespace heddle::sqlite {
namespace {

constexpr std::int64_t kApplicationId = 0x4845444C;  // "HEDL"

// Bits do not flip because a server was killed, so how the last run ended says nothing about
// damage. A small file is therefore read whole at every start (tens of ms); of a big one SQLite
// checks the pages that are used, when they are used, and a start stays quick.
constexpr std::int64_t kCheckWholeBytes = 32LL << 20;

void check_pages(Connection& connection, const char* pragma) {
  const auto query = connection.query(pragma);
  std::string verdict;
  if (query->next()) query->take(verdict);
  if (verdict != "ok") fail_damaged(connection.file(), verdict);
}

}  // namespace

void check_database(Connection& connection) {
  const std::int64_t application = connection.number("PRAGMA application_id");
  const std::int64_t version = connection.number("PRAGMA user_version");
  const bool empty = connection.number("SELECT count(*) FROM sqlite_schema") == 0;
  if (empty && application == 0 && version == 0) return;
  if (application != kApplicationId) {
    throw Failure{{.code = ErrorCode::kConflict,
                   .message = connection.file() + " is the database of another program.",
                   .next = "Start heddled with another folder."}};
  }
  const std::int64_t newest = migrations().back().number;
  if (version > newest) {
    throw Failure{
        {.code = ErrorCode::kConflict,
         .message = connection.file() + " was written by a newer Heddle (its format is " +
                    std::to_string(version) + ", this one knows up to " + std::to_string(newest) +
                    "); nothing was changed.",
         .next = "Start the newer version again, or restore a backup made before the update."}};
  }
  const std::int64_t bytes =
      connection.number("PRAGMA page_count") * connection.number("PRAGMA page_size");
  if (bytes <= kCheckWholeBytes) check_pages(connection, "PRAGMA quick_check(1)");
}

void check_every_page(Connection& connection) {
  check_pages(connection, "PRAGMA integrity_check(1)");
}

void migrate(Connection& connection, const std::vector<Migration>& steps) {
  for (const Migration& step : steps) {
    Transaction transaction{connection, Span::kWrite};
    // Asked inside the transaction, so that two that start together do not both do it.
    const std::int64_t version = connection.number("PRAGMA user_version");
    if (version >= step.number) continue;
    HEDDLE_CHECK(version == step.number - 1);
    connection.execute(step.sql);
    connection.execute("PRAGMA application_id = " + std::to_string(kApplicationId) +
                       "; PRAGMA user_version = " + std::to_string(step.number));
    transaction.commit();
  }
}

}  // namespace heddle::sqlite
