#include "store/sqlite/readers.h"

namespace heddle::sqlite {

constexpr std::size_t kKeptIdle = 4;

std::unique_ptr<Connection> Readers::borrow() {
  {
    const std::lock_guard lock{mutex_};
    if (!idle_.empty()) {
      auto connection = std::move(idle_.back());
      idle_.pop_back();
      return connection;
    }
  }
  return std::make_unique<Connection>(file_, Access::kReadOnly, vfs_);
}

void Readers::give_back(std::unique_ptr<Connection> connection) {
  const std::lock_guard lock{mutex_};
  if (idle_.size() < kKeptIdle) idle_.push_back(std::move(connection));
}

}  // namespace heddle::sqlite
