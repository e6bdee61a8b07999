#include "engine/local/chores.h"

#include <chrono>
#include <utility>

namespace heddle::local {

Chores::Chores(Duration period, std::function<void()> regular)
    : regular_{std::move(regular)}, thread_{[this, period] { work(period); }} {}

Chores::~Chores() {
  {
    const std::lock_guard lock{mutex_};
    ending_ = true;
  }
  changed_.notify_one();
  thread_.join();
}

void Chores::add(std::function<void()> chore) {
  {
    const std::lock_guard lock{mutex_};
    chores_.push_back(std::move(chore));
  }
  changed_.notify_one();
}

void Chores::work(Duration period) {
  auto next = std::chrono::steady_clock::now() + std::chrono::milliseconds{period.ms};
  std::unique_lock lock{mutex_};
  for (;;) {
    changed_.wait_until(lock, next, [this] { return ending_ || !chores_.empty(); });
    if (ending_) return;
    std::function<void()> chore = regular_;
    if (!chores_.empty()) {
      chore = std::move(chores_.front());
      chores_.pop_front();
    } else {
      next = std::chrono::steady_clock::now() + std::chrono::milliseconds{period.ms};
    }
    lock.unlock();
    chore();
    lock.lock();
  }
}

}  // namespace heddle::local
