// World: a random small estate with teams and waiting work, for property tests.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/rng.h"
#include "core/model/draft.h"

namespace heddle {

// A table of rows, so that the same facts can be put together in any order.
struct World {
  std::vector<Pool> pools;
  std::vector<Node> nodes;
  std::vector<Team> teams;
  std::vector<Share> shares;
  std::vector<Workload> workloads;
};

struct WorldOptions {
  std::int64_t workloads_max = 25;
  std::int64_t shapes_max = 6;
  bool odd_devices = false;  // devices of one pool may differ in memory
};

World a_world(Rng& rng, const WorldOptions& options);

// All rows, in the order of `rng`.
Draft shuffled(const World& world, Rng& rng);

}  // namespace heddle
