#include "engine/local/simulate.h"

#include <charconv>
#include <string>

namespace heddle::local {
namespace {

constexpr std::int64_t kMaxDevices = 4096;
constexpr std::int64_t kCpuMilli = 64'000;
constexpr std::int64_t kMemoryBytes = 512LL << 30;

Error wrong(std::string_view part, const std::string& why) {
  return Error::invalid(
      "/simulate", "malformed",
      "Simulated nodes are written like 2x8:H100-80GB (two nodes of eight): " + why + ".",
      std::string{part.substr(0, 64)});
}

// A number from 1 to max at the front of `text`, taken off.
bool take_number(std::string_view& text, std::int64_t max, std::int64_t& number) {
  const auto [at, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || number < 1 || number > max) return false;
  text.remove_prefix(static_cast<std::size_t>(at - text.data()));
  return true;
}

bool take(std::string_view& text, char c) {
  if (text.empty() || text.front() != c) return false;
  text.remove_prefix(1);
  return true;
}

struct Group {
  std::int64_t nodes = 0;
  std::int64_t devices = 0;
  std::string model;
  std::int64_t memory_bytes = 0;
};

Result<Group> parse_group(std::string_view part) {
  Group group;
  std::string_view rest = part;
  if (!take_number(rest, kMaxDevices, group.nodes) || !take(rest, 'x') ||
      !take_number(rest, kMaxDevices, group.devices) || !take(rest, ':'))
    return wrong(part, "it must begin with two numbers from 1 to 4096 and a colon");
  group.model = rest;
  if (rest.size() > 48 ||
      rest.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                             "0123456789.-") != std::string_view::npos)
    return wrong(part, "a model is at most 48 letters, digits, dots and dashes");
  const auto dash = rest.rfind('-');
  std::int64_t gib = 0;
  if (dash == std::string_view::npos || dash == 0)
    return wrong(part, "the memory is missing, as in -80GB");
  rest.remove_prefix(dash + 1);
  if (!take_number(rest, 16'384, gib) || rest != "GB")
    return wrong(part, "the model must end with its memory, from -1GB to -16384GB");
  group.memory_bytes = gib << 30;
  return group;
}

}  // namespace

Result<std::vector<FoundNode>> parse_simulation(std::string_view spec) {
  std::vector<FoundNode> nodes;
  std::int64_t devices = 0;
  while (true) {
    const auto comma = spec.find(',');
    const Result<Group> group = parse_group(spec.substr(0, comma));
    if (!group) return group.error();
    devices += group->nodes * group->devices;
    if (devices > kMaxDevices) return wrong(spec, "at most 4096 devices in all");
    for (std::int64_t n = 0; n < group->nodes; ++n) {
      FoundNode node;
      node.name = "sim-" + std::to_string(nodes.size() + 1);
      node.device_model = group->model;
      node.simulated = true;
      node.cpu_milli = kCpuMilli;
      node.memory_bytes = kMemoryBytes;
      for (std::int64_t d = 0; d < group->devices; ++d)
        node.devices.push_back({"GPU-" + node.name + "-" + std::to_string(d), group->memory_bytes});
      nodes.push_back(std::move(node));
    }
    if (comma == std::string_view::npos) return nodes;
    spec.remove_prefix(comma + 1);
  }
}

}  // namespace heddle::local
