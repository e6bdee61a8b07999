#include "apps/system_clock.h"

#include <ctime>
#include <fstream>

namespace heddle {
namespace {

std::int64_t clock_ms(clockid_t clock) {
  timespec time{};
  clock_gettime(clock, &time);
  return std::int64_t{time.tv_sec} * 1000 + time.tv_nsec / 1'000'000;
}

}  // namespace

SystemClock::SystemClock() {
  std::ifstream file{"/proc/sys/kernel/random/boot_id"};
  std::getline(file, boot_id_);
}

ClockReading SystemClock::read() {
  return {clock_ms(CLOCK_BOOTTIME), boot_id_, Instant{clock_ms(CLOCK_REALTIME)}};
}

}  // namespace heddle
