// Spawner: the small process that starts shims, so that the big server never forks.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "sandbox/sandbox.h"

namespace heddle::shim {

// One run to start; a connected socket for the shim travels with it in the same packet.
struct SpawnRun {
  std::string run_folder;
  std::string network;   // pinned before the start when it is not there; empty: one of its own
  std::int64_t uid = 0;  // of its team: whose used networks it may have
};

// One packet to the spawner: start these, in order, and unpin those networks.
struct SpawnRequest {
  static constexpr std::size_t kMaxRuns = 32;
  static constexpr std::size_t kMaxBytes = 160 * 1024;
  std::vector<SpawnRun> runs;
  std::vector<std::string> unpin;

  std::string encode() const;
  static Result<SpawnRequest> parse(std::string_view bytes);
};

// The spawner's first and only packet: what this machine can enforce.
std::string encode_abilities(const sandbox::Abilities& abilities);
struct FoundAbilities {
  bool isolates = false;
  bool limits_memory = false;
  bool limits_processes = false;
  std::vector<std::string> notes;
};
Result<FoundAbilities> parse_abilities(std::string_view bytes);

// Serves requests on `socket` until its other end is gone. Shims outlive it.
int run_spawner(int socket, const std::string& cgroup_parent);

}  // namespace heddle::shim
