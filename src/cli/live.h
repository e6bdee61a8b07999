// Live views: what a command shows, shown again when the change feed says so.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "cli/session/session.h"

namespace heddle::cli {

// Makes the whole text anew; its Error ends the view.
using View = std::function<Result<std::string>()>;

// Follows the change feed behind `query` (such as `?team=vision`) until Ctrl-C (exit 0) or an
// error. On a terminal the screen is drawn anew, at most once a second; elsewhere each different
// text is printed once. `every`: also looks that often where the feed cannot tell, because the
// change is another team's; zero: never.
int follow_view(Session& session, const std::string& query, Duration every, const View& view);

// Listens to the change feed: notes that something changed, tells of lost connections.
class FeedSink : public client::StreamSink {
 public:
  explicit FeedSink(Session& session) : session_{session} {}
  bool on_event(const client::SseEvent& event) override;
  void on_lost(const std::string& why, Duration next_try) override;
  void on_open() override;
  void on_refused(const client::Answer& answer) override;

  bool changed = true;  // at first: nothing was looked at yet
  std::optional<client::Answer> refused;

 private:
  Session& session_;
  bool lost_ = false;
};

// One stream's trouble, told in one place: `connection lost, trying again (12 s)`.
void tell_lost(Session& session, const std::string& why, Duration next_try);
void tell_back(Session& session);

}  // namespace heddle::cli
