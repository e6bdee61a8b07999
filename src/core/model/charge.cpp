#include "core/model/charge.h"

namespace heddle {

std::optional<GpuAmount> charge_per_device(const Request& request,
                                           std::int64_t device_memory_bytes) {
  if (request.devices == 0) return std::nullopt;
  if (!request.by_memory()) return GpuAmount::milli(request.milli_per_device);
  if (device_memory_bytes <= 0) return std::nullopt;
  __extension__ using Wide = __int128;
  const Wide asked = Wide{request.mib_per_device} * 1024 * 1024 * GpuAmount::kMilliPerDevice;
  const Wide milli = (asked + device_memory_bytes - 1) / device_memory_bytes;
  if (milli > GpuAmount::kMilliPerDevice) return std::nullopt;
  return GpuAmount::milli(static_cast<std::int64_t>(milli));
}

}  // namespace heddle
