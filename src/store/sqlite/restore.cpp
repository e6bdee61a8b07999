#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <optional>

#include "store/sqlite/backup.h"
#include "store/sqlite/connection.h"
#include "store/sqlite/failure.h"
#include "store/sqlite/folder.h"
#include "store/sqlite/head.h"
#include "store/sqlite/schema.h"

namespace heddle {
namespace sqlite {
namespace {

// More than the starts that can have happened unseen between reading a number and using it.
constexpr std::int64_t kEpochMargin = 1000;
constexpr std::int64_t kEpochMarginBlind = 1'000'000;

std::int64_t size_of(const std::string& file) {
  struct stat found {};
  return stat(file.c_str(), &found) == 0 ? std::int64_t{found.st_size} : -1;
}

class File {
 public:
  File(const std::string& name, int flags) : name_{name} {
    number_ = open(name.c_str(), flags | O_CLOEXEC, 0600);
    if (number_ < 0) fail_system("open", name);
  }
  ~File() { close(number_); }
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  std::size_t read(char* to, std::size_t size) {
    const ssize_t got = ::read(number_, to, size);
    if (got < 0) fail_system("read", name_);
    return static_cast<std::size_t>(got);
  }
  void write(const char* from, std::size_t size) {
    while (size > 0) {
      const ssize_t put = ::write(number_, from, size);
      if (put < 0) fail_system("write", name_);
      from += put;
      size -= static_cast<std::size_t>(put);
    }
  }

 private:
  std::string name_;
  int number_ = -1;
};

void copy_bytes(const std::string& from, const std::string& to) {
  // An unfinished log beside it means that it is a database in use, not a finished backup.
  if (size_of(from + "-wal") > 0) {
    throw Failure{{.code = ErrorCode::kConflict,
                   .message = from + " is a database that is in use, not a backup.",
                   .next = "Make a backup of it with 'heddled backup FILE' and restore that."}};
  }
  File source{from, O_RDONLY};
  unlink(to.c_str());
  File target{to, O_CREAT | O_EXCL | O_WRONLY};
  std::array<char, 64 * 1024> bytes;
  while (const std::size_t size = source.read(bytes.data(), bytes.size()))
    target.write(bytes.data(), size);
}

// What the database in place knows, if it can be read at all; its log is moved into it.
std::optional<Head> head_in_place(const std::string& file) {
  const auto head = guarded([&] {
    Connection connection{file, Access::kReadWrite};
    const Head found = read_head(connection);
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)");
    return found;
  });
  if (!head) return std::nullopt;
  return *head;
}

Head go_on_from(Head restored, const std::optional<Head>& replaced, bool blind) {
  const Head old = replaced.value_or(Head{});
  restored.epoch = std::max(restored.epoch, old.epoch) + (blind ? kEpochMarginBlind : kEpochMargin);
  restored.batch = 0;
  restored.last_id = std::max(restored.last_id, old.last_id);
  restored.last_team_slot = std::max(restored.last_team_slot, old.last_team_slot);
  // One is skipped, so that no follower of the old feed takes itself for up to date.
  restored.last_feed_seq = std::max(restored.last_feed_seq, old.last_feed_seq) + 1;
  restored.last_audit_seq = std::max(restored.last_audit_seq, old.last_audit_seq);
  if (old.clock && (!restored.clock || restored.clock->now < old.clock->now))
    restored.clock = old.clock;
  return restored;
}

// Checks the copy whole and gives it its new numbers. Gives its epoch.
std::int64_t make_ready(const std::string& copy, const std::optional<Head>& replaced, bool blind) {
  Connection connection{copy, Access::kReadWrite};
  check_database(connection);
  check_every_page(connection);
  if (connection.number("PRAGMA user_version") == 0) fail_damaged(copy, "there is nothing in it");
  // No log beside the copy: it is about to be renamed.
  connection.execute("PRAGMA journal_mode = DELETE; PRAGMA synchronous = FULL");
  migrate(connection);
  Transaction transaction{connection, Span::kWrite};
  const Head head = go_on_from(read_head(connection), replaced, blind);
  connection.run("INSERT OR REPLACE INTO past_epochs (epoch, batch) SELECT epoch, batch FROM head");
  overwrite_head(connection, head);
  connection.run("DELETE FROM feed");
  transaction.commit();
  return head.epoch;
}

// A second name for the database in place, so that the copy can take the first in one step.
std::string keep_aside(const std::string& file) {
  for (int number = 1;; ++number) {
    const std::string aside = file + ".replaced-" + std::to_string(number);
    if (link(file.c_str(), aside.c_str()) != 0) {
      if (errno == EEXIST) continue;
      fail_system("keep aside", file);
    }
    // A log that could not be moved into a damaged database goes with it.
    if (size_of(file + "-wal") > 0 &&
        rename((file + "-wal").c_str(), (aside + "-wal").c_str()) != 0)
      fail_system("keep aside", file + "-wal");
    unlink((file + "-wal").c_str());
    unlink((file + "-shm").c_str());
    sync_folder_of(file);
    return aside;
  }
}

RestoreReport restore(const std::string& file, const std::string& folder) {
  prepare_folder(folder);
  const FolderLock lock{folder};
  const std::string place = database_file(folder);
  const std::string copy = place + ".restoring";
  const bool replaces = size_of(place) >= 0;
  const std::optional<Head> replaced = replaces ? head_in_place(place) : std::nullopt;
  RestoreReport report;
  try {
    copy_bytes(file, copy);
    report.epoch = make_ready(copy, replaced, replaces && !replaced);
    sync_file(copy);
    if (replaces) report.kept_aside = keep_aside(place);
    if (rename(copy.c_str(), place.c_str()) != 0) fail_system("put in place", copy);
    sync_folder_of(place);
  } catch (...) {
    unlink(copy.c_str());
    throw;
  }
  return report;
}

}  // namespace
}  // namespace sqlite

Result<RestoreReport> restore_backup(const std::string& file, const std::string& folder) {
  return sqlite::guarded([&] { return sqlite::restore(file, folder); });
}

}  // namespace heddle
