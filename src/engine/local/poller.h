// Poller: waits for many descriptors on one thread and calls what belongs to each.
#pragma once

#include <cstdint>
#include <functional>
#include <map>

#include "shim/run_folder.h"

namespace heddle::local {

// One thread, except wake_up().
class Poller {
 public:
  Poller();

  // Calls `ready` from wait() whenever `fd` is readable or closed by its other end, until
  // remove(). The descriptor stays the caller's and is removed before it is closed.
  std::uint64_t add(int fd, std::function<void()> ready);
  void remove(std::uint64_t token);  // 0: nothing

  // Waits until something is ready or wake_up() was called, and calls everybody concerned.
  void wait();
  void wake_up();  // any thread

 private:
  shim::Fd epoll_;
  shim::Fd wake_;
  std::uint64_t last_token_ = 0;
  struct Entry {
    int fd;
    std::function<void()> ready;
  };
  std::map<std::uint64_t, Entry> entries_;
};

}  // namespace heddle::local
