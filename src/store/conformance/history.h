// History: a random life of a store, and what the store must know afterwards.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "control/ports/store.h"
#include "store/conformance/rows.h"

namespace heddle::conformance {

class History {
 public:
  explicit History(std::uint64_t seed) : make{seed} {}

  // The next batch of a writer that goes on from `epoch`; all that it holds is noted below at once.
  Batch next_batch(std::int64_t epoch);

  const State& state() const { return draft_.state(); }

  RowMaker make;
  std::int64_t batch_id = 0;
  std::uint64_t last_id = 0;
  std::int64_t last_slot = 0;
  ClockMark clock;
  std::map<WorkloadId, Workload> ended;
  std::map<WorkloadId, std::map<AllocationId, Allocation>> released;
  std::vector<FeedEvent> feed;
  std::vector<AuditEntry> audit;
  std::map<std::string, std::string> blobs;
  std::map<std::tuple<UserId, std::string, std::string>, IdempotencyRecord> idempotency;

 private:
  std::uint64_t next_id() { return last_id += 1 + make.rng.next() % 5; }
  void put_a_tenant();
  void put_the_estate();
  void submit(Batch& batch);
  void allocate();
  void move_on_workload();
  void move_on_allocation();
  void erase_something();
  void add_records(Batch& batch);

  Draft draft_{State{}};
};

}  // namespace heddle::conformance
