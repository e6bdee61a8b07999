// A SQLite file layer over the system's in which the n-th write or sync fails. For tests.
#pragma once

#include <cstdint>
#include <string>

namespace heddle {

enum class LayerFault : std::uint8_t {
  kBroken,      // the disk reports an error, and nothing was written
  kFull,        // no space left, and nothing was written
  kTornBroken,  // an error after half of it was written
};

// One for the whole process, known to SQLite under this name. One thread.
std::string faulty_layer_name();
// The n-th write or sync from now on fails (1..), and all after it when `for_good`. 0: none.
void fail_write(std::int64_t n, LayerFault fault, bool for_good);
// Whether the one asked for last has failed.
bool write_has_failed();

}  // namespace heddle
