// Committer: puts books into the store exactly once, whatever the store answers.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "control/books.h"
#include "control/ports/store.h"
#include "control/time_keeper.h"

namespace heddle {

enum class CommitResult : std::uint8_t {
  kDone,
  kRefused,  // not in the store now (see below); error() says why
  kUnknown,  // nobody knows yet: ask resolve() until it is one of the others
  kDeposed,  // another writer took over; write nothing ever again
};

// One thread. A batch keeps its number until its outcome is known, so that it is never in the store
// twice.
//
// A refused batch can come back. After a failed sync the store says that the batch is not there,
// and whoever reads does not see it; but its bytes may lie in the log, and a process that starts
// after a crash may find it whole. That does no harm, because
// - it can only happen while no later commit has succeeded: that one takes its place and its
// number;
// - nothing leaves this process but after a commit that succeeded: no order, no stop, no forget;
// so a batch that comes back is one that was committed just before a crash, with nobody told. The
// next server goes on from it as after any crash:
// - a plan: its workloads are found starting, their allocations planned, and connect() orders them
//   (an engine starts an allocation once; this one it never saw);
// - reports: the engine was not told to forget, so it reports again, and each is taken once;
// - commands: the asker was told `unavailable`, which never says that nothing was done. A create is
//   repeated with its Idempotency-Key, which came back with it; an update with If-Match finds the
//   newer version; a cancel that is repeated changes nothing.
// sim/every_step_test.cpp plays this at every commit of a small run.
class Committer {
 public:
  explicit Committer(Store& store) : store_{store} {}

  void begin(std::int64_t epoch) { epoch_ = epoch; }

  // Takes rows, feed, audit, blobs and keys out of `books`; its state and effects stay.
  CommitResult commit(Books& books, const ClockMark& clock);
  CommitResult resolve();

  const Error& error() const { return *error_; }

 private:
  CommitResult settle(CommitResult result);

  Store& store_;
  std::int64_t epoch_ = 0;
  std::int64_t batch_id_ = 1;
  std::optional<Error> error_;
};

}  // namespace heddle
