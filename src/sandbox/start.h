// Starting a sandbox under a chosen kind of limits; start() chooses what the machine has.
#pragma once

#include "base/result.h"
#include "sandbox/sandbox.h"

namespace heddle::sandbox {

Result<Running> start_with(const Spec& spec, CgroupMode mode);

}  // namespace heddle::sandbox
