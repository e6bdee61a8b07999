// What a Spec must look like before anything is made of it.
#pragma once

#include "base/result.h"
#include "sandbox/sandbox.h"

namespace heddle::sandbox {

// The first thing that is wrong, named by its field; Done when nothing is. After this no text of
// the Spec can add a line to a generated file or lead out of the sandbox's own tree.
Result<Done> check_spec(const Spec& spec);

}  // namespace heddle::sandbox
