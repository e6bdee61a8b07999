#include "store/sqlite/failure.h"

#include <sqlite3.h>

#include <cerrno>
#include <cstring>

namespace heddle::sqlite {
namespace {

bool disk_is_full(int system_error) { return system_error == ENOSPC || system_error == EDQUOT; }

Error full(const std::string& file) {
  return {.code = ErrorCode::kStorageFull,
          .message = "The disk that holds " + file + " is full; nothing was changed.",
          .next = "Free some space on it; Heddle goes on by itself."};
}

Error unwritable(const std::string& file, const std::string& why) {
  return {.code = ErrorCode::kUnavailable,
          .message = file + " cannot be read or written: " + why + ".",
          .next =
              "Check that its disk works and is not read-only, and that the folder belongs to "
              "the user that runs heddled."};
}

Error damaged(const std::string& file, std::string_view what) {
  return {.code = ErrorCode::kInternal,
          .message = file + " is damaged: " + std::string{what} +
                     ". It was left as it is; nothing was deleted or overwritten.",
          .next =
              "Stop heddled, check the disk, then put the newest backup in its place with "
              "'heddled restore BACKUP' (the damaged file is kept beside it)."};
}

}  // namespace

void fail(sqlite3* db, int code, const std::string& file) {
  const int system_error = db != nullptr ? sqlite3_system_errno(db) : 0;
  const std::string said =
      db != nullptr && sqlite3_errcode(db) != SQLITE_OK ? sqlite3_errmsg(db) : sqlite3_errstr(code);
  switch (code & 0xff) {
    case SQLITE_FULL:
      throw Failure{full(file)};
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
      throw Failure{damaged(file, said)};
    case SQLITE_IOERR:
    case SQLITE_CANTOPEN:
      // A failed sync is no 'nothing was changed': the batch may be found after a crash.
      if (disk_is_full(system_error) && code != SQLITE_IOERR_FSYNC) throw Failure{full(file)};
      [[fallthrough]];
    case SQLITE_READONLY:
    case SQLITE_PERM:
    case SQLITE_AUTH:
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
    case SQLITE_NOMEM: {
      const bool known = (code & 0xff) == SQLITE_IOERR && system_error != 0;
      throw Failure{unwritable(file, known ? std::strerror(system_error) : said)};
    }
    default:  // a rule of ours broken or the API misused: a fault in the program
      throw Failure{{.code = ErrorCode::kInternal,
                     .message = "The store refused a change (" + said +
                                "); nothing was changed. This is a fault in Heddle."}};
  }
}

void fail_damaged(const std::string& file, std::string_view what) {
  throw Failure{damaged(file, what)};
}

void fail_system(std::string_view doing, const std::string& file) {
  const int error = errno;
  if (disk_is_full(error)) throw Failure{full(file)};
  throw Failure{
      {.code = ErrorCode::kUnavailable,
       .message = "Cannot " + std::string{doing} + " " + file + ": " + std::strerror(error) + "."}};
}

}  // namespace heddle::sqlite
