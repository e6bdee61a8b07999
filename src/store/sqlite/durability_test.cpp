#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

#include "store/conformance/history.h"
#include "store/sqlite/faulty_layer.h"
#include "store/sqlite/sqlite_store.h"
#include "store/sqlite/temporary_folder.h"

namespace heddle {
namespace {

using conformance::History;

// Commits for ever and tells `acknowledged` each number once it is safe.
[[noreturn]] void commit_until_killed(const std::string& folder, std::uint64_t seed,
                                      int acknowledged) {
  History history{seed};
  const auto store = make_sqlite_store({.folder = folder, .file_layer = faulty_layer_name()});
  const auto loaded = store->open();
  while (loaded && store->commit(history.next_batch(loaded->epoch))) {
    const std::int64_t id = history.batch_id;
    if (write(acknowledged, &id, sizeof id) != sizeof id) break;
  }
  _exit(1);
}

// The number of the last batch that was acknowledged before the kill.
std::int64_t kill_after(std::int64_t batches, const std::string& folder, std::uint64_t seed) {
  int ends[2];
  REQUIRE(pipe(ends) == 0);
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) commit_until_killed(folder, seed, ends[1]);
  close(ends[1]);
  std::int64_t last = 0;
  while (last < batches && read(ends[0], &last, sizeof last) == sizeof last) continue;
  kill(child, SIGKILL);
  while (read(ends[0], &last, sizeof last) == sizeof last) continue;
  close(ends[0]);
  REQUIRE(waitpid(child, nullptr, 0) == child);
  return last;
}

struct Run {
  std::string folder;
  State before;
  State after;
  Batch batch;  // leads from `before` to `after`
  std::int64_t epoch = 0;
};

// One run of a store with the n-th write failing, from its open() to its end. Gives how the commit
// went, or nothing when it did not come to that.
std::optional<Result<Done>> run_with_fault(Run& run, std::uint64_t seed, std::int64_t n,
                                           LayerFault fault, bool for_good) {
  fail_write(0, fault, for_good);
  History history{seed};
  {
    const auto store = make_sqlite_store({.folder = run.folder, .file_layer = faulty_layer_name()});
    REQUIRE(store->commit(history.next_batch(store->open()->epoch)).has_value());
  }
  run.before = history.state();
  const auto store = make_sqlite_store({.folder = run.folder, .file_layer = faulty_layer_name()});
  fail_write(n, fault, for_good);
  const auto loaded = store->open();
  if (!loaded) return std::nullopt;
  CHECK(State::same_facts(loaded->state, run.before));
  run.epoch = loaded->epoch;
  history.batch_id = 0;
  run.batch = history.next_batch(run.epoch);
  run.after = history.state();
  const auto done = store->commit(run.batch);
  if (done || for_good) return done;
  // The disk works again: the outcome can be read, and the batch be tried again if it is not there.
  const auto there = store->was_committed(run.epoch, 1);
  REQUIRE(there.has_value());
  if (!*there) CHECK(store->commit(run.batch).has_value());
  return Result<Done>{Done{}};
}

void check_outcome(const Run& run, const std::optional<Result<Done>>& done) {
  fail_write(0, LayerFault::kBroken, false);
  const auto store = make_sqlite_store({.folder = run.folder, .file_layer = faulty_layer_name()});
  const auto loaded = store->open();
  REQUIRE(loaded.has_value());
  const bool is_before = State::same_facts(loaded->state, run.before);
  if (!done) {
    CHECK(is_before);
    return;
  }
  const bool is_after = State::same_facts(loaded->state, run.after);
  CHECK((is_before || is_after));
  CHECK(*store->was_committed(run.epoch, 1) == is_after);
  if (*done) CHECK(is_after);
  if (!*done && done->error().code == ErrorCode::kStorageFull) CHECK(is_before);
}

}  // namespace

TEST_CASE("killed at any moment, every acknowledged batch is there, whole") {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    CAPTURE(seed);
    const TemporaryFolder folder;
    const std::int64_t last =
        kill_after(static_cast<std::int64_t>(seed * 7 % 30), folder.path(), seed);
    const auto store =
        make_sqlite_store({.folder = folder.path(), .file_layer = faulty_layer_name()});
    const auto loaded = store->open();
    REQUIRE(loaded.has_value());
    History history{seed};
    while (history.batch_id < last) history.next_batch(1);
    // One more may have been written but not yet acknowledged.
    if (*store->was_committed(1, last + 1)) history.next_batch(1);
    CHECK(State::same_facts(loaded->state, history.state()));
    CHECK((*store->feed(0, 1'000'000) == history.feed));
    CHECK(store->audit(0, 1'000'000)->size() == history.audit.size());
    for (const auto& [id, w] : history.ended) CHECK((*store->ended_workload(id) == w));
  }
}

TEST_CASE("whichever write fails, what is found later is before or after the batch") {
  for (const auto fault : {LayerFault::kBroken, LayerFault::kFull, LayerFault::kTornBroken}) {
    for (const bool for_good : {false, true}) {
      bool failed = true;
      for (std::int64_t n = 1; failed; ++n) {
        CAPTURE(static_cast<int>(fault));
        CAPTURE(for_good);
        CAPTURE(n);
        REQUIRE(n < 1000);
        const TemporaryFolder folder;
        Run run{.folder = folder.path(), .before = {}, .after = {}, .batch = {}};
        const auto done = run_with_fault(run, 3, n, fault, for_good);
        failed = write_has_failed();
        check_outcome(run, done);
      }
    }
  }
}

TEST_CASE("whichever write of the first start fails, the next start works") {
  bool failed = true;
  for (std::int64_t n = 1; failed; ++n) {
    CAPTURE(n);
    REQUIRE(n < 1000);
    const TemporaryFolder folder;
    {
      const auto store =
          make_sqlite_store({.folder = folder.path(), .file_layer = faulty_layer_name()});
      fail_write(n, LayerFault::kTornBroken, true);
      const auto loaded = store->open();
      failed = write_has_failed();
      if (!loaded) CHECK(loaded.error().code == ErrorCode::kUnavailable);
    }
    failed = write_has_failed();
    fail_write(0, LayerFault::kBroken, false);
    const auto store =
        make_sqlite_store({.folder = folder.path(), .file_layer = faulty_layer_name()});
    CHECK(store->open().has_value());
  }
}

}  // namespace heddle
