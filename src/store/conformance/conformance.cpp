#include "store/conformance/conformance.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <ranges>
#include <set>

#include "store/conformance/history.h"

namespace heddle {
namespace {

using conformance::History;

// The page that the rules of EndedQuery describe, from the facts themselves.
std::vector<Workload> expected_page(const History& history, const EndedQuery& query) {
  std::vector<Workload> page;
  for (const auto& [id, w] : std::views::reverse(history.ended)) {
    if (query.below.is_set() && !(id < query.below)) continue;
    if (std::ranges::find(query.teams, w.team) == query.teams.end()) continue;
    if (!query.name.empty() && query.name != w.spec->name) continue;
    if (query.state && *query.state != w.state) continue;
    if (static_cast<std::int64_t>(page.size()) < query.limit) page.push_back(w);
  }
  return page;
}

void check_pages(Store& store, History& history) {
  std::vector<TeamId> teams;
  for (const auto& [id, team] : history.state().teams()) teams.push_back(id);
  for (int n = 0; n < 6; ++n) {
    EndedQuery query;
    for (const TeamId team : teams)
      if (history.make.rng.one_in(2)) query.teams.push_back(team);
    query.limit = history.make.rng.between(1, 5);
    if (history.make.rng.one_in(3)) query.name = "train-a";
    if (history.make.rng.one_in(3)) query.state = WorkloadState::kFailed;
    // Page after page until there is nothing more.
    for (;;) {
      const auto page = store.ended_workloads(query);
      REQUIRE(page.has_value());
      REQUIRE((*page == expected_page(history, query)));
      if (page->empty()) break;
      query.below = page->back().id;
    }
  }
}

void check_records(Store& store, History& history) {
  CHECK((*store.feed(0, 1'000'000) == history.feed));
  CHECK(*store.oldest_feed_seq() == (history.feed.empty() ? 0 : 1));
  auto newest_first = history.audit;
  std::ranges::reverse(newest_first);
  CHECK((*store.audit(0, 1'000'000) == newest_first));
  for (const auto& [sha, bytes] : history.blobs) CHECK((*store.blob(sha) == bytes));
  CHECK_FALSE(store.blob("never seen")->has_value());
  for (const auto& [key, record] : history.idempotency)
    CHECK((*store.idempotency(record.user, record.route, record.key) == record));
  CHECK_FALSE(store.idempotency({1}, "POST /v1/never", "key")->has_value());
}

void check_ended(Store& store, History& history) {
  for (const auto& [id, w] : history.ended) CHECK((*store.ended_workload(id) == w));
  for (const auto& [id, w] : history.state().workloads()) {
    CHECK_FALSE(store.ended_workload(id)->has_value());
    CHECK(store.released_allocations(id)->size() == history.released[id].size());
  }
  for (const auto& [id, allocations] : history.released) {
    std::vector<Allocation> expected;
    for (const auto& [key, allocation] : allocations) expected.push_back(allocation);
    CHECK((*store.released_allocations(id) == expected));
  }
}

void every_row_comes_back(const NewDisk& new_disk) {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    CAPTURE(seed);
    History history{seed};
    const AttachStore attach = new_disk();
    auto store = attach();
    auto loaded = store->open();
    REQUIRE(loaded.has_value());
    for (auto batches = history.make.rng.between(1, 8); batches > 0; --batches)
      REQUIRE(store->commit(history.next_batch(loaded->epoch)).has_value());
    check_records(*store, history);
    check_ended(*store, history);
    check_pages(*store, history);

    const std::int64_t epoch = loaded->epoch;
    store = nullptr;
    store = attach();
    loaded = store->open();
    REQUIRE(loaded.has_value());
    REQUIRE(State::same_facts(loaded->state, history.state()));
    CHECK(loaded->epoch > epoch);
    CHECK(loaded->last_id == history.last_id);
    CHECK(loaded->last_team_slot == history.last_slot);
    CHECK(loaded->last_feed_seq == static_cast<std::int64_t>(history.feed.size()));
    CHECK(loaded->last_audit_seq == static_cast<std::int64_t>(history.audit.size()));
    CHECK(loaded->clock == history.clock);
    check_ended(*store, history);
  }
}

void a_new_store_is_empty(const NewDisk& new_disk) {
  const auto store = new_disk()();
  const auto loaded = store->open();
  REQUIRE(loaded.has_value());
  CHECK(State::same_facts(loaded->state, State{}));
  CHECK(loaded->epoch == 1);
  CHECK(loaded->last_id == 0);
  CHECK_FALSE(loaded->clock.has_value());
  CHECK(*store->oldest_feed_seq() == 0);
  CHECK(store->feed(0, 10)->empty());
  EndedQuery query;
  CHECK(store->ended_workloads(query)->empty());
  query.teams = {{1}, {UINT64_MAX}};
  CHECK(store->ended_workloads(query)->empty());
  // Ids that people ask for may be anything.
  CHECK_FALSE(store->ended_workload({UINT64_MAX})->has_value());
  query.below = {UINT64_MAX};
  CHECK(store->ended_workloads(query)->empty());
  CHECK(store->released_allocations({UINT64_MAX})->empty());
  CHECK_FALSE(store->idempotency({UINT64_MAX}, "", "")->has_value());
}

void a_newer_writer_fences_the_older(const NewDisk& new_disk) {
  History history{7};
  const auto store = new_disk()();
  const std::int64_t first = store->open()->epoch;
  REQUIRE(store->commit(history.next_batch(first)).has_value());
  const auto second = store->open();
  REQUIRE(second.has_value());
  CHECK(second->epoch > first);

  History other{8};
  other.batch_id = 1;
  const Batch late = other.next_batch(first);
  const auto refused = store->commit(late);
  REQUIRE_FALSE(refused.has_value());
  CHECK(refused.error().code == ErrorCode::kConflict);
  CHECK(*store->was_committed(first, 1));
  CHECK_FALSE(*store->was_committed(first, 2));
  CHECK_FALSE(*store->was_committed(second->epoch, 1));
  CHECK_FALSE(*store->was_committed(second->epoch + 1, 1));
  const auto third = store->open();
  CHECK(State::same_facts(third->state, history.state()));

  history.batch_id = 0;
  REQUIRE(store->commit(history.next_batch(third->epoch)).has_value());
  CHECK(*store->was_committed(third->epoch, 1));
  CHECK_FALSE(*store->was_committed(third->epoch, 2));
}

void a_batch_counts_once(const NewDisk& new_disk) {
  History history{9};
  const auto store = new_disk()();
  const std::int64_t epoch = store->open()->epoch;
  const Batch batch = history.next_batch(epoch);
  REQUIRE(store->commit(batch).has_value());
  CHECK(store->commit(batch).error().code == ErrorCode::kInternal);
  CHECK(State::same_facts(store->open()->state, history.state()));
}

void ranges_are_exact(const NewDisk& new_disk) {
  History history{11};
  const auto store = new_disk()();
  const std::int64_t epoch = store->open()->epoch;
  while (history.feed.size() < 10) REQUIRE(store->commit(history.next_batch(epoch)).has_value());
  const auto middle = store->feed(3, 4);
  REQUIRE(middle->size() == 4);
  CHECK(middle->front().seq == 4);
  CHECK(middle->back().seq == 7);
  CHECK(store->feed(static_cast<std::int64_t>(history.feed.size()), 4)->empty());
  const auto older = store->audit(5, 3);
  REQUIRE(older->size() == 3);
  CHECK(older->front().seq == 4);
  CHECK(older->back().seq == 2);
  CHECK(store->audit(1, 3)->empty());
}

Workload ended_at(History& history, std::uint64_t id, std::int64_t ms, const std::string& sha) {
  Workload w;
  w.id = {id};
  w.team = {1};
  auto spec = history.make.spec("old", {1});
  spec.files = {{"data", sha, 1, false}, {"again", sha, 1, false}};
  w.spec = std::make_shared<const WorkloadSpec>(std::move(spec));
  history.make.change(w, WorkloadState::kSucceeded);
  w.ended_at = {ms};
  return w;
}

// Ten of everything, one each ms from 1 on; workloads 1..10 share the blob "shared", 1..5 "old".
Batch ten_of_each(History& history, std::int64_t epoch) {
  Batch batch;
  batch.epoch = epoch;
  batch.batch_id = 1;
  batch.blobs = {{"shared", "s"}, {"old", "o"}};
  for (std::int64_t n = 1; n <= 10; ++n) {
    FeedEvent event;
    event.seq = n;
    event.at = {n};
    event.what = "changed";
    batch.feed.push_back(event);
    AuditEntry entry;
    entry.seq = n;
    entry.at = {n};
    batch.audit.push_back(entry);
    batch.idempotency.push_back({{1}, "POST /v1/x", std::to_string(n), "", 1, {n}});
    batch.changes.puts.push_back(
        ended_at(history, static_cast<std::uint64_t>(n), n, n <= 5 ? "old" : "shared"));
  }
  return batch;
}

void trimming_takes_what_is_past_in_small_bites(const NewDisk& new_disk) {
  History history{13};
  const auto store = new_disk()();
  const std::int64_t epoch = store->open()->epoch;
  Batch batch = ten_of_each(history, epoch);
  // The oldest still holds a device, and so stays.
  Node node = history.make.node({100}, {1}, {1}, 1);
  Allocation held = history.make.allocation({200}, std::get<Workload>(batch.changes.puts[0]), node);
  batch.changes.puts.emplace_back(held);
  REQUIRE(store->commit(batch).has_value());

  const Retention none{{5}, {5}, {5}, {5}};
  CHECK(store->trim({6}, none, 1000)->rows == 0);
  std::int64_t deleted = 0;
  while (const std::int64_t bite = store->trim({11}, none, 3)->rows) {
    CHECK(bite <= 3);
    deleted += bite;
  }
  CHECK(deleted == 5 + 5 + 5 + 4);
  CHECK(*store->oldest_feed_seq() == 6);
  CHECK(store->audit(0, 100)->size() == 5);
  CHECK_FALSE(store->idempotency({1}, "POST /v1/x", "5")->has_value());
  CHECK(store->idempotency({1}, "POST /v1/x", "6")->has_value());
  CHECK(store->ended_workload({1})->has_value());
  CHECK_FALSE(store->ended_workload({5})->has_value());
  CHECK(store->ended_workload({6})->has_value());
  CHECK(store->blob("old")->has_value());

  Batch release;
  release.epoch = epoch;
  release.batch_id = 2;
  history.make.change(held, AllocationState::kReleased);
  release.changes.puts.emplace_back(held);
  REQUIRE(store->commit(release).has_value());
  const auto last = store->trim({11}, none, 1000);
  CHECK(last->rows == 1);
  CHECK(last->workloads.size() == 1);
  CHECK_FALSE(store->blob("old")->has_value());
  CHECK(store->blob("shared")->has_value());
  CHECK(store->released_allocations({1})->empty());
  CHECK(store->open()->last_id == 200);
}

}  // namespace

void run_store_conformance(const NewDisk& new_disk) {
  SUBCASE("a new store is empty and knows nobody") { a_new_store_is_empty(new_disk); }
  SUBCASE("property: every row comes back as it was") { every_row_comes_back(new_disk); }
  SUBCASE("a newer writer fences the older") { a_newer_writer_fences_the_older(new_disk); }
  SUBCASE("a batch counts once") { a_batch_counts_once(new_disk); }
  SUBCASE("ranges of the feed and the audit are exact") { ranges_are_exact(new_disk); }
  SUBCASE("trimming takes what is past, in small bites") {
    trimming_takes_what_is_past_in_small_bites(new_disk);
  }
}

}  // namespace heddle
