// heddle: the whole command line behind one function.
#pragma once

#include <string>
#include <vector>

#include "cli/config/settings.h"

namespace heddle::cli {

// Runs `heddle WORDS...`; the exit code.
int run_heddle(const std::vector<std::string>& words, const Environment& environment);

}  // namespace heddle::cli
