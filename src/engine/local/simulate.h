// Simulated nodes: what `--simulate 2x8:H100-80GB` stands for.
#pragma once

#include <string_view>
#include <vector>

#include "base/result.h"
#include "control/ports/engine.h"

namespace heddle::local {

// NODESxDEVICES:MODEL-MEMORYGB, several separated by commas. Nodes are named sim-1, sim-2 ...;
// each declares 64 cores and 512 GiB; UUIDs are the same each time. At most 4,096 devices in all.
Result<std::vector<FoundNode>> parse_simulation(std::string_view spec);

}  // namespace heddle::local
