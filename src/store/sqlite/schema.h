// The shape of the database: its migrations, and whether a file is one of ours and whole.
// Private to store/sqlite.
#pragma once

#include <cstdint>
#include <vector>

#include "store/sqlite/connection.h"

namespace heddle::sqlite {

struct Migration {
  std::int64_t number;
  const char* sql;
};
// Ascending from 1 without gaps; made from store/migrations/sqlite when it is built.
const std::vector<Migration>& migrations();

// Refuses what is not a database of Heddle's, comes from a newer Heddle, or is damaged. A file
// without anything in it is fine. Changes nothing. Throws Failure, as do all below.
void check_database(Connection& connection);

// Reads every page and every index. Slow.
void check_every_page(Connection& connection);

// Brings the database up to the newest schema, each step in a transaction of its own.
void migrate(Connection& connection, const std::vector<Migration>& steps = migrations());

}  // namespace heddle::sqlite
