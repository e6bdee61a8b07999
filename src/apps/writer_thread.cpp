#include "apps/writer_thread.h"

#include <algorithm>
#include <chrono>

namespace heddle {

void WriterThread::start() {
  thread_ = std::thread{[this] { run(); }};
}

void WriterThread::notify() {
  {
    const std::lock_guard lock{mutex_};
    work_ = true;
  }
  changed_.notify_one();
}

void WriterThread::stop() {
  {
    const std::lock_guard lock{mutex_};
    stopping_ = true;
  }
  changed_.notify_one();
  if (thread_.joinable()) thread_.join();
}

void WriterThread::run() {
  bool more = true;
  for (;;) {
    if (!more) {
      const auto wait_ms = std::max<std::int64_t>(0, (controller_.due() - controller_.now()).ms);
      std::unique_lock lock{mutex_};
      changed_.wait_for(lock, std::chrono::milliseconds{wait_ms},
                        [this] { return work_ || stopping_; });
      if (stopping_) return;
      work_ = false;
    } else {
      const std::lock_guard lock{mutex_};
      if (stopping_) return;
      work_ = false;
    }
    more = controller_.step();
  }
}

}  // namespace heddle
