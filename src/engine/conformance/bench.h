// EngineBench: an engine under test with everything that it reported.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "engine/conformance/conformance.h"

namespace heddle::conformance {

// What control would know about one allocation.
struct Story {
  int accepted = 0;
  int running = 0;
  int ended = 0;
  int released = 0;
  Instant running_at;
  Instant ended_at;
  Instant released_at;
  EndFact end;
  std::int64_t cpu_ms = 0;
  std::string order;  // a, r, e, x (released) and l (lost), as they came
};

class EngineBench {
 public:
  explicit EngineBench(EngineSubject subject) : subject_{std::move(subject)} {}

  // Connects a new engine; the one before is destroyed first. Epochs grow, at least to `epoch`.
  void attach(const std::vector<Allocation>& live = {}, std::int64_t epoch = 0);
  void end_server() { engine_.reset(); }
  Engine& engine() { return *engine_; }

  // A replica of a new workload with a new allocation.
  StartOrder order(std::vector<std::string> command);
  std::vector<std::string> command(std::int64_t run_ms, int exit_code) const {
    return subject_.command(run_ms, exit_code);
  }
  bool runs_programs() const { return subject_.runs_programs; }
  void start(StartOrder order) { engine_->start({std::move(order)}); }

  // As the ledger would hold it.
  static Allocation ledger_row(const StartOrder& order, AllocationState state);

  // Takes reports until `done` holds; false when the subject gives up before.
  bool wait(const std::function<bool()>& done);
  bool wait_released(AllocationId id);
  bool wait_running(AllocationId id);
  // Whole output of the only attempt of a replica, once it has finished.
  std::string output(const StartOrder& order, LogStream stream = LogStream::kOut);

  Story& story(AllocationId id) { return stories_[id]; }
  const std::vector<FoundNode>& nodes() const { return nodes_; }

 private:
  void take();

  EngineSubject subject_;
  std::unique_ptr<Engine> engine_;
  std::map<AllocationId, Story> stories_;
  std::vector<FoundNode> nodes_;
  std::uint64_t last_id_ = 100;
  std::int64_t epoch_ = 0;
};

}  // namespace heddle::conformance
