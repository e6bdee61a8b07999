// Runs: what the local engine knows about each allocation, and what it does about it.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "control/ports/engine.h"
#include "engine/local/folders.h"
#include "engine/local/hardware.h"
#include "engine/local/make_order.h"
#include "engine/local/poller.h"
#include "engine/local/spawner_link.h"
#include "shim/exit_record.h"
#include "shim/frame.h"

namespace heddle::local {

// All on one thread, the poller's.
//
// R1: a run folder, once named, is there until forget(); its name is taken once, so an allocation
//     starts at most once (the shim's claim in it makes that true for shims, too).
// R2: Released is reported only after an exit is in the folder, or when nothing ever started and
//     the folder says that nothing may.
// R3: what ended once does not run again, whatever allocation orders it: the end that was kept
//     (kept_end.h) is reported instead. What the ledger does not know is ended first, and an order
//     waits for that until it comes a second time.
class Runs {
 public:
  struct Setting {
    const Folders& folders;
    const Hardware& hardware;
    Poller& poller;
    SpawnerLink& spawner;
    OrderSettings orders;
    std::string refusal;  // why nothing may start here; empty: it may
    std::function<Instant()> now;
    std::function<void(Report)> report;
    std::function<void(const std::string&)> log_folder_made;
  };
  explicit Runs(Setting setting) : set_{std::move(setting)} {}
  ~Runs();

  Result<Done> connect(std::int64_t epoch, const std::vector<Allocation>& live);
  void start(const std::vector<StartOrder>& orders);
  void stop(AllocationId id, Duration grace);
  void forget(AllocationId id);
  // Sends what the calls before left to be sent to the spawner, all at once.
  void flush() { spawn_all(); }

 private:
  struct Run {
    shim::RunIdentity identity;
    std::string log_folder;
    std::string network;  // shared with its gang; empty: one of its own
    uid_t uid = 0;        // of its team
    shim::Fd connection;  // to its shim
    std::uint64_t connection_token = 0;
    shim::Fd dying;  // a process that must be gone before we go on
    std::uint64_t dying_token = 0;
    int spawns = 0;
    bool running_reported = false;
    bool over = false;      // its exit is known, or it may never start
    bool unwanted = false;  // not in the ledger: ended without a word
    std::optional<Duration> stop_grace;
    std::optional<shim::ExitRecord> exit;  // once it is over, until forget()
  };
  using Prepared = std::map<std::pair<WorkloadId, std::int64_t>, Result<Done>>;

  // ---- starting ----
  void start_now(const std::vector<StartOrder>& orders);
  Result<Done> prepare(const StartOrder& order, Prepared& prepared, Run& run);
  Result<Done> make_run_folder(AllocationId id, const std::string& file, const std::string& bytes);
  void spawn_later(AllocationId id);
  void spawn_all();
  void fail_start(AllocationId id, const std::string& message);
  void refuse(AllocationId id);

  // ---- following ----
  void listen_to(AllocationId id, shim::Fd connection);
  void take_frames(AllocationId id);
  void send_stop(const Run& run);
  // The shim does not speak any more: finds out how far it came and brings the run to its end.
  void resolve(AllocationId id);
  // True while that process of the run lives; resolve() comes again when it is gone. Kills it when
  // it is unwanted.
  bool outlasts(AllocationId id, const std::string& process_bytes, bool unwanted);
  void lose(AllocationId id, const std::string& message);
  void end(AllocationId id, const shim::ExitRecord& exit);
  void let_go(Run& run);
  void release_network(const std::string& path);

  // ---- what a restored ledger does not know ----
  bool ended_before(const StartOrder& order) const;
  void report_kept_end(AllocationId id, const std::string& log_folder);
  void drop_unwanted(AllocationId id);
  void start_postponed();

  // ---- taking over ----
  void adopt(AllocationId id, bool wanted);
  bool connect_to_shim(AllocationId id, const std::string& process_bytes);
  void remove_folder(const std::string& name);

  Instant now() const { return set_.now(); }

  Setting set_;
  std::int64_t epoch_ = 0;
  std::map<AllocationId, Run> runs_;
  std::vector<AllocationId> to_spawn_;
  std::set<std::string> networks_to_unpin_;
  int unwanted_ = 0;  // runs that are still being ended
  std::map<AllocationId, StartOrder> postponed_;
};

}  // namespace heddle::local
