// The description of simulated nodes, from any text.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "engine/local/simulate.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto nodes = heddle::local::parse_simulation({reinterpret_cast<const char*>(data), size});
  if (!nodes) return 0;
  std::size_t devices = 0;
  for (const auto& node : *nodes) devices += node.devices.size();
  HEDDLE_CHECK(!nodes->empty() && devices <= 4096);
  return 0;
}
