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
  kRefused,  // surely not in the store; error() says why
  kUnknown,  // nobody knows yet: ask resolve() until it is one of the others
  kDeposed,  // another writer took over; write nothing ever again
};

// One thread. A batch keeps its number until its outcome is known, so that it is never in the store
// twice.
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
