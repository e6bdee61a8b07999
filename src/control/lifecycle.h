// Lifecycle: how reports, deadlines and wishes move allocations and their workloads on.
#pragma once

#include <cstdint>

#include "base/time.h"
#include "control/books.h"
#include "control/ports/engine.h"

namespace heddle {

struct LifecycleOptions {
  Duration accept_within = Duration::seconds(30);
  Duration fence_after_lost = Duration::minutes(5);
  // A run that was lost through no fault of the workload is repeated at most so often.
  std::int64_t losses_max = 10;
};

// Takes one fact about an allocation. Late, doubled and impossible ones change nothing. An
// allocation that is not live (any more) is answered by a ForgetEffect, so that engines let go of
// it.
void take_report(Books& books, const Report& report, const LifecycleOptions& options);

// Marks an allocation as told to its engine; false when it is no longer planned.
bool mark_sent(Books& books, AllocationId id, const LifecycleOptions& options);

// What an overdue allocation needs: a time limit stops the workload, a fence time releases.
// A sent order that was not accepted is to be sent again: true.
bool take_deadline(Books& books, AllocationId id, const LifecycleOptions& options);

// Every deadline by so much: time was moved ahead, and with it nobody's work.
void put_off_deadlines(Books& books, Duration by);

// Ends a waiting workload at once; asks running ones to stop. Nothing happens when it is ending.
void request_cancel(Books& books, WorkloadId id, UserId by);

}  // namespace heddle
