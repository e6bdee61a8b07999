#include "engine/local/log_watches.h"

#include <sys/inotify.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <set>
#include <utility>

namespace heddle::local {

void LogWatches::Follower::close() {
  const std::lock_guard lock{mutex_};
  grown_ = nullptr;
}

bool LogWatches::Follower::is_closed() {
  const std::lock_guard lock{mutex_};
  return grown_ == nullptr;
}

void LogWatches::Follower::call() {
  const std::lock_guard lock{mutex_};
  const std::function<void()> grown = grown_;  // it may close us
  if (grown != nullptr) grown();
}

LogWatches::LogWatches(Poller& poller)
    : poller_{poller}, inotify_{inotify_init1(IN_CLOEXEC | IN_NONBLOCK)} {
  if (inotify_.is_open()) token_ = poller_.add(inotify_.get(), [this] { take_events(); });
}

LogWatches::~LogWatches() { poller_.remove(token_); }

bool LogWatches::follow(const std::shared_ptr<Follower>& follower) {
  const int watch = inotify_add_watch(inotify_.get(), follower->folder().c_str(),
                                      IN_MODIFY | IN_CREATE | IN_ONLYDIR | IN_DONT_FOLLOW);
  if (watch < 0) return false;
  following_[watch].push_back(follower);
  return true;
}

void LogWatches::add(std::shared_ptr<Follower> follower) {
  if (++added_ >= 64) drop_closed();
  if (!follow(follower)) not_there_[follower->folder()].push_back(follower);
  follower->call();  // what came before the watch was set is not missed
}

void LogWatches::drop_closed() {
  added_ = 0;
  const auto closed = [](const auto& follower) { return follower->is_closed(); };
  for (auto& [watch, followers] : following_) {
    std::erase_if(followers, closed);
    if (followers.empty()) inotify_rm_watch(inotify_.get(), watch);
  }
  for (auto& [folder, followers] : not_there_) std::erase_if(followers, closed);
  std::erase_if(not_there_, [](const auto& entry) { return entry.second.empty(); });
}

void LogWatches::folder_made(const std::string& folder) {
  const auto waiting = not_there_.find(folder);
  if (waiting == not_there_.end()) return;
  const Followers followers = std::move(waiting->second);
  not_there_.erase(waiting);
  for (const auto& follower : followers)
    if (!follower->is_closed()) add(follower);
}

void LogWatches::take_events() {
  alignas(inotify_event) std::array<char, 16 * 1024> bytes;
  std::set<int> grown;
  ssize_t size = 0;
  while ((size = read(inotify_.get(), bytes.data(), bytes.size())) > 0) {
    for (ssize_t at = 0; at < size;) {
      inotify_event event;
      std::memcpy(&event, bytes.data() + at, sizeof event);
      at += static_cast<ssize_t>(sizeof event + event.len);
      if ((event.mask & IN_Q_OVERFLOW) != 0)
        for (const auto& [watch, followers] : following_) grown.insert(watch);
      else if ((event.mask & IN_IGNORED) != 0)
        following_.erase(event.wd);
      else
        grown.insert(event.wd);
    }
  }
  for (const int watch : grown) {
    const auto entry = following_.find(watch);
    if (entry == following_.end()) continue;
    Followers& followers = entry->second;
    std::erase_if(followers, [](const auto& follower) { return follower->is_closed(); });
    for (const auto& follower : Followers{followers}) follower->call();
    if (followers.empty()) inotify_rm_watch(inotify_.get(), watch);
  }
}

}  // namespace heddle::local
