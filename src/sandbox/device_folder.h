// The rule of a v1 controller about devices: a list in a folder of its own.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "sandbox/cgroup.h"

namespace heddle::sandbox {

// Refuses every device in the group at `path` but those in `rules`.
Result<Done> write_device_rules(const std::string& path, const std::vector<DeviceRule>& rules);

// The one group for all sandboxes below `parent` that hold no device, made on first use. Its rules
// are the same for all of them, so making a group for each would only cost time.
Result<std::string> group_without_devices(const std::string& parent,
                                          const std::vector<DeviceRule>& rules);

}  // namespace heddle::sandbox
