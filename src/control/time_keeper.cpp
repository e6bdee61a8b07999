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
  const bool same_boot = last->boot_id == reading.boot_id && last->boot_ms <= reading.boot_ms;
  now_ = same_boot ? last->now + Duration{reading.boot_ms - last->boot_ms} : last->now;
  if (confirm_wall) {
    if (same_boot && reading.wall > now_) jumped_ = reading.wall - now_;
    now_ = std::max(reading.wall, now_);
    ahead_ = now_ - reading.wall;
    return;
  }
  const bool agrees =
      same_boot ? apart(reading.wall, now_) <= kStepMax
                : reading.wall + kStepMax >= last->now && reading.wall <= last->now + kOffMax;
  if (!agrees)
    doubted_since_ = now_;
  else if (!same_boot)
    now_ = std::max(reading.wall, now_);
}

Instant TimeKeeper::update(const ClockReading& reading) {
  if (reading.boot_id == boot_id_ && reading.boot_ms > boot_ms_) {
    now_ = now_ + Duration{reading.boot_ms - boot_ms_};
    boot_ms_ = reading.boot_ms;
  }
  // One-way: once the wall clock was seen to jump, only an operator's word restores trust.
  if (wall_trusted() && apart(reading.wall + ahead_, now_) > kStepMax) doubted_since_ = now_;
  return now_;
}

}  // namespace heddle
