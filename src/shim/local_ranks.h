// Local ranks: several processes of one replica, inside its sandbox.
#pragma once

namespace heddle::shim {

// Starts `count` copies of argv with RANK and LOCAL_RANK set (RANK = HEDDLE_REPLICA x count +
// local) and waits for all. The first one that fails ends the others; its status is the answer,
// a signal as 128 + number.
int run_local_ranks(int count, char** argv);

}  // namespace heddle::shim
