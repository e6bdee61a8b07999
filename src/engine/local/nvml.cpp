#include "engine/local/nvml.h"

#include <dlfcn.h>

#include <array>
#include <limits>

namespace heddle::local {
namespace {

// The library's binary interface, as far as we use it; written down here because its header is not
// free. Every function gives 0 on success.
using Device = void*;
struct Memory {
  unsigned long long total;
  unsigned long long free;
  unsigned long long used;
};

template <class Function>
bool find(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  return function != nullptr;
}

}  // namespace

struct Nvml::Calls {
  void* library = nullptr;
  int (*init)() = nullptr;
  int (*shutdown)() = nullptr;
  int (*count)(unsigned*) = nullptr;
  int (*handle)(unsigned, Device*) = nullptr;
  int (*uuid)(Device, char*, unsigned) = nullptr;
  int (*name)(Device, char*, unsigned) = nullptr;
  int (*memory)(Device, Memory*) = nullptr;
  int (*minor)(Device, unsigned*) = nullptr;

  bool find_all() {
    return find(library, "nvmlInit_v2", init) && find(library, "nvmlShutdown", shutdown) &&
           find(library, "nvmlDeviceGetCount_v2", count) &&
           find(library, "nvmlDeviceGetHandleByIndex_v2", handle) &&
           find(library, "nvmlDeviceGetUUID", uuid) && find(library, "nvmlDeviceGetName", name) &&
           find(library, "nvmlDeviceGetMemoryInfo", memory) &&
           find(library, "nvmlDeviceGetMinorNumber", minor);
  }
};

Nvml::Nvml(std::unique_ptr<Calls> calls) : calls_{std::move(calls)} {}

std::unique_ptr<Nvml> Nvml::load(const std::string& library) {
  auto calls = std::make_unique<Calls>();
  calls->library = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (calls->library == nullptr) return nullptr;
  if (!calls->find_all() || calls->init() != 0) {
    dlclose(calls->library);
    return nullptr;
  }
  return std::unique_ptr<Nvml>{new Nvml{std::move(calls)}};
}

Nvml::~Nvml() {
  calls_->shutdown();
  dlclose(calls_->library);
}

std::vector<NvmlDevice> Nvml::scan() {
  std::vector<NvmlDevice> devices;
  unsigned count = 0;
  if (calls_->count(&count) != 0) return devices;
  for (unsigned index = 0; index < count; ++index) {
    Device handle = nullptr;
    std::array<char, 96> uuid{};
    std::array<char, 96> name{};
    Memory memory{};
    unsigned minor = 0;
    if (calls_->handle(index, &handle) != 0 ||
        calls_->uuid(handle, uuid.data(), uuid.size()) != 0 ||
        calls_->name(handle, name.data(), name.size()) != 0 ||
        calls_->memory(handle, &memory) != 0 || calls_->minor(handle, &minor) != 0)
      continue;
    uuid.back() = name.back() = '\0';
    if (memory.total > std::numeric_limits<std::int64_t>::max()) continue;
    devices.push_back({uuid.data(), name.data(), static_cast<std::int64_t>(memory.total), minor});
  }
  return devices;
}

}  // namespace heddle::local
