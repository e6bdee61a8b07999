// Engine: where work runs. Heddle decides, the engine executes and reports.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/gpu_amount.h"
#include "base/result.h"
#include "base/time.h"
#include "core/model/allocation.h"
#include "core/model/estate.h"

namespace heddle {

// What the engine found; control turns it into Pool and Node rows and gives ids. Nodes of equal
// (device_model, device_memory_bytes) form a pool.
struct FoundDevice {
  std::string uuid;
  std::int64_t memory_bytes = 0;
  DeviceHealth health = DeviceHealth::kHealthy;
};
struct FoundNode {
  std::string name;
  std::string device_model;  // empty: no GPUs
  bool simulated = false;
  std::int64_t cpu_milli = 0;
  std::int64_t memory_bytes = 0;
  std::vector<FoundDevice> devices;  // in the machine's own order
};

struct OrderDevice {
  std::string uuid;
  GpuAmount amount;
  std::int64_t memory_bytes = 0;  // of the whole device
};
struct OrderFile {
  std::string path;
  std::shared_ptr<const std::string> bytes;
  bool executable = false;
};

// Everything an engine needs to run one replica. Values only.
struct StartOrder {
  AllocationId allocation;
  std::int64_t epoch = 0;
  WorkloadId workload;
  std::int64_t attempt = 0;
  TeamId team;
  std::int64_t team_slot = 0;
  std::string team_name;
  std::string workload_name;
  std::string user_name;
  std::string project;
  std::string node_name;
  std::string pool_name;
  bool simulated = false;
  std::vector<OrderDevice> devices;
  std::int64_t cpu_milli = 0;
  std::int64_t memory_bytes = 0;
  std::int64_t replica = 0;
  std::int64_t replicas = 1;
  std::int64_t procs_per_node = 1;
  // Node name of every replica, in order; rank 0's address is derived from it.
  std::vector<std::string> replica_nodes;
  std::vector<std::string> command;
  std::vector<std::pair<std::string, std::string>> env;
  std::vector<OrderFile> files;
  Duration grace;
};

// Facts about allocations. Time stamps are the engine's, on the server's time line where it can.
// Each may come late, twice or again after a restart; control takes each once.
struct ReportAccepted {
  AllocationId allocation;
};
struct ReportRunning {
  AllocationId allocation;
  Instant at;
};
struct ReportEnded {  // the program is gone; its tree may not be yet
  AllocationId allocation;
  Instant at;
  EndFact end;
  std::int64_t cpu_ms = 0;
  std::int64_t peak_memory_bytes = 0;
};
struct ReportReleased {  // nothing of it is left, or it never started
  AllocationId allocation;
  Instant at;
};
struct ReportLost {
  AllocationId allocation;
  Instant at;
  std::string message;
};
struct ReportNodes {
  std::vector<FoundNode> nodes;
};  // all of them, replacing what was known
using Report = std::variant<ReportAccepted, ReportRunning, ReportEnded, ReportReleased, ReportLost,
                            ReportNodes>;

// A place in a replica's log. {0, 0} is the oldest byte still kept.
struct LogCursor {
  std::int64_t segment = 0;
  std::int64_t offset = 0;
  friend auto operator<=>(const LogCursor&, const LogCursor&) = default;
};
enum class LogStream : std::uint8_t { kOut, kErr, kHeddle };  // kHeddle: notes of ours
struct LogLine {
  Instant at;
  LogStream stream = LogStream::kOut;
  bool partial = false;  // the next line of this stream continues it (a line over 64 KiB)
  std::string text;      // bytes as written, without the newline; any bytes
};
struct LogPage {
  std::vector<LogLine> lines;
  LogCursor next;         // where to go on
  bool at_end = false;    // nothing more now
  bool finished = false;  // nothing more ever
  bool skipped = false;   // the cursor was older than what is kept
};
struct LogQuery {
  WorkloadId workload;
  std::int64_t attempt = 0;
  std::int64_t replica = 0;
  LogCursor from;
  std::int64_t tail = 0;  // > 0: ignore `from`, give the last so many lines
  std::int64_t max_bytes = 256 * 1024;
};

// Threads: every verb may be called from any thread and returns soon; reports are taken by control.
class Engine {
 public:
  virtual ~Engine() = default;

  virtual std::string kind() const = 0;  // local, slurm, kubernetes, fake
  virtual EngineTraits traits() const = 0;

  // Calls `wake` (from any thread) whenever take_reports() has something new. Before start-up ends.
  virtual void set_wake(std::function<void()> wake) = 0;

  // Connects to what it drives and to what runs already. `live`: the ledger's allocations on this
  // site with their epochs. Reports about each follow: running, ended, released or lost. What runs
  // but is not in `live` is ended. About planned and sent allocations of which it finds no trace it
  // says nothing: control orders them again. Once, before any other verb but set_wake.
  virtual Result<Done> connect(std::int64_t epoch, const std::vector<Allocation>& live) = 0;

  // Idempotent by allocation id: a second order for the same allocation starts nothing. All orders
  // of a gang come in one call. Failure to start comes back as ReportEnded{kStartFailed} +
  // Released.
  virtual void start(std::vector<StartOrder> orders) = 0;

  // Ends it: SIGTERM, `grace`, then the whole tree is killed. An allocation that never reached the
  // engine is answered by ReportReleased, and a later start() of it is refused. Idempotent.
  virtual void stop(AllocationId allocation, Duration grace) = 0;

  // Its release is committed: whatever was kept to report it again may go. Logs stay.
  virtual void forget(AllocationId allocation) = 0;

  // What happened since the last call, in order. A report stays deliverable after a crash of the
  // server until forget().
  virtual std::vector<Report> take_reports() = 0;

  // not_found when there is no log (yet).
  virtual Result<LogPage> read_log(const LogQuery& query) = 0;

  // Calls `grown` (from any thread, coalesced) when the log of that replica grew or finished, until
  // the returned handle is destroyed.
  class LogWatch {
   public:
    virtual ~LogWatch() = default;
  };
  virtual std::unique_ptr<LogWatch> watch_log(const LogQuery& query,
                                              std::function<void()> grown) = 0;

  // Deletes working folder and logs of a workload that ended long ago. Idempotent.
  virtual void discard(WorkloadId workload) = 0;
};

}  // namespace heddle
