// The auditor: checks every book against every other. Used by tests, simulator and server.
#pragma once

#include <string>
#include <vector>

#include "core/model/state.h"

namespace heddle {

// One sentence per broken invariant, naming it (I1...) and the ids concerned; empty when clean.
// Pure; costs a full walk of the state.
std::vector<std::string> audit(const State& state);

}  // namespace heddle
