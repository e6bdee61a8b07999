// Making a backup of a database, and putting one in its place.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"

namespace heddle {

// A consistent copy of the database in `folder` as one `file`, which must not exist (conflict).
// Also while a server writes there: it notices nothing.
Result<Done> write_backup(const std::string& folder, const std::string& file);

struct RestoreReport {
  std::string kept_aside;  // where the replaced database lies now; empty when there was none
  std::int64_t epoch = 0;  // the restored database's; greater than any that was ever given out
};

// Puts the backup `file` into `folder` (made if missing). Needs no server and refuses, with
// conflict, while one runs there. The backup is only read: it is copied, every page of the copy is
// checked, and only then does the copy take the place of the old database, which is kept under a
// new name. A crash leaves either the old database or the new one in place.
//
// So that nothing runs or is charged twice: the epoch moves past both databases' epochs, so engines
// and writers from before are fenced; ids, team slots, feed and audit numbers and the clock go on
// from the greater of the two; and followers of the feed have to list anew, because what they saw
// may not have happened. When the old database is too damaged to tell its numbers, the epoch moves
// by a million, more than any server ever starts.
Result<RestoreReport> restore_backup(const std::string& file, const std::string& folder);

}  // namespace heddle
