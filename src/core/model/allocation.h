// Allocations: the ledger. One lease per replica and run; the only truth about who holds what.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/gpu_amount.h"
#include "base/time.h"
#include "core/model/ids.h"
#include "core/model/workload.h"

namespace heddle {

// planned    committed, the engine does not know yet
// sent       told to the engine at least once
// accepted   the engine is starting it
// running    the program's first instruction was due
// releasing  told to stop, or ended and not yet seen gone
// released   nothing of it is left; the devices are free
// lost       not heard of; the devices stay held until the fence time has passed
enum class AllocationState : std::uint8_t {
  kPlanned,
  kSent,
  kAccepted,
  kRunning,
  kReleasing,
  kReleased,
  kLost,
};
inline constexpr int kAllocationStateCount = 7;

// A part of one device.
struct DeviceLease {
  DeviceId device;
  GpuAmount amount;  // 1..1000 milli
  friend bool operator==(const DeviceLease&, const DeviceLease&) = default;
};

struct Allocation {
  AllocationId id;
  WorkloadId workload;
  TeamId team;
  PoolId pool;
  NodeId node;
  std::int64_t replica = 0;  // 0..replicas-1
  std::int64_t attempt = 0;  // the workload's run that it belongs to
  std::int64_t epoch = 0;    // of the writer that recorded it; a fence for engines
  AllocationState state = AllocationState::kPlanned;
  std::vector<DeviceLease> devices;  // ascending by device
  std::int64_t cpu_milli = 0;
  std::int64_t memory_bytes = 0;
  Instant recorded_at;
  Instant running_at;   // unset until it ran
  Instant ended_at;     // by the engine's time stamp; unset until then
  Instant released_at;  // likewise
  Instant deadline;     // when the present state is due to be left; unset: never
  bool stop_requested = false;
  EndCause stop_cause = EndCause::kNone;  // why Heddle stops it
  EndFact end;
  std::int64_t cpu_ms = 0;
  std::int64_t peak_memory_bytes = 0;
  friend bool operator==(const Allocation&, const Allocation&) = default;

  GpuAmount amount() const {
    GpuAmount sum;
    for (const DeviceLease& lease : devices) sum += lease.amount;
    return sum;
  }
};

// The moves that the state machine knows; everything else is a stale or doubled report.
bool may_follow(AllocationState from, AllocationState to);

}  // namespace heddle
