// IdSource: where new ids come from, so that simulations repeat.
#pragma once

#include <cstdint>

#include "base/time.h"

namespace heddle {

class IdSource {
 public:
  virtual ~IdSource() = default;
  // Never 0, never twice, greater than every value given before and, across restarts, than every
  // value given at an earlier `now`. Called on the control thread.
  virtual std::uint64_t next(Instant now) = 0;
  // `size` bytes that nobody can guess (in simulations: seeded). For token secrets.
  virtual void random_bytes(unsigned char* out, std::uint64_t size) = 0;
};

}  // namespace heddle
