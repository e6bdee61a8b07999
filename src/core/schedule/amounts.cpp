#include "core/schedule/amounts.h"

#include <algorithm>

#include "core/model/charge.h"
#include "core/model/limits.h"

namespace heddle {
namespace {

__extension__ using Wide = __int128;

constexpr std::int64_t kMilliPerCore = 1000;

bool within(std::int64_t value, std::int64_t low, std::int64_t high) {
  return low <= value && value <= high;
}

// floor(total x part / whole)
std::int64_t part_of(std::int64_t total, std::int64_t part, std::int64_t whole) {
  return whole == 0 ? 0 : static_cast<std::int64_t>(Wide{total} * part / whole);
}

}  // namespace

bool well_formed(const Shape& shape) {
  const Request& r = shape.request;
  const bool numbers = within(shape.replicas, 1, limits::kReplicas) &&
                       within(r.devices, 0, limits::kDevicesPerReplica) &&
                       within(r.milli_per_device, 0, GpuAmount::kMilliPerDevice) &&
                       within(r.mib_per_device, 0, limits::kDeviceMemoryMib) &&
                       within(r.cpu_milli, 0, limits::kCpuMilli) &&
                       within(r.memory_bytes, 0, limits::kMemoryBytes);
  const bool one_form = (r.devices == 0) == (r.milli_per_device == 0 && r.mib_per_device == 0) &&
                        (r.milli_per_device == 0 || r.mib_per_device == 0);
  return numbers && one_form;
}

std::int64_t milli_on_device(const Request& request, std::int64_t device_memory_bytes) {
  const auto charge = charge_per_device(request, device_memory_bytes);
  return charge ? charge->as_milli() : GpuAmount::kMilliPerDevice + 1;
}

GpuAmount asked_of(const Shape& shape, std::int64_t device_memory_bytes) {
  if (!well_formed(shape)) return GpuAmount::milli(GpuAmount::kMaxMilli) * GpuAmount::kMaxMilli;
  const std::int64_t devices = shape.request.devices * shape.replicas;
  if (devices == 0) return {};
  return GpuAmount::milli(milli_on_device(shape.request, device_memory_bytes)) * devices;
}

Beside beside_gpus(const Request& request, const NodeSize& node, std::int64_t held_milli) {
  Beside beside{request.cpu_milli, request.memory_bytes};
  if (request.devices == 0) {
    if (beside.cpu_milli == 0) beside.cpu_milli = std::min(kMilliPerCore, node.cpu_milli);
    if (beside.memory_bytes == 0)
      beside.memory_bytes = part_of(node.memory_bytes, beside.cpu_milli, node.cpu_milli);
    return beside;
  }
  const std::int64_t whole = node.devices * GpuAmount::kMilliPerDevice;
  if (beside.cpu_milli == 0) beside.cpu_milli = part_of(node.cpu_milli, held_milli, whole);
  if (beside.memory_bytes == 0) beside.memory_bytes = part_of(node.memory_bytes, held_milli, whole);
  return beside;
}

}  // namespace heddle
