// Feed and logs on the wire: who may see an event, and how events and lines are written.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "control/ports/engine.h"
#include "control/ports/store.h"
#include "core/model/state.h"

namespace heddle::api {

// Which events of the feed one watcher wants.
struct FeedFilter {
  std::optional<TeamId> team;
  std::optional<WorkloadId> workload;
};

// True if `user` may see the event now.
bool may_see(const State& state, UserId user, const FeedEvent& event);
bool wants(const FeedFilter& filter, const FeedEvent& event);

// The id of what an event or audit entry is about; empty when it has none.
std::string subject_text(SubjectKind kind, std::uint64_t subject);

// The event as JSON.
std::string event_json(const FeedEvent& event);

// One replica's log being followed; `from_next` says where to go on.
struct LogPlace {
  std::int64_t attempt = 0;
  LogCursor at;
};
std::string text_of(const LogPlace& place);
std::optional<LogPlace> parse_log_place(std::string_view text);
std::string line_json(const LogLine& line);

}  // namespace heddle::api
