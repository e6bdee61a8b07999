// Books: one transaction being written: changed rows, feed, audit and what engines will be told.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "control/command.h"
#include "control/ports/engine.h"
#include "control/ports/id_source.h"
#include "control/ports/store.h"
#include "core/model/draft.h"

namespace heddle {

// Told to an engine after the commit, never before.
struct StopEffect {
  AllocationId allocation;
  PoolId pool;
  Duration grace;
};
struct ForgetEffect {
  AllocationId allocation;  // every engine is told: one that does not know it does nothing
};
using Effect = std::variant<StopEffect, ForgetEffect>;

// Counters that go on from commit to commit.
struct Sequences {
  std::int64_t feed = 0;
  std::int64_t audit = 0;
  std::int64_t team_slot = 0;
};

// Use cases are functions over a Books: they judge first and write only when nothing can fail any
// more, so a refused command leaves no trace but its audit line. Dropped, it leaves nothing at all.
class Books {
 public:
  Books(State from, Instant at, std::int64_t writer, Sequences sequences, IdSource& id_source)
      : draft{std::move(from)}, now{at}, epoch{writer}, ids{id_source}, sequences_{sequences} {}

  const State& state() const { return draft.state(); }
  template <class Tag>
  Id<Tag> new_id() {
    return Id<Tag>{ids.next(now)};
  }
  std::int64_t new_team_slot() { return ++sequences_.team_slot; }

  void tell(TeamId team, SubjectKind kind, std::uint64_t subject, std::string what,
            std::string note = {}) {
    feed.push_back({++sequences_.feed, now, team, kind, subject, std::move(what), std::move(note)});
  }
  void record(UserId who, std::string action, SubjectKind kind, std::uint64_t subject, TeamId team,
              std::string result, std::string request_id) {
    audit.push_back({++sequences_.audit, now, who, std::move(action), kind, subject, team,
                     std::move(result), std::move(request_id)});
  }
  const Sequences& sequences() const { return sequences_; }
  bool empty() const {
    return feed.empty() && audit.empty() && blobs.empty() && idempotency.empty() && !touched_;
  }
  // Rows change without a feed or audit line too (such as planned to sent).
  void touch() { touched_ = true; }

  Draft draft;
  const Instant now;
  const std::int64_t epoch;
  IdSource& ids;
  std::vector<FeedEvent> feed;
  std::vector<AuditEntry> audit;
  std::vector<Blob> blobs;
  std::vector<IdempotencyRecord> idempotency;
  std::vector<Effect> effects;

 private:
  Sequences sequences_;
  bool touched_ = false;
};

}  // namespace heddle
