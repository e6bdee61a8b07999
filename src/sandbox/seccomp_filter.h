// The filter over the system calls of a job.
#pragma once

#include <linux/filter.h>

#include <vector>

#include "base/result.h"

namespace heddle::sandbox {

// The filter as the kernel takes it, built from the lists of seccomp_calls.h (once, some
// microseconds). Calls of another architecture end the program.
const std::vector<sock_filter>& seccomp_program();

// Puts the filter over the calling process for good. no_new_privs must be set.
Result<Done> install_seccomp_filter();

}  // namespace heddle::sandbox
