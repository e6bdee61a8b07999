// FakeEngine: an engine whose programs are a duration and an exit code, on a clock that tests move.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/rng.h"
#include "control/ports/engine.h"

namespace heddle {

// What really happens, whatever the server believes; outlives servers as a machine does.
// A command is read as ["run", "<ms>", "<exit code>"]: it runs so long, then exits so. Without a
// number it runs until it is stopped. One thread.
class FakeWorld {
 public:
  std::vector<FoundNode> nodes;

  // Moves time on: programs end, killed ones are gone.
  void advance(Instant now);
  Instant now() const { return now_; }

  // ---- what tests check ----
  // A sentence per broken law: a device given to more than it has, a replica of a run started
  // twice.
  const std::vector<std::string>& crimes() const { return crimes_; }
  std::int64_t programs_started() const { return started_; }
  std::int64_t programs_running() const;

  // The program of an allocation vanishes without a trace, as when its node is lost.
  void lose(AllocationId allocation);
  std::vector<AllocationId> running() const;

 private:
  friend class FakeEngine;
  struct Program {
    StartOrder order;
    Instant started_at;
    Instant ends_at;  // unset: never by itself
    EndFact end;
    bool ended = false;
    Instant ended_at;
    bool stopping = false;
  };
  void start(const StartOrder& order);
  void stop(AllocationId id, Duration grace);
  void check_devices();

  Instant now_;
  std::map<AllocationId, Program> programs_;  // also ended ones, until forgotten
  std::set<AllocationId> refused_;            // stopped before they came
  std::set<std::tuple<WorkloadId, std::int64_t, std::int64_t>> runs_;
  std::vector<std::string> crimes_;
  std::int64_t started_ = 0;
};

// How reports misbehave: once in so many on average; 0 never. Nothing is ever lost for good: what
// was reported comes again after connect() until it is forgotten.
struct FakeFaults {
  std::uint64_t seed = 1;
  std::uint64_t late_one_in = 0;        // kept back until a later take_reports
  std::uint64_t doubled_one_in = 0;     // given twice
  std::uint64_t swapped_one_in = 0;     // given after its successor
  std::uint64_t order_lost_one_in = 0;  // a start order that never arrives
};

// One server's connection to the world. One thread.
class FakeEngine : public Engine {
 public:
  explicit FakeEngine(FakeWorld& world, FakeFaults faults = {});

  std::string kind() const override { return "fake"; }
  EngineTraits traits() const override;
  void set_wake(std::function<void()> wake) override { wake_ = std::move(wake); }
  Result<Done> connect(std::int64_t epoch, const std::vector<Allocation>& live) override;
  void start(std::vector<StartOrder> orders) override;
  void stop(AllocationId allocation, Duration grace) override;
  void forget(AllocationId allocation) override;
  std::vector<Report> take_reports() override;
  Result<LogPage> read_log(const LogQuery& query) override;
  std::unique_ptr<LogWatch> watch_log(const LogQuery& query, std::function<void()> grown) override;
  void discard(WorkloadId workload) override { discarded.insert(workload); }
  std::set<WorkloadId> discarded;  // for tests

 private:
  // How much of a program's story this server has been told.
  struct Told {
    bool running = false;
    bool ended = false;
  };
  void look();
  std::vector<Report> disturb(std::vector<Report> reports);

  FakeWorld& world_;
  FakeFaults faults_;
  Rng rng_;
  std::function<void()> wake_ = [] {};
  std::map<AllocationId, Told> told_;
  std::vector<Report> reports_;
  std::vector<Report> late_;
};

}  // namespace heddle
