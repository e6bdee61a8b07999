// A store that fails on demand, around one that works. For tests of whoever uses a Store.
#pragma once

#include <cstdint>
#include <memory>

#include "control/ports/store.h"

namespace heddle {

enum class Fault : std::uint8_t {
  kBefore,       // unavailable, and nothing was written
  kAfter,        // unavailable, but all of it was written: the outcome looks unknown
  kStorageFull,  // storage_full, and nothing was written
  // Unavailable and not in the store, as after a failed sync; but it is there after the process has
  // ended, unless another commit has taken its place before.
  kComesBack,
};

// Commits number first .. first + times - 1 (from 1, counted over the store's life) fail so.
struct FaultPlan {
  std::int64_t first = 0;  // 0: never
  Fault fault = Fault::kBefore;
  std::int64_t times = 1;
  bool questions_fail = false;  // was_committed fails too while the last commit was a failed one
};

// Threads: as Store.
class FaultyStore : public Store {
 public:
  virtual void set_plan(FaultPlan plan) = 0;  // on the writer's thread
  virtual std::int64_t commits() const = 0;   // commits asked for so far, failed ones too
};

// `inner` must outlive the result, whose end counts as the end of the process.
std::unique_ptr<FaultyStore> make_faulty_store(Store& inner, FaultPlan plan);

}  // namespace heddle
