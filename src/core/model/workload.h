// Workloads: what a team asks for, and what became of it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/gpu_amount.h"
#include "base/time.h"
#include "core/model/ids.h"

namespace heddle {

enum class WorkloadKind : std::uint8_t { kJob, kWorkspace, kService };
inline constexpr int kWorkloadKindCount = 3;

// In the order in which a team's own work is served: production first.
enum class WorkloadClass : std::uint8_t { kProduction, kTraining, kDevelopment, kBatch };
inline constexpr int kWorkloadClassCount = 4;

// What one replica asks for on one node. Exactly one of three forms of GPU:
//   whole     devices >= 1, milli_per_device == 1000, mib_per_device == 0
//   fraction  devices >= 1, 1 <= milli_per_device <= 999, mib_per_device == 0
//   memory    devices >= 1, mib_per_device >= 1, milli_per_device == 0 (known on the device only)
// or none at all: devices == 0.
struct Request {
  std::int64_t devices = 0;
  std::int64_t milli_per_device = 0;
  std::int64_t mib_per_device = 0;
  std::int64_t cpu_milli = 0;     // 0: the GPU-proportional part of the node
  std::int64_t memory_bytes = 0;  // 0: likewise
  friend auto operator<=>(const Request&, const Request&) = default;

  bool by_memory() const { return mib_per_device > 0; }
  bool whole() const { return milli_per_device == GpuAmount::kMilliPerDevice; }
};

// Everything that placement looks at; requests of one shape are alike to the planner.
struct Shape {
  Request request;            // of each replica
  std::int64_t replicas = 1;  // all or nothing
  std::vector<PoolId> pools;  // those accepted, in the asker's order, never empty
  friend auto operator<=>(const Shape&, const Shape&) = default;
};

// A file put into the working folder before the start. The content lies in the store's blobs.
struct FileRef {
  std::string path;  // relative, no empty, '.' or '..' parts
  std::string sha256_hex;
  std::int64_t bytes = 0;
  bool executable = false;
  friend bool operator==(const FileRef&, const FileRef&) = default;
};

// What was asked, for ever as it was asked (defaults filled in).
struct WorkloadSpec {
  std::string name;     // [a-z0-9-], 1..63, unique among the team's live work
  std::string project;  // free label, may be empty
  WorkloadKind kind = WorkloadKind::kJob;
  WorkloadClass work_class = WorkloadClass::kTraining;
  std::int64_t priority = 0;  // higher first, within team and class
  Shape shape;
  std::int64_t procs_per_node = 1;                       // processes started for each replica
  std::vector<std::string> command;                      // never empty; no shell is involved
  std::vector<std::pair<std::string, std::string>> env;  // ascending by name, names unique
  std::vector<FileRef> files;
  Duration time_limit;                     // 0: none
  Duration grace = Duration::seconds(30);  // between SIGTERM and SIGKILL
  std::int64_t retries = 0;                // how often it runs again after a failure of its own
  friend bool operator==(const WorkloadSpec&, const WorkloadSpec&) = default;
};

// waiting -> starting -> running -> stopping -> ended, skipping forward only;
// starting/running/stopping -> waiting when it runs again (attempt + 1).
enum class WorkloadState : std::uint8_t {
  kWaiting,
  kStarting,
  kRunning,
  kStopping,
  kSucceeded,
  kFailed,
  kCancelled,
};
inline constexpr int kWorkloadStateCount = 7;
inline bool has_ended(WorkloadState s) { return s >= WorkloadState::kSucceeded; }

// How a replica, and in the end a workload, came to its end.
enum class EndCause : std::uint8_t {
  kNone,         // has not ended
  kExited,       // by itself, see exit_code
  kSignalled,    // killed by a signal that Heddle did not send, see signal
  kOutOfMemory,  // passed its memory ceiling
  kCancelled,    // by a person
  kTimeLimit,    // passed its own run-time limit
  kStartFailed,  // could not be started: bad command, missing folder; see message
  kPeerFailed,   // stopped because another replica of its gang failed
  kLost,         // its node or its shim was lost
  kEvicted,      // had to give way
};
inline constexpr int kEndCauseCount = 10;

struct EndFact {
  EndCause cause = EndCause::kNone;
  std::int64_t exit_code = 0;
  std::int64_t signal = 0;
  std::string message;  // a sentence for people, may be empty, at most 1,024 bytes
  friend bool operator==(const EndFact&, const EndFact&) = default;
};

// Sums over the ended allocations of a workload; what is live is added when it is read.
// GPU use is milli x ms: at most kMaxMilli x a year < 2^63.
struct UsageTotals {
  std::int64_t charged_gpu_milli_ms = 0;  // running to ended
  std::int64_t lease_gpu_milli_ms = 0;    // recorded to released; charged is part of it
  std::int64_t cpu_ms = 0;
  std::int64_t peak_memory_bytes = 0;  // greatest of one replica
  std::int64_t waited_ms = 0;
  std::int64_t starting_ms = 0;
  std::int64_t ran_ms = 0;
  std::int64_t releasing_ms = 0;
  friend bool operator==(const UsageTotals&, const UsageTotals&) = default;
};

struct Workload {
  WorkloadId id;
  TeamId team;
  UserId owner;
  std::shared_ptr<const WorkloadSpec> spec;  // never null, never changed
  WorkloadState state = WorkloadState::kWaiting;
  std::int64_t attempt = 0;   // 0 before the first start, then the number of the run
  std::int64_t failures = 0;  // runs that failed by themselves; compared with spec->retries
  std::int64_t losses = 0;    // runs lost through no fault of its own
  std::int64_t released = 0;  // replicas of the present run that are gone already
  PoolId pool;                // where it runs or ran last; unset before
  bool cancel_requested = false;
  UserId cancelled_by;
  Instant submitted_at;
  Instant waiting_since;
  Instant starting_since;
  Instant running_since;  // unset until every replica runs
  Instant stopping_since;
  Instant ended_at;
  EndFact end;
  UsageTotals usage;
  std::int64_t version = 1;

  friend bool operator==(const Workload& a, const Workload& b);
};

}  // namespace heddle
