// Nvml: the GPUs of this machine, as NVIDIA's management library shows them.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace heddle::local {

struct NvmlDevice {
  std::string uuid;
  std::string name;
  std::int64_t memory_bytes = 0;
  std::int64_t minor = -1;  // of /dev/nvidiaN
};

// The library is loaded at run time, so that one program serves machines with and without GPUs.
// Calls may take long on a sick machine. One thread at a time.
class Nvml {
 public:
  // Null when the library is not there, lacks a function or finds no driver.
  static std::unique_ptr<Nvml> load(const std::string& library);
  ~Nvml();
  Nvml(const Nvml&) = delete;
  Nvml& operator=(const Nvml&) = delete;

  // The devices that answer every question; one that does not is left out.
  std::vector<NvmlDevice> scan();

 private:
  struct Calls;
  explicit Nvml(std::unique_ptr<Calls> calls);
  std::unique_ptr<Calls> calls_;
};

}  // namespace heddle::local
