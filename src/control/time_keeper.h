// TimeKeeper: Heddle's own time line, which never runs backwards.
#pragma once

#include <optional>

#include "base/time.h"
#include "control/ports/clock.h"
#include "control/ports/store.h"

namespace heddle {

// now = where the last commit stood + what the boot clock has counted since. The wall clock is only
// asked once per boot of the machine; where it and our time part by more than kStepMax, someone set
// it, and expiries pause until an operator confirms (design.md 4, Time). Pure; one thread.
class TimeKeeper {
 public:
  static constexpr Duration kStepMax = Duration::seconds(5);
  // Off for longer than this, a machine's wall clock is believed only after confirmation.
  static constexpr Duration kOffMax = Duration::hours(24 * 30);

  // `last`: the mark of the last commit, if there was one. `confirm_wall`: the operator says that
  // the wall clock is right. Time still never runs backwards: a wall clock that lies behind it is
  // followed at that distance.
  TimeKeeper(std::optional<ClockMark> last, const ClockReading& reading, bool confirm_wall);

  // The time of a new reading; never less than any time given before.
  Instant update(const ClockReading& reading);

  Instant now() const { return now_; }
  bool wall_trusted() const { return !doubted_since_.is_set(); }
  // When the wall clock was found to be wrong, on our time line; unset while it is trusted.
  Instant doubted_since() const { return doubted_since_; }
  // How far confirmation moved time ahead of what the boot clock has counted. Spans that were
  // running then are not shorter for it.
  Duration jumped() const { return jumped_; }
  ClockMark mark() const { return {now_, boot_ms_, boot_id_}; }

 private:
  Instant now_;
  std::int64_t boot_ms_ = 0;
  std::string boot_id_;
  Instant doubted_since_;
  Duration jumped_;
  Duration ahead_;  // of the wall clock, since it was confirmed
};

}  // namespace heddle
