// Reason: why something waits, as a closed list with numbers. Words are made at the edge.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/gpu_amount.h"
#include "core/model/ids.h"

namespace heddle {

enum class ReasonCode : std::uint8_t {
  kNone,
  kNotPlannedYet,       // the next planning round will look at it
  kNoSuchPool,          // no accepted pool has nodes
  kNeverFits,           // larger than what any ready or draining node, or the pool, could ever give
  kTeamLimit,           // held + asked would pass the team's limit in the pool
  kNoFreeDevices,       // not enough free devices in the pool altogether
  kFragmented,          // enough in sum, not together as the request needs them
  kNoFreeCpuOrMemory,   // devices are free, their nodes lack CPU or memory
  kBehindOthers,        // fits, but what is free goes to work ahead of it first
  kDeviceNotShareable,  // what is free is on devices held by other teams, and sharing is closed
  kStepBudget,          // the planner's step budget ended before it was looked at
};
inline constexpr int kReasonCodeCount = 11;

// Stable lower_snake name, for example no_free_devices.
std::string_view name_of(ReasonCode code);

// The dominant reason of one (team, pool, shape). Amounts in one unit; 0 where it says nothing.
struct Reason {
  ReasonCode code = ReasonCode::kNotPlannedYet;
  PoolId pool;
  GpuAmount asked;         // by the whole workload
  GpuAmount held_by_team;  // in the pool
  GpuAmount limit;
  GpuAmount guarantee;
  GpuAmount usable;                        // healthy devices of ready nodes
  GpuAmount free;                          // of those, in sum
  std::int64_t most_free_on_one_node = 0;  // whole devices for whole requests, else milli
  std::int64_t needed_on_one_node = 0;     // in the same unit
  friend bool operator==(const Reason&, const Reason&) = default;
};

}  // namespace heddle
