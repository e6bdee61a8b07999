#include "control/lifecycle.h"

#include <algorithm>
#include <string>
#include <vector>

#include "base/check.h"
#include "core/meter/receipt.h"

namespace heddle {
namespace {

std::vector<Allocation> live_allocations(const State& state, WorkloadId workload) {
  std::vector<Allocation> all;
  for (auto at = state.workload_allocations().lower_bound({workload, AllocationId{}});
       at != state.workload_allocations().end() && at->key.first == workload; ++at)
    all.push_back(*state.allocations().find(at->key.second));
  return all;
}

bool is_good(const EndFact& end) { return end.cause == EndCause::kExited && end.exit_code == 0; }

bool has_program(const Allocation& a) {
  return !a.ended_at.is_set() && a.state != AllocationState::kLost;
}

// Asks the engine to end an allocation whose program is not known to have ended. The cause is kept
// here, because an exit during the grace time cannot be told from one of its own.
void stop_allocation(Books& books, Allocation a, EndCause cause, Duration grace) {
  if (a.stop_requested || !has_program(a)) return;
  a.stop_requested = true;
  a.stop_cause = cause;
  a.state = AllocationState::kReleasing;
  a.deadline = {};
  books.effects.push_back(StopEffect{a.id, a.pool, grace});
  books.draft.put(std::move(a));
}

void stop_others(Books& books, const Workload& workload, EndCause cause) {
  for (Allocation& a : live_allocations(books.state(), workload.id))
    stop_allocation(books, std::move(a), cause, workload.spec->grace);
}

void start_stopping(Workload& workload, Instant at) {
  if (workload.state == WorkloadState::kStopping) return;
  leave_state(workload.usage, workload, at);
  workload.state = WorkloadState::kStopping;
  workload.stopping_since = at;
}

std::string_view ended_word(WorkloadState state) {
  switch (state) {
    case WorkloadState::kSucceeded:
      return "succeeded";
    case WorkloadState::kCancelled:
      return "cancelled";
    default:
      return "failed";
  }
}

void end_workload(Books& books, Workload workload, WorkloadState state) {
  leave_state(workload.usage, workload, books.now);
  workload.state = state;
  workload.ended_at = books.now;
  ++workload.version;
  std::string note = workload.end.message;
  if (note.size() > 256) note.resize(256);
  books.tell(workload.team, SubjectKind::kWorkload, workload.id.value,
             std::string{ended_word(state)}, std::move(note));
  books.draft.put(std::move(workload));
}

// Back into the queue at its old place: it waits since now, but was submitted when it was.
void wait_again(Books& books, Workload workload, std::string why) {
  leave_state(workload.usage, workload, books.now);
  workload.state = WorkloadState::kWaiting;
  workload.waiting_since = books.now;
  workload.starting_since = workload.running_since = workload.stopping_since = {};
  workload.end = {};
  ++workload.version;
  books.tell(workload.team, SubjectKind::kWorkload, workload.id.value, "waiting_again",
             std::move(why));
  books.draft.put(std::move(workload));
}

// Every allocation of the run is released: what becomes of the workload?
void conclude(Books& books, Workload workload, const LifecycleOptions& options) {
  const EndCause cause = workload.end.cause;
  if (workload.cancel_requested) {
    workload.end.cause = EndCause::kCancelled;
    return end_workload(books, std::move(workload), WorkloadState::kCancelled);
  }
  if (cause == EndCause::kNone) {
    workload.end = {EndCause::kExited, 0, 0, {}};
    return end_workload(books, std::move(workload), WorkloadState::kSucceeded);
  }
  if (cause == EndCause::kLost || cause == EndCause::kEvicted) {
    if (cause == EndCause::kLost) ++workload.losses;
    if (workload.losses <= options.losses_max)
      return wait_again(books, std::move(workload), "its run was lost; it runs again");
    return end_workload(books, std::move(workload), WorkloadState::kFailed);
  }
  ++workload.failures;
  const bool own = cause == EndCause::kExited || cause == EndCause::kSignalled ||
                   cause == EndCause::kOutOfMemory;
  if (own && workload.failures <= workload.spec->retries)
    return wait_again(books, std::move(workload), "it failed; it runs again");
  end_workload(books, std::move(workload), WorkloadState::kFailed);
}

// Brings a workload in line with its allocations, after any of them changed.
void follow(Books& books, WorkloadId id, const LifecycleOptions& options) {
  const Workload* found = books.state().workloads().find(id);
  if (found == nullptr || found->state == WorkloadState::kWaiting) return;
  const std::vector<Allocation> live = live_allocations(books.state(), id);
  if (live.empty()) return conclude(books, *found, options);
  if (found->state != WorkloadState::kStarting) return;
  Workload workload = *found;
  for (const Allocation& a : live) {
    if (!a.running_at.is_set()) return;
    workload.running_since = std::max(workload.running_since, a.running_at);
  }
  leave_state(workload.usage, workload, workload.running_since);
  workload.state = WorkloadState::kRunning;
  ++workload.version;
  books.tell(workload.team, SubjectKind::kWorkload, id.value, "running");
  books.draft.put(std::move(workload));
}

// The first failure of a run decides how the workload ended; its peers are stopped.
void note_end(Books& books, const Allocation& a) {
  const Workload* found = books.state().workloads().find(a.workload);
  if (found == nullptr) return;
  Workload workload = *found;
  const bool all_ended = std::ranges::none_of(
      live_allocations(books.state(), workload.id),
      [&](const Allocation& other) { return other.id != a.id && has_program(other); });
  const bool fails = !is_good(a.end) && workload.end.cause == EndCause::kNone;
  if (fails) workload.end = a.end;
  if (!fails && !all_ended) return;
  start_stopping(workload, a.ended_at.is_set() ? a.ended_at : books.now);
  ++workload.version;
  books.draft.put(workload);
  if (fails && !all_ended) stop_others(books, workload, EndCause::kPeerFailed);
}

// Times are the engine's, but never before what we know to have come first nor after now.
Instant between(Instant at, Instant low, Instant high) { return std::max(low, std::min(at, high)); }

void release(Books& books, Allocation a, Instant at, const LifecycleOptions& options) {
  a.state = AllocationState::kReleased;
  if (!a.ended_at.is_set() && a.running_at.is_set())
    a.ended_at = between(at, a.running_at, books.now);
  a.released_at = between(at, std::max({a.recorded_at, a.running_at, a.ended_at}), books.now);
  a.deadline = {};
  const Workload* found = books.state().workloads().find(a.workload);
  if (found != nullptr) {
    Workload workload = *found;
    settle(workload.usage, a);
    if (a.attempt == workload.attempt) ++workload.released;
    books.draft.put(std::move(workload));
  }
  const WorkloadId workload = a.workload;
  books.effects.push_back(ForgetEffect{a.id});
  books.touch();
  books.draft.put(std::move(a));
  follow(books, workload, options);
}

void take_accepted(Books& books, Allocation a) {
  if (!may_follow(a.state, AllocationState::kAccepted)) return;
  a.state = AllocationState::kAccepted;
  a.deadline = {};
  books.touch();
  books.draft.put(std::move(a));
}

void take_running(Books& books, Allocation a, Instant at, const LifecycleOptions& options) {
  if (a.running_at.is_set() && a.state != AllocationState::kLost) return;
  if (!a.running_at.is_set()) a.running_at = between(at, a.recorded_at, books.now);
  // Told to stop before we heard that it ran: it stays releasing, but the time counts.
  const bool moves = may_follow(a.state, AllocationState::kRunning);
  const Workload* workload = books.state().workloads().find(a.workload);
  if (moves) {
    a.state = AllocationState::kRunning;
    a.deadline = {};
    if (workload != nullptr && workload->spec->time_limit.ms > 0)
      a.deadline = a.running_at + workload->spec->time_limit;
  }
  const WorkloadId id = a.workload;
  books.touch();
  books.draft.put(std::move(a));
  follow(books, id, options);
}

void take_ended(Books& books, Allocation a, const ReportEnded& report) {
  if (a.ended_at.is_set()) return;
  a.state = AllocationState::kReleasing;
  a.ended_at = between(report.at, std::max(a.recorded_at, a.running_at), books.now);
  a.end = report.end;
  if (a.stop_requested && !is_good(a.end)) a.end.cause = a.stop_cause;
  a.cpu_ms = report.cpu_ms;
  a.peak_memory_bytes = report.peak_memory_bytes;
  a.deadline = {};
  books.touch();
  books.draft.put(a);
  note_end(books, a);
}

void take_lost(Books& books, Allocation a, const ReportLost& report,
               const LifecycleOptions& options) {
  if (!may_follow(a.state, AllocationState::kLost)) return;
  a.state = AllocationState::kLost;
  a.deadline = books.now + options.fence_after_lost;
  a.end = {EndCause::kLost, 0, 0, report.message};
  books.touch();
  books.draft.put(a);
  note_end(books, a);
}

}  // namespace

void take_report(Books& books, const Report& report, const LifecycleOptions& options) {
  const auto id = std::visit(
      [](const auto& r) {
        if constexpr (requires { r.allocation; })
          return r.allocation;
        else
          return AllocationId{};
      },
      report);
  const Allocation* found = books.state().allocations().find(id);
  if (found == nullptr) {
    if (std::holds_alternative<ReportReleased>(report)) books.effects.push_back(ForgetEffect{id});
    return;
  }
  Allocation a = *found;
  if (std::holds_alternative<ReportAccepted>(report)) {
    take_accepted(books, std::move(a));
  } else if (const auto* running = std::get_if<ReportRunning>(&report)) {
    take_running(books, std::move(a), running->at, options);
  } else if (const auto* ended = std::get_if<ReportEnded>(&report)) {
    take_ended(books, std::move(a), *ended);
  } else if (const auto* lost = std::get_if<ReportLost>(&report)) {
    take_lost(books, std::move(a), *lost, options);
  } else if (const auto* released = std::get_if<ReportReleased>(&report)) {
    if (!a.ended_at.is_set() && a.end.cause == EndCause::kNone) {
      // Gone without an end that anyone saw: it never started, or its end was lost with it.
      a.end.cause = a.stop_requested ? a.stop_cause : EndCause::kLost;
      if (!a.stop_requested) a.end.message = "It was gone before it was seen to end.";
      if (a.running_at.is_set()) a.ended_at = between(released->at, a.running_at, books.now);
      books.draft.put(a);
      note_end(books, a);
    }
    release(books, std::move(a), released->at, options);
  }
}

bool mark_sent(Books& books, AllocationId id, const LifecycleOptions& options) {
  const Allocation* found = books.state().allocations().find(id);
  if (found == nullptr || found->state != AllocationState::kPlanned) return false;
  Allocation a = *found;
  a.state = AllocationState::kSent;
  a.deadline = books.now + options.accept_within;
  books.touch();
  books.draft.put(std::move(a));
  return true;
}

bool take_deadline(Books& books, AllocationId id, const LifecycleOptions& options) {
  const Allocation* found = books.state().allocations().find(id);
  if (found == nullptr || !found->deadline.is_set() || found->deadline > books.now) return false;
  Allocation a = *found;
  if (a.state == AllocationState::kSent) {
    a.deadline = books.now + options.accept_within;
    books.touch();
    books.draft.put(std::move(a));
    return true;
  }
  if (a.state == AllocationState::kRunning) {
    const Workload* workload = books.state().workloads().find(a.workload);
    HEDDLE_CHECK(workload != nullptr);
    Workload stopping = *workload;
    if (stopping.end.cause == EndCause::kNone)
      stopping.end = {EndCause::kTimeLimit, 0, 0, "It reached its run-time limit."};
    start_stopping(stopping, books.now);
    ++stopping.version;
    books.tell(stopping.team, SubjectKind::kWorkload, stopping.id.value, "stopping",
               "run-time limit reached");
    books.draft.put(stopping);
    stop_others(books, stopping, EndCause::kTimeLimit);
    return false;
  }
  if (a.state == AllocationState::kLost) release(books, std::move(a), books.now, options);
  return false;
}

void put_off_deadlines(Books& books, Duration by) {
  std::vector<Allocation> moved;
  for (const auto& [key, none] : books.state().deadlines()) {
    moved.push_back(*books.state().allocations().find(key.second));
    moved.back().deadline = key.first + by;
  }
  for (Allocation& a : moved) books.draft.put(std::move(a));
}

void request_cancel(Books& books, WorkloadId id, UserId by) {
  const Workload* found = books.state().workloads().find(id);
  if (found == nullptr || found->cancel_requested) return;
  Workload workload = *found;
  const std::vector<Allocation> live = live_allocations(books.state(), id);
  const bool waiting = workload.state == WorkloadState::kWaiting;
  if (!waiting && std::ranges::none_of(live, has_program)) return;
  workload.cancel_requested = true;
  workload.cancelled_by = by;
  if (waiting) {
    workload.end = {EndCause::kCancelled, 0, 0, {}};
    return end_workload(books, std::move(workload), WorkloadState::kCancelled);
  }
  start_stopping(workload, books.now);
  ++workload.version;
  books.tell(workload.team, SubjectKind::kWorkload, id.value, "stopping", "cancelled");
  books.draft.put(workload);
  stop_others(books, workload, EndCause::kCancelled);
}

}  // namespace heddle
