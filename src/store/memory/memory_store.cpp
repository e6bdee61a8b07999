#include "store/memory/memory_store.h"

#include <algorithm>
#include <utility>

#include "store/memory/memory_disk.h"

namespace heddle {
namespace {

using Lock = std::lock_guard<std::mutex>;

class MemoryStore final : public Store {
 public:
  explicit MemoryStore(std::shared_ptr<MemoryDisk> disk) : disk_{std::move(disk)} {}

  Result<Loaded> open() override {
    const Lock lock{disk_->mutex};
    disk_->past_epochs[disk_->epoch] = disk_->batch_id;
    ++disk_->epoch;
    disk_->batch_id = 0;
    disk_->facts.epoch = disk_->epoch;
    return disk_->facts;
  }

  Result<Done> commit(const Batch& batch) override {
    const Lock lock{disk_->mutex};
    if (batch.epoch != disk_->epoch)
      return Error{ErrorCode::kConflict, "Another server has taken over this store."};
    if (batch.batch_id <= disk_->batch_id)
      return Error{ErrorCode::kInternal, "This batch was committed before."};
    disk_->apply(batch);
    return Done{};
  }

  Result<bool> was_committed(std::int64_t epoch, std::int64_t batch_id) override {
    const Lock lock{disk_->mutex};
    if (epoch == disk_->epoch) return batch_id <= disk_->batch_id;
    const auto past = disk_->past_epochs.find(epoch);
    return past != disk_->past_epochs.end() && batch_id <= past->second;
  }

  Result<std::optional<Workload>> ended_workload(WorkloadId id) override {
    const Lock lock{disk_->mutex};
    const auto found = disk_->ended.find(id);
    if (found == disk_->ended.end()) return std::optional<Workload>{};
    return std::optional{found->second};
  }

  Result<std::vector<Workload>> ended_workloads(const EndedQuery& query) override {
    const Lock lock{disk_->mutex};
    std::vector<Workload> page;
    const auto end =
        query.below.is_set() ? disk_->ended.lower_bound(query.below) : disk_->ended.end();
    for (auto at = end; at != disk_->ended.begin();) {
      const Workload& w = (--at)->second;
      if (std::ranges::find(query.teams, w.team) == query.teams.end()) continue;
      if (!query.name.empty() && query.name != w.spec->name) continue;
      if (query.state && *query.state != w.state) continue;
      page.push_back(w);
      if (static_cast<std::int64_t>(page.size()) >= query.limit) break;
    }
    return page;
  }

  Result<std::vector<Allocation>> released_allocations(WorkloadId id) override {
    const Lock lock{disk_->mutex};
    std::vector<Allocation> all;
    const auto found = disk_->released.find(id);
    if (found == disk_->released.end()) return all;
    for (const auto& [key, allocation] : found->second) all.push_back(allocation);
    return all;
  }

  Result<std::vector<FeedEvent>> feed(std::int64_t after, std::int64_t limit) override {
    const Lock lock{disk_->mutex};
    std::vector<FeedEvent> events;
    for (auto at = disk_->feed.upper_bound(after); at != disk_->feed.end(); ++at) {
      if (static_cast<std::int64_t>(events.size()) >= limit) break;
      events.push_back(at->second);
    }
    return events;
  }

  Result<std::int64_t> oldest_feed_seq() override {
    const Lock lock{disk_->mutex};
    return disk_->feed.empty() ? std::int64_t{0} : disk_->feed.begin()->first;
  }

  Result<std::vector<AuditEntry>> audit(std::int64_t before, std::int64_t limit) override {
    const Lock lock{disk_->mutex};
    std::vector<AuditEntry> entries;
    auto at = before > 0 ? disk_->audit.lower_bound(before) : disk_->audit.end();
    while (at != disk_->audit.begin() && static_cast<std::int64_t>(entries.size()) < limit)
      entries.push_back((--at)->second);
    return entries;
  }

  Result<std::optional<IdempotencyRecord>> idempotency(UserId user, const std::string& route,
                                                       const std::string& key) override {
    const Lock lock{disk_->mutex};
    const auto found = disk_->idempotency.find({user, route, key});
    if (found == disk_->idempotency.end()) return std::optional<IdempotencyRecord>{};
    return std::optional{found->second};
  }

  Result<std::optional<std::string>> blob(const std::string& sha256_hex) override {
    const Lock lock{disk_->mutex};
    const auto found = disk_->blobs.find(sha256_hex);
    if (found == disk_->blobs.end()) return std::optional<std::string>{};
    return std::optional{found->second};
  }

  Result<Trimmed> trim(Instant now, const Retention& retention, std::int64_t rows) override {
    const Lock lock{disk_->mutex};
    return disk_->trim(now, retention, rows);
  }

  Result<Done> backup(const std::string& file) override {
    return Error{ErrorCode::kNotSupported,
                 "The memory store keeps nothing that could be copied to " + file + "."};
  }

 private:
  const std::shared_ptr<MemoryDisk> disk_;
};

}  // namespace

std::shared_ptr<MemoryDisk> make_memory_disk() { return std::make_shared<MemoryDisk>(); }

std::unique_ptr<Store> make_memory_store() { return make_memory_store(make_memory_disk()); }

std::unique_ptr<Store> make_memory_store(std::shared_ptr<MemoryDisk> disk) {
  return std::make_unique<MemoryStore>(std::move(disk));
}

}  // namespace heddle
