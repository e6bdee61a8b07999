#include "store/memory/memory_disk.h"

#include <algorithm>
#include <iterator>
#include <utility>
#include <variant>
#include <vector>

namespace heddle {
namespace {

// Deletes the oldest entries before `before`, stopping at the first that is kept.
template <class Map>
std::int64_t trim_log(Map& log, Instant before, std::int64_t rows) {
  std::int64_t deleted = 0;
  while (deleted < rows && !log.empty() && log.begin()->second.at < before) {
    log.erase(log.begin());
    ++deleted;
  }
  return deleted;
}

}  // namespace

void MemoryDisk::note_id(std::uint64_t id) { facts.last_id = std::max(facts.last_id, id); }

void MemoryDisk::put(Draft& draft, const PutRow& row) {
  std::visit([&](const auto& r) { draft.put(r); }, row);
  if (const auto* team = std::get_if<Team>(&row))
    facts.last_team_slot = std::max(facts.last_team_slot, team->slot);
  if (const auto* node = std::get_if<Node>(&row))
    for (const Device& device : node->devices) note_id(device.id.value);
  if (const auto* workload = std::get_if<Workload>(&row)) {
    for (const FileRef& file : workload->spec->files)
      blob_uses[file.sha256_hex].insert(workload->id);
    if (has_ended(workload->state)) ended.insert_or_assign(workload->id, *workload);
  }
  if (const auto* allocation = std::get_if<Allocation>(&row))
    if (allocation->state == AllocationState::kReleased)
      released[allocation->workload].insert_or_assign(allocation->id, *allocation);
  std::visit(
      [&](const auto& r) {
        if constexpr (requires { r.id; }) note_id(r.id.value);
      },
      row);
}

void MemoryDisk::apply(const Batch& batch) {
  Draft draft{std::move(facts.state)};
  for (const PutRow& row : batch.changes.puts) put(draft, row);
  for (const ErasedRow& row : batch.changes.erased) {
    std::visit(
        [&](const auto& key) {
          if constexpr (requires { draft.erase(key); }) draft.erase(key);
        },
        row);
  }
  facts.state = draft.state();
  for (const FeedEvent& event : batch.feed) {
    feed.insert_or_assign(event.seq, event);
    facts.last_feed_seq = std::max(facts.last_feed_seq, event.seq);
  }
  for (const AuditEntry& entry : batch.audit) {
    audit.insert_or_assign(entry.seq, entry);
    facts.last_audit_seq = std::max(facts.last_audit_seq, entry.seq);
  }
  for (const Blob& blob : batch.blobs) blobs.emplace(blob.sha256_hex, blob.bytes);
  for (const IdempotencyRecord& record : batch.idempotency)
    idempotency.insert_or_assign({record.user, record.route, record.key}, record);
  facts.clock = batch.clock;
  batch_id = batch.batch_id;
}

void MemoryDisk::drop_ended(WorkloadId id) {
  for (const FileRef& file : ended.at(id).spec->files) {
    const auto uses = blob_uses.find(file.sha256_hex);
    if (uses == blob_uses.end()) continue;  // the same file twice in one workload
    uses->second.erase(id);
    if (!uses->second.empty()) continue;
    blob_uses.erase(uses);
    blobs.erase(file.sha256_hex);
  }
  released.erase(id);
  ended.erase(id);
}

Trimmed MemoryDisk::trim(Instant now, const Retention& retention, std::int64_t rows) {
  std::int64_t deleted = trim_log(feed, now - retention.feed, rows);
  deleted += trim_log(audit, now - retention.audit, rows - deleted);
  for (auto at = idempotency.begin(); at != idempotency.end() && deleted < rows;) {
    const bool past = at->second.at < now - retention.idempotency;
    at = past ? idempotency.erase(at) : std::next(at);
    deleted += past ? 1 : 0;
  }
  std::vector<WorkloadId> old;
  for (const auto& [id, workload] : ended) {
    if (deleted + static_cast<std::int64_t>(old.size()) >= rows) break;
    const auto& live = facts.state.workload_allocations();
    const auto held = live.lower_bound({id, AllocationId{}});
    const bool holds = held != live.end() && held->key.first == id;
    if (workload.ended_at < now - retention.ended_workloads && !holds) old.push_back(id);
  }
  for (const WorkloadId id : old) drop_ended(id);
  deleted += static_cast<std::int64_t>(old.size());
  return {deleted, std::move(old)};
}

}  // namespace heddle
