// The last step: from the sandbox's first process to the program itself.
#pragma once

#include <sys/types.h>

#include "base/result.h"
#include "sandbox/sandbox.h"

namespace heddle::sandbox {

// In the fully set up first process: starts spec.argv in a session of its own and returns its pid
// once it has been exec'ed. An error says that the command is missing or is no program.
Result<pid_t> start_program(const Spec& spec);

}  // namespace heddle::sandbox
