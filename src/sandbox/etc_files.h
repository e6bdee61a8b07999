// The generated /etc: what programs look up by name, and nothing of the host's own.
#pragma once

#include "base/result.h"
#include "sandbox/sandbox.h"

namespace heddle::sandbox {

// Fills the empty folder `root`/etc with passwd, group, hosts and their like. `spec` has passed
// check_spec, so no text in it can add a line. Runs in the child, as root, before the pivot.
Result<Done> fill_etc(int root, const Spec& spec);

}  // namespace heddle::sandbox
