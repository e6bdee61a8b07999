#include "base/money.h"

#include <algorithm>
#include <limits>

namespace heddle {

Money cost_of(std::int64_t gpu_milli_ms, Money price_per_gpu_hour) {
  __extension__ using Wide = __int128;
  constexpr Wide kMilliMsPerGpuHour = Wide{1000} * 3'600'000;
  const Wide exact = Wide{gpu_milli_ms} * price_per_gpu_hour.micros;
  Wide whole = exact / kMilliMsPerGpuHour;
  const Wide twice_rest = (exact % kMilliMsPerGpuHour) * 2;
  if (twice_rest > kMilliMsPerGpuHour || (twice_rest == kMilliMsPerGpuHour && whole % 2 != 0))
    ++whole;
  constexpr Wide kMost = std::numeric_limits<std::int64_t>::max();
  return {static_cast<std::int64_t>(std::min(whole, kMost))};
}

}  // namespace heddle
