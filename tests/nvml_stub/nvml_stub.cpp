// A stand-in for NVIDIA's libnvidia-ml.so.1: serves the GPUs that a file lists, so that tests walk
// the path of real ones. The file is read anew at each count. A line per device:
//   UUID MINOR MEMORY_MIB NAME...       answers every question
//   lost                                is counted, but answers nothing
// It lies where the environment variable NVML_STUB_FILE says.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

namespace {

constexpr int kOk = 0, kNotFound = 6, kTooSmall = 7, kGpuIsLost = 15;

struct Device {
  bool lost = false;
  std::string uuid;
  unsigned minor = 0;
  unsigned long long memory_mib = 0;
  std::string name;
};
struct Memory {
  unsigned long long total, free, used;
};
std::vector<Device> devices;

int copy(const std::string& text, char* out, unsigned size) {
  if (text.size() >= size) return kTooSmall;
  std::memcpy(out, text.c_str(), text.size() + 1);
  return kOk;
}
const Device* device(void* handle) {
  const auto index = reinterpret_cast<std::size_t>(handle) - 1;
  return index < devices.size() && !devices[index].lost ? &devices[index] : nullptr;
}

}  // namespace

extern "C" {

int nvmlInit_v2() { return std::getenv("NVML_STUB_FILE") != nullptr ? kOk : kNotFound; }
int nvmlShutdown() { return kOk; }

int nvmlDeviceGetCount_v2(unsigned* count) {
  devices.clear();
  std::ifstream file{std::getenv("NVML_STUB_FILE")};
  for (std::string line; std::getline(file, line);) {
    Device device;
    std::istringstream words{line};
    words >> device.uuid >> device.minor >> device.memory_mib >> std::ws;
    std::getline(words, device.name);
    device.lost = device.uuid == "lost";
    devices.push_back(device);
  }
  *count = static_cast<unsigned>(devices.size());
  return kOk;
}

int nvmlDeviceGetHandleByIndex_v2(unsigned index, void** handle) {
  if (index >= devices.size()) return kNotFound;
  *handle = reinterpret_cast<void*>(std::size_t{index} + 1);
  return devices[index].lost ? kGpuIsLost : kOk;
}

int nvmlDeviceGetUUID(void* handle, char* out, unsigned size) {
  const Device* found = device(handle);
  return found == nullptr ? kGpuIsLost : copy(found->uuid, out, size);
}

int nvmlDeviceGetName(void* handle, char* out, unsigned size) {
  const Device* found = device(handle);
  return found == nullptr ? kGpuIsLost : copy(found->name, out, size);
}

int nvmlDeviceGetMemoryInfo(void* handle, Memory* memory) {
  const Device* found = device(handle);
  if (found == nullptr) return kGpuIsLost;
  *memory = {found->memory_mib << 20, found->memory_mib << 20, 0};
  return kOk;
}

int nvmlDeviceGetMinorNumber(void* handle, unsigned* minor) {
  const Device* found = device(handle);
  if (found == nullptr) return kGpuIsLost;
  *minor = found->minor;
  return kOk;
}

}  // extern "C"
