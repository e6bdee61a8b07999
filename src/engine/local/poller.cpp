#include "engine/local/poller.h"

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <array>
#include <utility>

#include "base/check.h"

namespace heddle::local {

Poller::Poller()
    : epoll_{epoll_create1(EPOLL_CLOEXEC)}, wake_{eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)} {
  HEDDLE_CHECK(epoll_.is_open() && wake_.is_open());
  add(wake_.get(), [this] {
    std::uint64_t count = 0;
    (void)!read(wake_.get(), &count, sizeof count);
  });
}

std::uint64_t Poller::add(int fd, std::function<void()> ready) {
  const std::uint64_t token = ++last_token_;
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.u64 = token;
  HEDDLE_CHECK(epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd, &event) == 0);
  entries_.emplace(token, Entry{fd, std::move(ready)});
  return token;
}

void Poller::remove(std::uint64_t token) {
  const auto entry = entries_.find(token);
  if (entry == entries_.end()) return;
  epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, entry->second.fd, nullptr);
  entries_.erase(entry);
}

void Poller::wait() {
  std::array<epoll_event, 64> events{};
  const int count = epoll_wait(epoll_.get(), events.data(), static_cast<int>(events.size()), -1);
  for (int i = 0; i < count; ++i) {
    // Whoever came before may have removed this one.
    const auto entry = entries_.find(events[static_cast<std::size_t>(i)].data.u64);
    if (entry == entries_.end()) continue;
    const std::function<void()> ready = entry->second.ready;
    ready();
  }
}

void Poller::wake_up() {
  const std::uint64_t one = 1;
  (void)!write(wake_.get(), &one, sizeof one);
}

}  // namespace heddle::local
