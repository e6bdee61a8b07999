// The SQLite store: everything in one file that survives whatever ends the process.
#pragma once

#include <memory>
#include <string>

#include "control/ports/store.h"

namespace heddle {

struct SqliteOptions {
  // Holds heddle.db and a lock; made (mode 0700) if missing, refused if others can reach it.
  std::string folder;
  // Name of a registered SQLite file layer; empty: the system's. Tests put faults in here.
  std::string file_layer;
};

// Nothing is touched before open(). Only one process at a time can have a folder open: a second one
// gets conflict, which names the first. open() may be called again after it failed.
std::unique_ptr<Store> make_sqlite_store(SqliteOptions options);

}  // namespace heddle
