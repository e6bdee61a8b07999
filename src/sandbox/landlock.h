// Landlock: a second layer below the mounts, where the kernel has it.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace heddle::sandbox {

// The version the kernel speaks; 0 when it has none.
int landlock_version();

// After the pivot: reading and running only below the new root, writing only below `writable`
// (absolute paths inside). What lies outside the tree stays out of reach even through a descriptor
// of it. Does nothing on a kernel without it. no_new_privs must be set.
Result<Done> restrict_files(const std::vector<std::string>& writable);

}  // namespace heddle::sandbox
