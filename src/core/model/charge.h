// What a request is charged on a device.
#pragma once

#include <cstdint>
#include <optional>

#include "base/gpu_amount.h"
#include "core/model/workload.h"

namespace heddle {

// Per device: the fraction itself, or for a memory request the thousandths that it needs of a
// device with that much memory, rounded up. nullopt when one device cannot give it, and for a
// request without devices. Pure.
std::optional<GpuAmount> charge_per_device(const Request& request,
                                           std::int64_t device_memory_bytes);

}  // namespace heddle
