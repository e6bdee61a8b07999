// Clock: what the machine says about time. Asked by control only, once per round.
#pragma once

#include <cstdint>
#include <string>

#include "base/time.h"

namespace heddle {

struct ClockReading {
  std::int64_t boot_ms = 0;  // since boot, suspend included; never runs backwards within one boot
  std::string boot_id;       // changes at each boot of the machine
  Instant wall;              // what the wall clock claims, UTC
};

class Clock {
 public:
  virtual ~Clock() = default;
  virtual ClockReading read() = 0;  // any thread
};

}  // namespace heddle
