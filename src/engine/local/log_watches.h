// LogWatches: who wants to know when a replica's log grew.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "control/ports/engine.h"
#include "engine/local/poller.h"
#include "shim/run_folder.h"

namespace heddle::local {

// All on the engine's thread, except that handles are destroyed on any thread.
class LogWatches {
 public:
  explicit LogWatches(Poller& poller);
  ~LogWatches();
  LogWatches(const LogWatches&) = delete;
  LogWatches& operator=(const LogWatches&) = delete;

  // One follower. The callback never runs once close() has returned (unless close() was called
  // from inside it).
  class Follower {
   public:
    Follower(std::string folder, std::function<void()> grown)
        : folder_{std::move(folder)}, grown_{std::move(grown)} {}
    void close();
    bool is_closed();
    void call();
    const std::string& folder() const { return folder_; }

   private:
    const std::string folder_;
    std::recursive_mutex mutex_;
    std::function<void()> grown_;
  };

  void add(std::shared_ptr<Follower> follower);
  // A log folder appeared: who waits for it follows from now on.
  void folder_made(const std::string& folder);

 private:
  void take_events();
  bool follow(const std::shared_ptr<Follower>& follower);
  void drop_closed();

  Poller& poller_;
  shim::Fd inotify_;
  std::uint64_t token_ = 0;
  using Followers = std::vector<std::shared_ptr<Follower>>;
  std::map<int, Followers> following_;          // by watch descriptor
  std::map<std::string, Followers> not_there_;  // by folder
  int added_ = 0;                               // since the closed ones were dropped
};

}  // namespace heddle::local
