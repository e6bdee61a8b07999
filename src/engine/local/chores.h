// Chores: a thread for what may take long and nobody waits for.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

#include "base/time.h"

namespace heddle::local {

// Thread-safe. The destructor waits for the chore at hand and drops the others.
class Chores {
 public:
  // `regular` is done every `period`, beside what is added.
  Chores(Duration period, std::function<void()> regular);
  ~Chores();
  Chores(const Chores&) = delete;
  Chores& operator=(const Chores&) = delete;

  void add(std::function<void()> chore);

 private:
  void work(Duration period);

  const std::function<void()> regular_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> chores_;
  bool ending_ = false;
  std::thread thread_;
};

}  // namespace heddle::local
