#include "control/time_keeper.h"

#include <algorithm>

namespace heddle {
namespace {

Duration apart(Instant a, Instant b) { return a > b ? a - b : b - a; }

}  // namespace

TimeKeeper::TimeKeeper(std::optional<ClockMark> last, const ClockReading& reading,
                       bool confirm_wall)
    : boot_ms_{reading.boot_ms}, boot_id_{reading.boot_id} {
  if (!last) {
    now_ = reading.wall;
    return;
  }
  if (confirm_wall) {
    now_ = std::max(reading.wall, last->now);
    return;
  }
  const bool same_boot = last->boot_id == reading.boot_id && last->boot_ms <= reading.boot_ms;
  if (same_boot) {
    now_ = last->now + Duration{reading.boot_ms - last->boot_ms};
    wall_trusted_ = apart(reading.wall, now_) <= kStepMax;
    return;
  }
  wall_trusted_ = reading.wall + kStepMax >= last->now && reading.wall <= last->now + kOffMax;
  now_ = wall_trusted_ ? std::max(reading.wall, last->now) : last->now;
}

Instant TimeKeeper::update(const ClockReading& reading) {
  if (reading.boot_id == boot_id_ && reading.boot_ms > boot_ms_) {
    now_ = now_ + Duration{reading.boot_ms - boot_ms_};
    boot_ms_ = reading.boot_ms;
  }
  // One-way: once the wall clock was seen to jump, only an operator's word restores trust.
  if (apart(reading.wall, now_) > kStepMax) wall_trusted_ = false;
  return now_;
}

}  // namespace heddle
