// Which engine runs the nodes of a pool.
#pragma once

#include <vector>

#include "control/controller.h"

namespace heddle::api {

// Null when the pool is not known or its site has no engine here. Never owns.
Engine* engine_of(const std::vector<SiteEngine>& engines, const State& state, PoolId pool);

}  // namespace heddle::api
