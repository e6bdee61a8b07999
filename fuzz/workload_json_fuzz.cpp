// A workload as JSON, from any bytes: read within its bounds, or refused by name.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "api/wire/workload_ask.h"
#include "base/check.h"
#include "core/model/limits.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace heddle;
  const auto value = api::parse_json({reinterpret_cast<const char*>(data), size});
  if (!value) {
    HEDDLE_CHECK(value.error().fields.size() == 1);
    return 0;
  }
  const auto ask = api::parse_workload(*value);
  if (!ask) {
    HEDDLE_CHECK(!ask.error().fields.empty());
    return 0;
  }
  const WorkloadSpec& spec = ask->spec;
  const Request& request = spec.shape.request;
  HEDDLE_CHECK(!spec.command.empty() && !spec.command.front().empty());
  HEDDLE_CHECK(request.devices >= 0 && request.devices <= limits::kDevicesPerReplica);
  HEDDLE_CHECK(request.memory_bytes >= 0 && request.memory_bytes <= limits::kMemoryBytes);
  HEDDLE_CHECK(request.cpu_milli >= 0 && request.cpu_milli <= limits::kCpuMilli);
  HEDDLE_CHECK(spec.shape.replicas >= 1 && spec.shape.replicas <= limits::kReplicas);
  HEDDLE_CHECK(ask->blobs.size() == spec.files.size());
  return 0;
}
