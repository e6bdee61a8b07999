// read_log: pages of a replica's log, while it is written and rotated by its shim.
#pragma once

#include <string>

#include "base/result.h"
#include "control/ports/engine.h"

namespace heddle::local {

// `folder` holds the segments. As Engine::read_log; any thread.
Result<LogPage> read_log(const std::string& folder, const LogQuery& query);

}  // namespace heddle::local
