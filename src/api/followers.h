// Followers: the streams that clients watch, fed by one thread.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "api/cursor.h"
#include "api/feed.h"
#include "api/token_check.h"
#include "base/web.h"
#include "control/controller.h"

namespace heddle::api {

// Threads: follow_* and state_changed from any. Rights are judged for every event when it is sent,
// and for every stream once a second: a token that is revoked or expired closes what it opened.
class Followers {
 public:
  Followers(Controller& controller, Store& store, const Seal& seal, std::size_t streams_max,
            std::size_t streams_per_user_max);
  ~Followers();  // closes all streams
  Followers(const Followers&) = delete;
  Followers& operator=(const Followers&) = delete;

  // True when there is room for one more of this user.
  bool has_room(UserId user);

  // Events after `seq`. `list` binds the ids of events, as cursors are bound.
  void follow_feed(std::shared_ptr<web::Stream> stream, const Principal& principal,
                   std::string list, FeedFilter filter, std::int64_t seq);

  // Lines of one replica; waits for the workload to start. With `only_attempt` later runs are not
  // followed. `engine_of` gives the engine of a pool, or null.
  void follow_log(std::shared_ptr<web::Stream> stream, const Principal& principal,
                  WorkloadId workload, TeamId team, std::int64_t replica, LogPlace from,
                  std::int64_t tail, bool only_attempt,
                  std::function<Engine*(const State&, PoolId)> engine_of);

  void state_changed();
  std::size_t count();

 private:
  struct Follower;
  struct FeedFollower;
  struct LogFollower;
  struct Wake;
  using FollowerPtr = std::shared_ptr<Follower>;

  void add(const FollowerPtr& follower);
  void run();
  // False when it has ended. `blocked` is set when it has more to say than its client takes.
  bool serve(Follower& follower, const View& view, bool& blocked);
  void load_feed(const View& view);

  Controller& controller_;
  Store& store_;
  const Seal& seal_;
  const std::size_t streams_max_;
  const std::size_t streams_per_user_max_;

  std::shared_ptr<Wake> wake_;  // shared with engines' callbacks, which may come late
  std::mutex mutex_;
  std::vector<FollowerPtr> added_;
  std::map<UserId, std::size_t> per_user_;
  std::size_t count_ = 0;

  // The thread's own.
  std::vector<FollowerPtr> all_;
  std::vector<FeedEvent> recent_;  // the newest of the feed, ascending, without gaps
  std::thread thread_;
};

}  // namespace heddle::api
