#include "store/sqlite/sqlite_store.h"

#include <optional>
#include <utility>
#include <variant>

#include "base/check.h"
#include "store/sqlite/copy.h"
#include "store/sqlite/failure.h"
#include "store/sqlite/folder.h"
#include "store/sqlite/head.h"
#include "store/sqlite/readers.h"
#include "store/sqlite/records.h"
#include "store/sqlite/rows.h"
#include "store/sqlite/schema.h"

namespace heddle {
namespace {

using namespace sqlite;  // NOLINT: this file is where both meet

void prepare(Connection& connection) {
  check_database(connection);
  // FULL: a commit is on the disk when it returns. The log of 16 MiB makes the moves into the main
  // file rarer, and is cut back to that size after a burst. Memory-mapped reads would turn a
  // broken disk into a dead process.
  std::string mode;
  {
    const auto query = connection.query("PRAGMA journal_mode = WAL");
    if (query->next()) query->take(mode);
  }
  if (mode != "wal") {
    throw Failure{{.code = ErrorCode::kUnavailable,
                   .message = "The disk that holds " + connection.file() +
                              " cannot share memory between programs, as some network disks.",
                   .next = "Start heddled with a folder on a disk of this machine."}};
  }
  connection.execute(
      "PRAGMA synchronous = FULL; PRAGMA wal_autocheckpoint = 4000;"
      " PRAGMA journal_size_limit = 33554432; PRAGMA mmap_size = 0; PRAGMA cache_size = -16000;"
      " PRAGMA temp_store = MEMORY");
  migrate(connection);
}

void write(Connection& connection, const Batch& batch) {
  Transaction transaction{connection, Span::kWrite};
  advance_head(connection, batch);
  for (const Blob& blob : batch.blobs) keep(connection, blob);
  for (const PutRow& row : batch.changes.puts)
    std::visit([&](const auto& r) { put(connection, r); }, row);
  for (const ErasedRow& row : batch.changes.erased)
    std::visit([&](const auto& key) { erase(connection, key); }, row);
  for (const FeedEvent& event : batch.feed) append(connection, event);
  for (const AuditEntry& entry : batch.audit) append(connection, entry);
  for (const IdempotencyRecord& record : batch.idempotency) keep(connection, record);
  transaction.commit();
}

Loaded take_over(Connection& connection) {
  Transaction transaction{connection, Span::kWrite};
  const Head head = begin_epoch(connection, read_head(connection).epoch + 1);
  Draft draft{State{}};
  load_tenancy(connection, draft);
  load_estate(connection, draft);
  load_live_workloads(connection, draft);
  load_live_allocations(connection, draft);
  transaction.commit();
  return {.state = draft.state(),
          .epoch = head.epoch,
          .last_feed_seq = head.last_feed_seq,
          .last_audit_seq = head.last_audit_seq,
          .last_team_slot = head.last_team_slot,
          .last_id = head.last_id,
          .clock = head.clock};
}

class SqliteStore final : public Store {
 public:
  explicit SqliteStore(SqliteOptions options)
      : options_{std::move(options)},
        readers_{database_file(options_.folder), options_.file_layer} {}

  Result<Loaded> open() override {
    return guarded([&] {
      if (writer_ == nullptr) {
        prepare_folder(options_.folder);
        if (!lock_) lock_.emplace(options_.folder);
        prepare_file(database_file(options_.folder));
        auto writer = std::make_unique<Connection>(database_file(options_.folder),
                                                   Access::kReadWrite, options_.file_layer);
        prepare(*writer);
        writer_ = std::move(writer);
      }
      return take_over(*writer_);
    });
  }

  Result<Done> commit(const Batch& batch) override {
    return guarded([&] {
      HEDDLE_CHECK(writer_ != nullptr);
      write(*writer_, batch);
      return Done{};
    });
  }

  Result<bool> was_committed(std::int64_t epoch, std::int64_t batch_id) override {
    return read([&](Connection& c) { return batch_is_there(c, epoch, batch_id); });
  }
  Result<std::optional<Workload>> ended_workload(WorkloadId id) override {
    return read([&](Connection& c) { return read_ended(c, id); });
  }
  Result<std::vector<Workload>> ended_workloads(const EndedQuery& query) override {
    return read([&](Connection& c) { return read_ended_page(c, query); });
  }
  Result<std::vector<Allocation>> released_allocations(WorkloadId id) override {
    return read([&](Connection& c) {
      const Transaction moment{c, Span::kRead};
      return read_released(c, id);
    });
  }
  Result<std::vector<FeedEvent>> feed(std::int64_t after, std::int64_t limit) override {
    return read([&](Connection& c) { return read_feed(c, after, limit); });
  }
  Result<std::int64_t> oldest_feed_seq() override {
    return read([&](Connection& c) { return c.number("SELECT min(seq) FROM feed"); });
  }
  Result<std::vector<AuditEntry>> audit(std::int64_t before, std::int64_t limit) override {
    return read([&](Connection& c) { return read_audit(c, before, limit); });
  }
  Result<std::optional<IdempotencyRecord>> idempotency(UserId user, const std::string& route,
                                                       const std::string& key) override {
    return read([&](Connection& c) { return read_idempotency(c, user, route, key); });
  }
  Result<std::optional<std::string>> blob(const std::string& sha256_hex) override {
    return read([&](Connection& c) { return read_blob(c, sha256_hex); });
  }

  Result<Trimmed> trim(Instant now, const Retention& retention, std::int64_t rows) override {
    return guarded([&] { return sqlite::trim(*writer_, now, retention, rows); });
  }

  Result<Done> backup(const std::string& file) override {
    return read([&](Connection& c) {
      copy_database(c, file);
      return Done{};
    });
  }

 private:
  template <class Read>
  auto read(Read&& read) -> Result<std::invoke_result_t<Read, Connection&>> {
    return guarded([&] { return readers_.with(read); });
  }

  const SqliteOptions options_;
  std::optional<FolderLock> lock_;  // outlives the connections below
  std::unique_ptr<Connection> writer_;
  Readers readers_;
};

}  // namespace

std::unique_ptr<Store> make_sqlite_store(SqliteOptions options) {
  return std::make_unique<SqliteStore>(std::move(options));
}

}  // namespace heddle
