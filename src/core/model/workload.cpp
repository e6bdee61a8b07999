#include "core/model/workload.h"

namespace heddle {

bool operator==(const Workload& a, const Workload& b) {
  return a.id == b.id && a.team == b.team && a.owner == b.owner && *a.spec == *b.spec &&
         a.state == b.state && a.attempt == b.attempt && a.failures == b.failures &&
         a.losses == b.losses && a.released == b.released && a.pool == b.pool &&
         a.cancel_requested == b.cancel_requested && a.cancelled_by == b.cancelled_by &&
         a.submitted_at == b.submitted_at && a.waiting_since == b.waiting_since &&
         a.starting_since == b.starting_since && a.running_since == b.running_since &&
         a.stopping_since == b.stopping_since && a.ended_at == b.ended_at && a.end == b.end &&
         a.usage == b.usage && a.version == b.version;
}

}  // namespace heddle
