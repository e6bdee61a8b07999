#include "api/followers.h"

#include <algorithm>
#include <chrono>

#include "core/access/access.h"

namespace heddle::api {
namespace {

using SteadyClock = std::chrono::steady_clock;

constexpr std::size_t kRoomBytes = 64 * 1024;  // more unsent than this: the client is behind
constexpr std::size_t kRecentMax = 4096;
constexpr std::int64_t kFeedPage = 256;
constexpr std::int64_t kLogBytes = 32 * 1024;
constexpr auto kCheckEvery = std::chrono::seconds{1};
constexpr auto kBlockedEvery = std::chrono::milliseconds{10};
constexpr int kChecksPerHeartbeat = 15;

std::string sse(std::string_view id, std::string_view event, std::string_view data) {
  std::string out;
  if (!id.empty()) out += "id: " + std::string{id} + "\n";
  out += "event: ";
  out += event;
  out += "\ndata: ";
  out += data;
  return out + "\n\n";
}

}  // namespace

struct Followers::Wake {
  std::mutex mutex;
  std::condition_variable changed;
  bool dirty = false;
  bool stop = false;

  void poke() {
    const std::lock_guard lock{mutex};
    dirty = true;
    changed.notify_one();
  }
};

struct Followers::Follower {
  std::shared_ptr<web::Stream> stream;
  Principal principal;
  std::shared_ptr<std::atomic<bool>> closed = std::make_shared<std::atomic<bool>>(false);

  virtual ~Follower() = default;
  bool has_room() const { return stream->unsent() < kRoomBytes; }
};

struct Followers::FeedFollower final : Follower {
  std::string list;
  FeedFilter filter;
  std::int64_t seq = 0;

  // Sends what is wanted of `events`, which start right behind `seq`; false when it is gone.
  template <class Events>
  bool send(const State& state, const Seal& seal, const Events& events) {
    std::string out;
    for (const FeedEvent& event : events) {
      if (event.seq <= seq) continue;
      if (out.size() > kRoomBytes) break;
      seq = event.seq;
      if (!wants(filter, event) || !may_see(state, principal.user, event)) continue;
      out += sse(seal.close(static_cast<std::uint64_t>(seq), principal.user, list), event.what,
                 event_json(event));
    }
    return out.empty() || stream->write(std::move(out));
  }
};

struct Followers::LogFollower final : Follower {
  WorkloadId workload;
  TeamId team;
  std::int64_t replica = 0;
  LogPlace place;  // attempt 0: none yet
  std::int64_t tail = 0;
  bool only_attempt = false;
  std::function<Engine*(const State&, PoolId)> engine_of;

  Engine* engine = nullptr;
  std::unique_ptr<Engine::LogWatch> watch;
  std::shared_ptr<std::atomic<bool>> grown = std::make_shared<std::atomic<bool>>(true);
  bool finished = false;  // this attempt

  bool end() {
    (void)stream->write(sse({}, "end", "{}"));
    stream->close();
    return false;
  }
  bool serve(const State& state, Store& store, const std::shared_ptr<Wake>& wake, bool& blocked);
  bool pump(bool is_live, bool& blocked);
};

// Goes on to the attempt that runs now, or ends; then sends what there is.
bool Followers::LogFollower::serve(const State& state, Store& store,
                                   const std::shared_ptr<Wake>& wake, bool& blocked) {
  const Workload* live = state.workloads().find(workload);
  if (finished) {
    if (only_attempt || live == nullptr) return end();
    if (live->attempt <= place.attempt) return true;  // it may run again
    place = {live->attempt, {}};
    watch.reset();
    engine = nullptr;
    finished = false;
  }
  if (engine == nullptr) {
    std::optional<Workload> ended;
    if (live == nullptr) {
      auto found = store.ended_workload(workload);
      if (!found || !*found) return end();
      ended = std::move(*found);
    }
    const Workload& now = live != nullptr ? *live : *ended;
    if (place.attempt == 0) place.attempt = now.attempt;
    if (place.attempt == 0 || place.attempt > now.attempt) return live != nullptr ? true : end();
    engine = engine_of(state, now.pool);
    if (engine == nullptr) return end();
    watch = engine->watch_log({workload, place.attempt, replica, place.at, 0, kLogBytes},
                              [wake, flag = grown] {
                                *flag = true;
                                wake->poke();
                              });
    *grown = true;
  }
  return pump(live != nullptr, blocked);
}

bool Followers::LogFollower::pump(bool is_live, bool& blocked) {
  if (!grown->exchange(false) && is_live) return true;
  while (true) {
    if (!has_room()) {
      *grown = true;
      blocked = true;
      return true;
    }
    auto page = engine->read_log({workload, place.attempt, replica, place.at, tail, kLogBytes});
    if (!page) return is_live ? true : end();
    tail = 0;
    place.at = page->next;
    std::string out;
    if (page->skipped) out += sse({}, "skipped", "{}");
    for (std::size_t i = 0; i < page->lines.size(); ++i)
      out += sse(i + 1 == page->lines.size() ? text_of(place) : std::string{}, "line",
                 line_json(page->lines[i]));
    if (!out.empty() && !stream->write(std::move(out))) return false;
    if (page->finished) {
      finished = true;
      return only_attempt || !is_live ? end() : true;
    }
    if (page->at_end || page->lines.empty()) return true;
  }
}

Followers::Followers(Controller& controller, Store& store, const Seal& seal,
                     std::size_t streams_max, std::size_t streams_per_user_max)
    : controller_{controller},
      store_{store},
      seal_{seal},
      streams_max_{streams_max},
      streams_per_user_max_{streams_per_user_max},
      wake_{std::make_shared<Wake>()},
      thread_{[this] { run(); }} {}

Followers::~Followers() {
  {
    const std::lock_guard lock{wake_->mutex};
    wake_->stop = true;
    wake_->changed.notify_one();
  }
  thread_.join();
}

bool Followers::has_room(UserId user) {
  const std::lock_guard lock{mutex_};
  const auto at = per_user_.find(user);
  return count_ < streams_max_ && (at == per_user_.end() || at->second < streams_per_user_max_);
}

std::size_t Followers::count() {
  const std::lock_guard lock{mutex_};
  return count_;
}

void Followers::add(const FollowerPtr& follower) {
  follower->stream->on_closed([wake = wake_, closed = follower->closed] {
    *closed = true;
    wake->poke();
  });
  (void)follower->stream->write(": heddle\n\n");
  {
    const std::lock_guard lock{mutex_};
    ++count_;
    ++per_user_[follower->principal.user];
    added_.push_back(follower);
  }
  wake_->poke();
}

void Followers::follow_feed(std::shared_ptr<web::Stream> stream, const Principal& principal,
                            std::string list, FeedFilter filter, std::int64_t seq) {
  auto follower = std::make_shared<FeedFollower>();
  follower->stream = std::move(stream);
  follower->principal = principal;
  follower->list = std::move(list);
  follower->filter = filter;
  follower->seq = seq;
  add(follower);
}

void Followers::follow_log(std::shared_ptr<web::Stream> stream, const Principal& principal,
                           WorkloadId workload, TeamId team, std::int64_t replica, LogPlace from,
                           std::int64_t tail, bool only_attempt,
                           std::function<Engine*(const State&, PoolId)> engine_of) {
  auto follower = std::make_shared<LogFollower>();
  follower->stream = std::move(stream);
  follower->principal = principal;
  follower->workload = workload;
  follower->team = team;
  follower->replica = replica;
  follower->place = from;
  follower->tail = tail;
  follower->only_attempt = only_attempt;
  follower->engine_of = std::move(engine_of);
  add(follower);
}

void Followers::state_changed() {
  if (count() > 0) wake_->poke();
}

// Keeps `recent_` whole up to the view, so that most followers never ask the store.
void Followers::load_feed(const View& view) {
  const bool wanted = std::any_of(all_.begin(), all_.end(), [](const FollowerPtr& f) {
    return dynamic_cast<FeedFollower*>(f.get()) != nullptr;
  });
  if (!wanted) return recent_.clear();
  while (true) {
    const std::int64_t after = recent_.empty()
                                   ? std::max<std::int64_t>(0, view.last_feed_seq - kFeedPage)
                                   : recent_.back().seq;
    if (after >= view.last_feed_seq) break;
    auto page = store_.feed(after, kFeedPage);
    if (!page || page->empty()) break;
    recent_.insert(recent_.end(), page->begin(), page->end());
  }
  if (recent_.size() > kRecentMax)
    recent_.erase(recent_.begin(), recent_.end() - static_cast<std::ptrdiff_t>(kRecentMax / 2));
}

bool Followers::serve(Follower& follower, const View& view, bool& blocked) {
  if (auto* log = dynamic_cast<LogFollower*>(&follower))
    return log->serve(view.state, store_, wake_, blocked);
  auto& feed = static_cast<FeedFollower&>(follower);
  while (feed.seq < view.last_feed_seq) {
    if (!feed.has_room()) {
      blocked = true;
      return true;
    }
    const std::int64_t before = feed.seq;
    if (!recent_.empty() && recent_.front().seq <= feed.seq + 1) {
      if (!feed.send(view.state, seal_, recent_)) return false;
    } else {
      const auto page = store_.feed(feed.seq, kFeedPage);
      if (!page) return true;  // the store is away: later
      // What lay between is no longer kept: the client must list again.
      if (page->empty() || page->front().seq != feed.seq + 1) {
        feed.stream->close();
        return false;
      }
      if (!feed.send(view.state, seal_, *page)) return false;
    }
    if (feed.seq == before) return true;
  }
  return true;
}

void Followers::run() {
  bool blocked = false;
  int checks = 0;
  auto next_check = SteadyClock::now();
  while (true) {
    {
      std::unique_lock lock{wake_->mutex};
      const auto ready = [&] { return wake_->dirty || wake_->stop; };
      if (all_.empty())
        wake_->changed.wait(lock, ready);
      else
        wake_->changed.wait_for(lock, blocked ? SteadyClock::duration{kBlockedEvery} : kCheckEvery,
                                ready);
      wake_->dirty = false;
      if (wake_->stop) break;
    }
    {
      const std::lock_guard lock{mutex_};
      all_.insert(all_.end(), added_.begin(), added_.end());
      added_.clear();
    }
    const auto view = controller_.view();
    const Instant now = view->expiry_time(controller_.now());
    const bool check = SteadyClock::now() >= next_check;
    if (check) {
      next_check = SteadyClock::now() + kCheckEvery;
      ++checks;
    }
    load_feed(*view);
    blocked = false;
    std::erase_if(all_, [&](const FollowerPtr& f) {
      bool alive = !*f->closed && is_valid(view->state, f->principal, now);
      if (const auto* log = dynamic_cast<LogFollower*>(f.get()); log != nullptr && alive)
        alive = may(view->state, f->principal.user, Action::kWorkloadContent, log->team);
      if (alive && check) {
        if (auto* log = dynamic_cast<LogFollower*>(f.get())) *log->grown = true;
        if (checks % kChecksPerHeartbeat == 0) alive = f->stream->write(":\n\n");
      }
      if (alive && serve(*f, *view, blocked)) return false;
      f->stream->close();
      const std::lock_guard lock{mutex_};
      --count_;
      if (--per_user_[f->principal.user] == 0) per_user_.erase(f->principal.user);
      return true;
    });
  }
  for (const FollowerPtr& f : all_) f->stream->close();
  const std::lock_guard lock{mutex_};
  for (const FollowerPtr& f : added_) f->stream->close();
}

}  // namespace heddle::api
