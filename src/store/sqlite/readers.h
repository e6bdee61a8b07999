// Readers: connections that only read, lent to whichever thread asks. Private to store/sqlite.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "store/sqlite/connection.h"

namespace heddle::sqlite {

// Any thread. As many connections as threads read at once; a few are kept for the next.
class Readers {
 public:
  explicit Readers(std::string file, std::string vfs)
      : file_{std::move(file)}, vfs_{std::move(vfs)} {}

  // Runs `read(Connection&)` with a connection of its own. Throws Failure.
  template <class Read>
  auto with(Read&& read) {
    auto connection = borrow();
    auto result = read(*connection);
    give_back(std::move(connection));  // one that failed is closed instead
    return result;
  }

 private:
  std::unique_ptr<Connection> borrow();
  void give_back(std::unique_ptr<Connection> connection);

  const std::string file_;
  const std::string vfs_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<Connection>> idle_;  // guarded by mutex_
};

}  // namespace heddle::sqlite
