// Letting go of everything that root may do.
#pragma once

#include "base/result.h"
#include "sandbox/cgroup.h"
#include "sandbox/sandbox.h"

namespace heddle::sandbox {

// While the host's /proc is still in sight: makes the kernel choose this process and its children
// before the server and the shims when the whole machine runs out of memory.
void prefer_as_memory_victim();

// In the child, as root: limits, fresh session and keyring, no groups, spec's uid and gid, no
// capabilities now or after any exec, nothing readable of this process by its children.
Result<Done> drop_privileges(const Spec& spec, CgroupMode mode);

}  // namespace heddle::sandbox
