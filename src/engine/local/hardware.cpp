#include "engine/local/hardware.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <utility>

#include "base/gpu_amount.h"
#include "engine/local/simulate.h"

namespace heddle::local {
namespace {

std::int64_t box_memory_bytes() {
  return std::int64_t{sysconf(_SC_PHYS_PAGES)} * sysconf(_SC_PAGESIZE);
}

// Letters, digits and dashes only, so that names can stand anywhere.
std::string plain_name(std::string_view text) {
  std::string name;
  for (const char c : text) {
    const bool plain = std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '.';
    if (plain)
      name += c;
    else if (!name.empty() && name.back() != '-')
      name += '-';
  }
  while (!name.empty() && name.back() == '-') name.pop_back();
  return name;
}

std::string lower(std::string text) {
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

std::string box_name() {
  std::array<char, 256> host{};
  gethostname(host.data(), host.size() - 1);
  std::string_view text{host.data()};
  std::string name = lower(plain_name(text.substr(0, text.find('.'))));
  return name.empty() ? "box" : name.substr(0, 40);
}

std::string model_name(std::string_view nvml_name) {
  if (nvml_name.starts_with("NVIDIA ")) nvml_name.remove_prefix(7);
  return plain_name(nvml_name);
}

}  // namespace

Hardware::Hardware(std::string simulate, std::string nvml_library)
    : simulate_{std::move(simulate)}, nvml_library_{std::move(nvml_library)} {}

Result<std::vector<FoundNode>> Hardware::scan() {
  if (!simulate_.empty()) {
    Result<std::vector<FoundNode>> nodes = parse_simulation(simulate_);
    if (!nodes) return nodes;
    const std::lock_guard lock{mutex_};
    simulated_devices_ = 0;
    for (const FoundNode& node : *nodes)
      simulated_devices_ += static_cast<std::int64_t>(node.devices.size());
    return nodes;
  }
  // A driver that comes up later than the server is found by a later scan.
  if (nvml_ == nullptr) nvml_ = Nvml::load(nvml_library_);
  const std::vector<NvmlDevice> seen = nvml_ == nullptr ? std::vector<NvmlDevice>{} : nvml_->scan();
  note_devices(seen);
  return real_nodes();
}

void Hardware::note_devices(const std::vector<NvmlDevice>& seen) {
  const std::lock_guard lock{mutex_};
  for (auto& [uuid, known] : known_) known.healthy = false;
  for (const NvmlDevice& device : seen) known_[device.uuid] = {device, true};
}

std::vector<FoundNode> Hardware::real_nodes() const {
  const std::lock_guard lock{mutex_};
  std::map<std::pair<std::string, std::int64_t>, std::vector<const Known*>> models;
  for (const auto& [uuid, known] : known_)
    models[{model_name(known.device.name), known.device.memory_bytes}].push_back(&known);
  const auto all = static_cast<std::int64_t>(known_.size());
  const std::int64_t cpu_milli = std::int64_t{sysconf(_SC_NPROCESSORS_ONLN)} * 1000;
  std::vector<FoundNode> nodes;
  for (auto& [key, devices] : models) {
    std::sort(devices.begin(), devices.end(),
              [](const Known* a, const Known* b) { return a->device.minor < b->device.minor; });
    FoundNode node;
    // A machine with several models is a node for each, so that a node has one shape.
    node.name = models.size() == 1 ? box_name() : box_name() + "-" + lower(key.first).substr(0, 20);
    node.device_model = key.first;
    const auto here = static_cast<std::int64_t>(devices.size());
    node.cpu_milli = cpu_milli * here / all;
    node.memory_bytes = box_memory_bytes() / all * here;
    for (const Known* known : devices)
      node.devices.push_back({known->device.uuid, known->device.memory_bytes,
                              known->healthy ? DeviceHealth::kHealthy : DeviceHealth::kSick});
    nodes.push_back(std::move(node));
  }
  if (nodes.empty()) nodes.push_back({box_name(), {}, false, cpu_milli, box_memory_bytes(), {}});
  return nodes;
}

std::optional<std::int64_t> Hardware::minor_of(const std::string& uuid) const {
  const std::lock_guard lock{mutex_};
  const auto known = known_.find(uuid);
  if (known == known_.end()) return std::nullopt;
  return known->second.device.minor;
}

std::int64_t Hardware::simulated_memory_ceiling(std::int64_t gpu_milli) const {
  const std::lock_guard lock{mutex_};
  const std::int64_t devices = std::max<std::int64_t>(1, simulated_devices_);
  const std::int64_t share = box_memory_bytes() / devices / GpuAmount::kMilliPerDevice *
                             std::max<std::int64_t>(0, gpu_milli);
  return std::max<std::int64_t>(256LL << 20, share);
}

}  // namespace heddle::local
