// The devices that a sandbox sees: the harmless ones that every program needs, and what it holds.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "sandbox/cgroup.h"
#include "sandbox/sandbox.h"

namespace heddle::sandbox {

// A held device whose number was read from the host, once, before anything was set up.
struct HeldDevice {
  std::string path;  // inside
  unsigned mode = 0;
  dev_t number = 0;
};

// Looks each node up on the host; the error names the path that is no device.
Result<std::vector<HeldDevice>> look_up_devices(const std::vector<DeviceNode>& nodes);

// What the kernel shall let the sandbox open.
std::vector<DeviceRule> device_rules(const std::vector<HeldDevice>& held);

// Fills the empty folder `root`/dev: nodes, links, empty places for pts and shm. Runs in the child,
// as root.
Result<Done> fill_dev(int root, const std::vector<HeldDevice>& held);

}  // namespace heddle::sandbox
