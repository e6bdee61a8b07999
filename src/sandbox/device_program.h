// The rule of the v2 tree about devices: a small program that the kernel asks at each open.
#pragma once

#include <vector>

#include "base/result.h"
#include "sandbox/cgroup.h"

namespace heddle::sandbox {

// Lets the members of the group open (and make nodes of) the devices in `rules`, nothing else. The
// rule lives as long as the group. `group_fd` is the group's open folder.
Result<Done> attach_device_program(int group_fd, const std::vector<DeviceRule>& rules);

}  // namespace heddle::sandbox
