// What a controller is made of and set to.
#pragma once

#include <cstddef>
#include <functional>
#include <string>

#include "base/result.h"
#include "base/time.h"
#include "control/command.h"
#include "control/commands.h"
#include "control/lifecycle.h"
#include "control/ports/engine.h"
#include "control/ports/store.h"
#include "core/schedule/plan.h"

namespace heddle {

struct ControllerOptions {
  SchedulePolicy schedule;
  Retention retention;
  CommandLimits commands;
  LifecycleOptions lifecycle;
  std::size_t commands_per_commit = 512;
  std::size_t commands_queued_max = 16'384;
  bool confirm_wall_clock = false;  // an operator says that the machine's clock is right
  bool new_admin_token = false;     // make one more token of the first administrator
  Duration retry_store_every = Duration::seconds(1);
  Duration trim_every = Duration::seconds(10);
  Duration admin_token_life = Duration::hours(24 * 365);
};

// One engine and the site that it drives.
struct SiteEngine {
  std::string site_name;
  Engine* engine = nullptr;  // outlives the controller
};

// How a command is answered: once, on the writer's thread; must return at once.
using Completion = std::function<void(Result<Outcome>)>;
struct Asked {
  Command command;
  Completion done;
};

}  // namespace heddle
