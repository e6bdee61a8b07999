// View: what readers see, immutable, from any thread.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <string>

#include "base/cow_map.h"
#include "control/ports/store.h"
#include "core/model/state.h"
#include "core/schedule/plan.h"

namespace heddle {

struct View {
  State state;
  CowMap<ReasonKey, Reason> reasons;  // of the last planning round
  std::int64_t epoch = 0;
  std::int64_t last_feed_seq = 0;  // the feed up to here is readable
  Instant as_of;
  bool planned = false;  // false until the first round after start-up
  bool stale = false;    // the store cannot be written: nothing starts, nothing stops
  // Since when the wall clock is not trusted, until somebody confirms it; unset: it is. What has an
  // expiry date expires no more meanwhile; what had expired stays so.
  Instant clock_doubted_since;
  Instant expiry_time(Instant now) const {
    return clock_doubted_since.is_set() ? clock_doubted_since : now;
  }
  std::string trouble;  // one sentence for people when something is wrong, else empty
};

}  // namespace heddle
