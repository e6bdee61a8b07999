#include "core/model/allocation.h"

namespace heddle {

bool may_follow(AllocationState from, AllocationState to) {
  using S = AllocationState;
  switch (from) {
    // That an order was sent is written along with later news, so planned may be followed by all
    // that may follow sent. Reports may overtake each other: running can be the first we hear.
    case S::kPlanned:
    case S::kSent:
      return (from == S::kPlanned && to == S::kSent) || to == S::kAccepted || to == S::kRunning ||
             to == S::kReleasing || to == S::kReleased || to == S::kLost;
    case S::kAccepted:
      return to == S::kRunning || to == S::kReleasing || to == S::kReleased || to == S::kLost;
    case S::kRunning:
      return to == S::kReleasing || to == S::kReleased || to == S::kLost;
    case S::kReleasing:
      return to == S::kReleased || to == S::kLost;
    // Heard of again before the fence time had passed.
    case S::kLost:
      return to == S::kRunning || to == S::kReleasing || to == S::kReleased;
    case S::kReleased:
      return false;
  }
  return false;
}

}  // namespace heddle
