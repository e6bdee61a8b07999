// Store: where the facts lie so that nothing acknowledged is ever lost.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "core/model/draft.h"
#include "core/model/state.h"

namespace heddle {

enum class SubjectKind : std::uint8_t {
  kTeam,
  kUser,
  kMember,
  kToken,
  kSite,
  kPool,
  kNode,
  kShare,
  kWorkload,
  kServer,
};
inline constexpr int kSubjectKindCount = 10;

// One entry of the change feed: that something changed, and the few facts a follower shows.
struct FeedEvent {
  std::int64_t seq = 0;  // 1.. without gaps, in commit order; set by control
  Instant at;
  TeamId team;  // whose readers may see it; unset: everyone who is logged in
  SubjectKind subject_kind = SubjectKind::kWorkload;
  std::uint64_t subject = 0;  // value of the subject's id
  std::string what;           // stable lower_snake: submitted, started, running, ended, changed ...
  std::string note;           // short facts for people, at most 256 bytes, no tenant's secrets
  friend bool operator==(const FeedEvent&, const FeedEvent&) = default;
};

// Who did what, refused or done, in the same transaction as the act.
struct AuditEntry {
  std::int64_t seq = 0;  // 1.. without gaps; set by control
  Instant at;
  UserId who;          // unset: Heddle itself
  std::string action;  // dotted, such as workload.submit
  SubjectKind subject_kind = SubjectKind::kWorkload;
  std::uint64_t subject = 0;
  TeamId team;
  std::string result;  // done, or an error code's name
  std::string request_id;
  friend bool operator==(const AuditEntry&, const AuditEntry&) = default;
};

// Content addressed bytes, such as files that go with a workload.
struct Blob {
  std::string sha256_hex;
  std::string bytes;
};

// Remembers a create for 24 h, so that its repetition gives the same answer.
struct IdempotencyRecord {
  UserId user;
  std::string route;  // method and path template
  std::string key;
  std::string body_sha256_hex;
  std::uint64_t subject = 0;  // id of what was created
  Instant at;
  friend bool operator==(const IdempotencyRecord&, const IdempotencyRecord&) = default;
};

// Where the clock stood at a commit (design.md 4, Time).
struct ClockMark {
  Instant now;
  std::int64_t boot_ms = 0;
  std::string boot_id;
  friend bool operator==(const ClockMark&, const ClockMark&) = default;
};

// One transaction: all of it or nothing.
struct Batch {
  std::int64_t epoch = 0;     // of the writer, from open()
  std::int64_t batch_id = 0;  // 1.., one more with each batch of this epoch
  ClockMark clock;
  Changes changes;
  std::vector<FeedEvent> feed;
  std::vector<AuditEntry> audit;
  std::vector<Blob> blobs;  // those already there are kept
  std::vector<IdempotencyRecord> idempotency;
};

struct Loaded {
  State state;             // live facts
  std::int64_t epoch = 0;  // the new writer's: one above the last
  std::int64_t last_feed_seq = 0;
  std::int64_t last_audit_seq = 0;
  std::int64_t last_team_slot = 0;  // greatest ever given
  std::uint64_t last_id = 0;        // greatest id ever stored, of any kind
  std::optional<ClockMark> clock;   // of the last commit
};

// Which ended workloads to list, newest (greatest id) first.
struct EndedQuery {
  std::vector<TeamId> teams;  // only of these; empty: none
  WorkloadId below;           // only ids less than this; unset: from the newest
  std::string name;           // exact, or empty for all
  std::optional<WorkloadState> state;
  std::int64_t limit = 100;  // 1..1000
};

// How far back each kind reaches; older rows go.
struct Retention {
  Duration feed = Duration::hours(24);
  Duration audit = Duration::hours(24 * 400);
  Duration idempotency = Duration::hours(24);
  Duration ended_workloads = Duration::hours(24 * 400);
};

// What trim() took away: how many rows, and which workloads are among them.
struct Trimmed {
  std::int64_t rows = 0;
  std::vector<WorkloadId> workloads;
};

// Threads: commit, open and trim on one thread (the writer's); the reads below from any thread, at
// any time, also while a commit runs. Nothing throws. Errors: storage_full when the disk is full
// (nothing was changed), unavailable when the store cannot be reached or written, internal when
// what is read is damaged (the message names the file and what to do), conflict when another writer
// took over (a newer epoch): then this process must stop writing for good.
class Store {
 public:
  virtual ~Store() = default;

  // Takes over as the one writer and reads the live state. Once, first.
  virtual Result<Loaded> open() = 0;

  // Durable when it returns Done. After an error other than conflict the outcome may be unknown:
  // ask was_committed() before trying again.
  virtual Result<Done> commit(const Batch& batch) = 0;
  virtual Result<bool> was_committed(std::int64_t epoch, std::int64_t batch_id) = 0;

  virtual Result<std::optional<Workload>> ended_workload(WorkloadId id) = 0;
  virtual Result<std::vector<Workload>> ended_workloads(const EndedQuery& query) = 0;
  // Released allocations of one workload, ascending by id.
  virtual Result<std::vector<Allocation>> released_allocations(WorkloadId id) = 0;
  // Events with seq > after, ascending, at most limit. oldest_feed_seq: 0 when there is none.
  virtual Result<std::vector<FeedEvent>> feed(std::int64_t after, std::int64_t limit) = 0;
  virtual Result<std::int64_t> oldest_feed_seq() = 0;
  // Entries with seq < before (0: from the newest), descending, at most limit.
  virtual Result<std::vector<AuditEntry>> audit(std::int64_t before, std::int64_t limit) = 0;
  virtual Result<std::optional<IdempotencyRecord>> idempotency(UserId user,
                                                               const std::string& route,
                                                               const std::string& key) = 0;
  virtual Result<std::optional<std::string>> blob(const std::string& sha256_hex) = 0;

  // Deletes at most `rows` rows that are past their retention (an ended workload with all that
  // hangs on it counts as one).
  virtual Result<Trimmed> trim(Instant now, const Retention& retention, std::int64_t rows) = 0;

  // A consistent copy of everything as one file, also while commits run. Refuses an existing file.
  virtual Result<Done> backup(const std::string& file) = 0;
};

}  // namespace heddle
