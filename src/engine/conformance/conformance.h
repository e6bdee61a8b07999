// What every engine must do, as one suite that runs on all of them.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "control/ports/engine.h"

namespace heddle {

// One machine (or cluster, or world) with an engine on it.
struct EngineSubject {
  // Gives an engine, not yet connected, on what outlives it. Called again only after the engine
  // that it gave before is gone.
  std::function<std::unique_ptr<Engine>()> attach;
  // Lets a little time pass: waits a moment, or moves a clock on. False when no more will be
  // given: the test then fails.
  std::function<bool()> pass_time;
  // A command that runs for so long and exits so; negative: until it is stopped.
  std::function<std::vector<std::string>(std::int64_t run_ms, int exit_code)> command;
  // Real programs: their files, variables and output are looked at, too.
  bool runs_programs = true;
};
using NewSubject = std::function<EngineSubject()>;

// Call it alone inside a doctest TEST_CASE: it is made of SUBCASEs.
void run_engine_conformance(const NewSubject& new_subject);

}  // namespace heddle
