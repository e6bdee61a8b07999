// A local engine on a private folder, for tests.
#pragma once

#include <memory>
#include <string>

#include "engine/conformance/bench.h"
#include "engine/local/local_engine.h"
#include "shim/scratch_folder.h"

namespace heddle::local {

// What outlives the engines of one test: the folder, the clock, and who waits for reports.
class Machine {
 public:
  Machine();
  ~Machine();
  Machine(const Machine&) = delete;
  Machine& operator=(const Machine&) = delete;

  LocalOptions options;
  std::string runs() const { return options.runtime_folder + "/runs"; }

  // Blocks until a report is there or a moment has passed; false after 30 s in all.
  bool pass_time();
  void wake();

 private:
  struct Waiting;
  shim::ScratchFolder scratch_;
  std::unique_ptr<Waiting> waiting_;
};

EngineSubject local_subject(std::shared_ptr<Machine> machine);

}  // namespace heddle::local
