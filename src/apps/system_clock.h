// SystemClock: the Clock of this machine.
#pragma once

#include "control/ports/clock.h"

namespace heddle {

// CLOCK_BOOTTIME, the kernel's boot id and the wall clock. Any thread.
class SystemClock : public Clock {
 public:
  SystemClock();
  ClockReading read() override;

 private:
  std::string boot_id_;
};

}  // namespace heddle
