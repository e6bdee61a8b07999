// Amounts: what a request comes to on a given device and node, in whole numbers.
#pragma once

#include <cstdint>

#include "base/gpu_amount.h"
#include "core/model/workload.h"

namespace heddle {

// False when a number is negative or above its stated maximum (core/model/limits.h), or when the
// three forms of a request are mixed. Such a shape was never let in; it is never placed either.
bool well_formed(const Shape& shape);

// Thousandths of one device with that much memory that the request takes of each of its devices.
// As charge_per_device() says; 1001 where one device cannot give it.
std::int64_t milli_on_device(const Request& request, std::int64_t device_memory_bytes);

// By the whole workload, all replicas. A shape that is not well-formed asks for more than there
// can be.
GpuAmount asked_of(const Shape& shape, std::int64_t device_memory_bytes);

struct NodeSize {
  std::int64_t devices = 0;
  std::int64_t cpu_milli = 0;
  std::int64_t memory_bytes = 0;
  friend auto operator<=>(const NodeSize&, const NodeSize&) = default;
};

struct Beside {
  std::int64_t cpu_milli = 0;
  std::int64_t memory_bytes = 0;
};

// CPU and memory of a replica that holds `held_milli` of the node's devices: as requested, or,
// where the request says 0, the GPU-proportional part of the node, rounded down. Without devices 0
// means one core (or the whole node if it has less) and the part of memory that goes with the CPU.
Beside beside_gpus(const Request& request, const NodeSize& node, std::int64_t held_milli);

}  // namespace heddle
