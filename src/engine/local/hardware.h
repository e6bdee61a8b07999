// Hardware: which nodes and devices this machine offers, and what stands behind a UUID.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "control/ports/engine.h"
#include "engine/local/nvml.h"

namespace heddle::local {

// All methods may be called from any thread; scan() by one at a time (it may take long).
class Hardware {
 public:
  Hardware(std::string simulate, std::string nvml_library);

  // Looks again. A device that was seen once stays listed: sick while it does not answer.
  Result<std::vector<FoundNode>> scan();

  // N of /dev/nvidiaN; nullopt for simulated and unknown devices.
  std::optional<std::int64_t> minor_of(const std::string& uuid) const;

  // The most memory that a replica on simulated devices may use: the machine's share for
  // `gpu_milli`, at least 256 MiB.
  std::int64_t simulated_memory_ceiling(std::int64_t gpu_milli) const;

 private:
  void note_devices(const std::vector<NvmlDevice>& seen);
  std::vector<FoundNode> real_nodes() const;

  const std::string simulate_;
  const std::string nvml_library_;
  std::unique_ptr<Nvml> nvml_;  // used by scan() only

  struct Known {
    NvmlDevice device;
    bool healthy = true;
  };
  mutable std::mutex mutex_;
  std::map<std::string, Known> known_;  // by UUID
  std::int64_t simulated_devices_ = 0;
};

}  // namespace heddle::local
