// MemoryDisk: the tables of the memory store. Private to store/memory.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <tuple>

#include "control/ports/store.h"

namespace heddle {

// Guarded by `mutex`, all of it.
class MemoryDisk {
 public:
  void apply(const Batch& batch);
  Trimmed trim(Instant now, const Retention& retention, std::int64_t rows);

  std::mutex mutex;
  std::int64_t epoch = 0;
  std::int64_t batch_id = 0;
  std::map<std::int64_t, std::int64_t> past_epochs;  // epoch -> its last batch
  Loaded facts;                                      // `state` and the counters
  std::map<WorkloadId, Workload> ended;
  std::map<WorkloadId, std::map<AllocationId, Allocation>> released;
  std::map<std::int64_t, FeedEvent> feed;
  std::map<std::int64_t, AuditEntry> audit;
  std::map<std::string, std::string> blobs;
  std::map<std::string, std::set<WorkloadId>> blob_uses;
  std::map<std::tuple<UserId, std::string, std::string>, IdempotencyRecord> idempotency;

 private:
  void put(Draft& draft, const PutRow& row);
  void note_id(std::uint64_t id);
  void drop_ended(WorkloadId id);
};

}  // namespace heddle
