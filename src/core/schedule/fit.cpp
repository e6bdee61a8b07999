#include "core/schedule/fit.h"

#include <algorithm>
#include <limits>
#include <tuple>

namespace heddle {
namespace {

constexpr std::int64_t kWhole = GpuAmount::kMilliPerDevice;

// The first free devices of the node, in order of id.
bool choose_whole(const PoolRoom& room, const RoomNode& node, std::int64_t wanted, Take& take) {
  if (node.free_devices < wanted) return false;
  const auto end = node.first_device + static_cast<std::size_t>(node.size.devices);
  for (std::size_t at = node.first_device; at < end && wanted > 0; ++at) {
    if (room.devices[at].free_milli != kWhole) continue;
    take.parts.push_back({at, kWhole});
    --wanted;
  }
  return wanted == 0;
}

// A part of each of several devices, chosen by how full they are, then by id.
bool choose_parts(const PoolRoom& room, const RoomNode& node, const Request& request, TeamId team,
                  Pick pick, Take& take) {
  struct Choice {
    std::int64_t free_milli;
    std::size_t device;
    std::int64_t milli;
  };
  std::vector<Choice> choices;
  const auto end = node.first_device + static_cast<std::size_t>(node.size.devices);
  for (std::size_t at = node.first_device; at < end; ++at) {
    const RoomDevice& device = room.devices[at];
    const std::int64_t milli = milli_on_device(request, device.memory_bytes);
    if (milli <= device.free_milli && room.open_to(device, team))
      choices.push_back({device.free_milli, at, milli});
  }
  const auto wanted = static_cast<std::size_t>(request.devices);
  if (choices.size() < wanted) return false;
  std::ranges::sort(choices, [pick](const Choice& a, const Choice& b) {
    if (a.free_milli != b.free_milli)
      return (a.free_milli < b.free_milli) == (pick == Pick::kFullestFirst);
    return a.device < b.device;
  });
  for (std::size_t i = 0; i < wanted; ++i)
    take.parts.push_back({choices[i].device, choices[i].milli});
  std::ranges::sort(take.parts, {}, &Take::Part::device);
  return true;
}

// How often `each` goes into `whole`; any number of times when nothing is asked.
std::int64_t times(std::int64_t whole, std::int64_t each) {
  return each <= 0 ? std::numeric_limits<std::int64_t>::max()
                   : std::max<std::int64_t>(0, whole) / each;
}

}  // namespace

std::optional<Take> fit(const PoolRoom& room, const Request& request, TeamId team, Pick pick,
                        std::size_t at) {
  const RoomNode& node = room.nodes[at];
  Take take;
  take.node = at;
  if (request.devices == 0) {
    if (node.size.devices != 0) return std::nullopt;
  } else if (request.whole()) {
    if (!choose_whole(room, node, request.devices, take)) return std::nullopt;
  } else {
    if (!choose_parts(room, node, request, team, pick, take)) return std::nullopt;
  }
  std::int64_t held = 0;
  for (const Take::Part& part : take.parts) held += part.milli;
  take.beside = beside_gpus(request, node.size, held);
  if (take.beside.cpu_milli > node.free_cpu_milli) return std::nullopt;
  if (take.beside.memory_bytes > node.free_memory_bytes) return std::nullopt;
  return take;
}

std::int64_t capacity_of(const NodeKind& kind, const Request& request) {
  std::int64_t most = std::numeric_limits<std::int64_t>::max();
  std::int64_t held = 0;
  if (request.devices == 0) {
    if (kind.size.devices != 0) return 0;
  } else {
    const std::int64_t milli = milli_on_device(request, kind.device_memory_bytes);
    if (milli > kWhole || request.devices > kind.size.devices) return 0;
    held = milli * request.devices;
    most = kind.size.devices * (kWhole / milli) / request.devices;
  }
  const Beside beside = beside_gpus(request, kind.size, held);
  most = std::min(most, times(kind.size.cpu_milli, beside.cpu_milli));
  return std::min(most, times(kind.size.memory_bytes, beside.memory_bytes));
}

}  // namespace heddle
