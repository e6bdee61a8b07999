// serve: the server's life, from the lock on its folder to the last answer.
#pragma once

#include "apps/heddled_options.h"

namespace heddle {

// Runs until SIGTERM or SIGINT, or until another server takes over. Gives the exit code of the
// process. Jobs go on running after it has ended. Call on the main thread, before any other thread.
int serve(const HeddledOptions& options);

}  // namespace heddle
