// The private tree of files that a sandbox sees.
#pragma once

#include <vector>

#include "base/result.h"
#include "sandbox/devices.h"
#include "sandbox/sandbox.h"

namespace heddle::sandbox {

// In the child, in a mount namespace of its own, as root: builds the tree of `spec` on a small
// memory file system, makes it the root and lets go of the host's. Afterwards the working folder is
// "/" and only /tmp, /dev/shm and the writable mounts can be written to.
Result<Done> enter_private_tree(const Spec& spec, const std::vector<HeldDevice>& held);

}  // namespace heddle::sandbox
