// supervise: the life of one shim, from the claim of its run to the written exit.
#pragma once

#include <string>

#include "shim/run_folder.h"

namespace heddle::shim {

// Runs what the run folder's order says and returns the process's exit status when nothing of it
// is left and its exit is recorded. `engine`: the connection to the server that asked, may be gone
// at any time. At most one call per run folder ever starts something; the others return at once.
// The calling process has one thread and is used for nothing else.
//
// `network`: an unused network of the same team for it, if there is one. `networks`: where the
// network goes when the run is over and has left nothing in it; both may be none.
int supervise(const std::string& run_folder, Fd engine, Fd network, Fd networks);

}  // namespace heddle::shim
