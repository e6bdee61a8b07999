// A consistent copy of a database while others write it. Private to store/sqlite.
#pragma once

#include <string>

#include "store/sqlite/connection.h"

namespace heddle::sqlite {

// Writes all that `source` sees now to `target`, which must not exist (conflict); it appears whole
// and safely on disk, or not at all. Throws Failure.
void copy_database(Connection& source, const std::string& target);

}  // namespace heddle::sqlite
