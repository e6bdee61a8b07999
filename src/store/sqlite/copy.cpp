#include "store/sqlite/copy.h"

#include <sqlite3.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>

#include "store/sqlite/failure.h"
#include "store/sqlite/folder.h"

namespace heddle::sqlite {
namespace {

// Small enough that a signal to stop, or a slow disk, never waits long for one.
constexpr int kPagesPerStep = 256;

[[noreturn]] void refuse_existing(const std::string& file) {
  throw Failure{{.code = ErrorCode::kConflict,
                 .message = file + " exists already; a backup never overwrites a file.",
                 .next = "Choose another name."}};
}

void copy_pages(Connection& source, Connection& target) {
  // Held for the whole copy: it shows one moment, and commits of others need not start it again.
  const Transaction moment{source, Span::kRead};
  sqlite3_backup* copy = sqlite3_backup_init(target.raw(), "main", source.raw(), "main");
  if (copy == nullptr) fail(target.raw(), sqlite3_extended_errcode(target.raw()), target.file());
  int code = SQLITE_OK;
  while (code == SQLITE_OK) code = sqlite3_backup_step(copy, kPagesPerStep);
  sqlite3_backup_finish(copy);
  if (code == SQLITE_DONE) return;
  // Damage is the source's, a full or broken disk most likely the target's.
  const bool damaged = (code & 0xff) == SQLITE_CORRUPT || (code & 0xff) == SQLITE_NOTADB;
  fail(nullptr, code, damaged ? source.file() : target.file());
}

}  // namespace

void copy_database(Connection& source, const std::string& target) {
  struct stat found {};
  if (lstat(target.c_str(), &found) == 0) refuse_existing(target);
  const std::string unfinished = target + ".unfinished-" + std::to_string(getpid());
  unlink(unfinished.c_str());
  try {
    prepare_file(unfinished);
    {
      Connection copy{unfinished, Access::kReadWrite};
      // Nobody reads the copy before it is whole, so it needs no way back.
      copy.execute("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF");
      copy_pages(source, copy);
    }
    sync_file(unfinished);
    // link() refuses an existing name, rename() would replace it.
    if (link(unfinished.c_str(), target.c_str()) != 0) {
      if (errno == EEXIST) refuse_existing(target);
      fail_system("make", target);
    }
    unlink(unfinished.c_str());
    sync_folder_of(target);
  } catch (...) {
    unlink(unfinished.c_str());
    throw;
  }
}

}  // namespace heddle::sqlite
