#include "store/sqlite/backup.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <thread>

#include "store/conformance/history.h"
#include "store/sqlite/connection.h"
#include "store/sqlite/faulty_layer.h"
#include "store/sqlite/sqlite_store.h"
#include "store/sqlite/temporary_folder.h"

namespace heddle {
namespace {

using conformance::History;
namespace fs = std::filesystem;

std::unique_ptr<Store> store_in(const std::string& folder) {
  return make_sqlite_store({.folder = folder, .file_layer = faulty_layer_name()});
}

std::string bytes_of(const std::string& file) {
  std::ifstream in{file, std::ios::binary};
  return {std::istreambuf_iterator<char>{in}, {}};
}

// Ten batches, a backup, ten more, two restarts.
struct Past {
  TemporaryFolder folder;
  std::string data = folder.path() + "/data";
  std::string backup = folder.path() + "/backup";
  History history{21};
  State at_backup;
  std::int64_t epoch = 0;  // of the last writer

  Past() {
    auto store = store_in(data);
    epoch = store->open()->epoch;
    for (int n = 0; n < 10; ++n) REQUIRE(store->commit(history.next_batch(epoch)).has_value());
    at_backup = history.state();
    REQUIRE(store->backup(backup).has_value());
    for (int n = 0; n < 10; ++n) REQUIRE(store->commit(history.next_batch(epoch)).has_value());
    for (int n = 0; n < 2; ++n) epoch = store->open()->epoch;
  }
};

}  // namespace

TEST_CASE("a restored backup goes on where no number was ever used") {
  Past past;
  const auto report = restore_backup(past.backup, past.data);
  REQUIRE(report.has_value());
  CHECK(report->epoch > past.epoch);
  const auto store = store_in(past.data);
  const auto loaded = store->open();
  REQUIRE(loaded.has_value());
  CHECK(State::same_facts(loaded->state, past.at_backup));
  CHECK(loaded->epoch == report->epoch + 1);
  CHECK(loaded->last_id == past.history.last_id);
  CHECK(loaded->last_team_slot == past.history.last_slot);
  CHECK(loaded->last_audit_seq == static_cast<std::int64_t>(past.history.audit.size()));
  // Followers of the feed from before must list anew.
  CHECK(loaded->last_feed_seq > static_cast<std::int64_t>(past.history.feed.size()));
  CHECK(store->feed(0, 10)->empty());
  // The writer that was replaced is fenced.
  Batch late;
  late.epoch = past.epoch;
  late.batch_id = 1;
  CHECK(store->commit(late).error().code == ErrorCode::kConflict);

  // What was replaced is kept, whole.
  const std::string aside = past.folder.path() + "/aside";
  fs::create_directory(aside);
  fs::permissions(aside, fs::perms::owner_all);
  fs::copy_file(report->kept_aside, aside + "/heddle.db");
  CHECK(State::same_facts(store_in(aside)->open()->state, past.history.state()));
}

TEST_CASE("a backup can be restored into a new folder, and again over itself") {
  Past past;
  const std::string fresh = past.folder.path() + "/fresh";
  const auto first = restore_backup(past.backup, fresh);
  REQUIRE(first.has_value());
  CHECK(first->kept_aside.empty());
  const auto second = restore_backup(past.backup, fresh);
  const auto third = restore_backup(past.backup, fresh);
  REQUIRE(third.has_value());
  CHECK(second->epoch > first->epoch);
  CHECK(third->epoch > second->epoch);
  CHECK(second->kept_aside != third->kept_aside);
  CHECK(State::same_facts(store_in(fresh)->open()->state, past.at_backup));
}

TEST_CASE("a damaged database gives way to a backup and is kept") {
  Past past;
  const std::string file = past.data + "/heddle.db";
  std::ofstream{file, std::ios::binary | std::ios::in} << "this was a database once";
  const std::string damaged = bytes_of(file);
  const auto report = restore_backup(past.backup, past.data);
  REQUIRE(report.has_value());
  CHECK(report->epoch > past.epoch + 100'000);
  CHECK(bytes_of(report->kept_aside) == damaged);
  CHECK(State::same_facts(store_in(past.data)->open()->state, past.at_backup));
}

TEST_CASE("a restore that is refused changes nothing") {
  Past past;
  const std::string bad = past.folder.path() + "/bad";
  SUBCASE("a damaged backup") {
    fs::copy_file(past.backup, bad);
    std::fstream out{bad, std::ios::binary | std::ios::in | std::ios::out};
    out.seekp(5 * 4096);
    out << std::string(2000, '\x5a');
  }
  SUBCASE("a file of another kind") { std::ofstream{bad} << std::string(10'000, 'x'); }
  SUBCASE("an empty file") { std::ofstream{bad} << ""; }
  SUBCASE("no file") {}
  SUBCASE("a database in use") {
    fs::copy_file(past.backup, bad);
    std::ofstream{bad + "-wal"} << "not yet moved";
  }
  CHECK_FALSE(restore_backup(bad, past.data).has_value());
  for (const auto& entry : fs::directory_iterator{past.data})
    CHECK((entry.path().filename() == "heddle.db" || entry.path().filename() == "lock"));
  CHECK(State::same_facts(store_in(past.data)->open()->state, past.history.state()));
}

TEST_CASE("nothing is restored under a running server") {
  Past past;
  const auto store = store_in(past.data);
  REQUIRE(store->open().has_value());
  CHECK(restore_backup(past.backup, past.data).error().code == ErrorCode::kConflict);
}

TEST_CASE("a backup never overwrites and leaves no half of itself") {
  Past past;
  const auto store = store_in(past.data);
  REQUIRE(store->open().has_value());
  const std::string before = bytes_of(past.backup);
  CHECK(store->backup(past.backup).error().code == ErrorCode::kConflict);
  CHECK(bytes_of(past.backup) == before);
  CHECK_FALSE(store->backup(past.folder.path() + "/no such folder/file").has_value());
  CHECK(std::distance(fs::directory_iterator{past.folder.path()}, {}) == 2);
  CHECK((fs::status(past.backup).permissions() & fs::perms::mask) ==
        (fs::perms::owner_read | fs::perms::owner_write));
}

TEST_CASE("another program can write a backup, whether or not a server runs") {
  Past past;
  const std::string copy = past.folder.path() + "/copy-";
  CHECK(write_backup(past.data, copy + "1").has_value());
  {
    const auto store = store_in(past.data);
    const std::int64_t epoch = store->open()->epoch;
    past.history.batch_id = 0;
    REQUIRE(store->commit(past.history.next_batch(epoch)).has_value());
    CHECK(write_backup(past.data, copy + "2").has_value());
  }
  CHECK(write_backup(past.data, copy + "2").error().code == ErrorCode::kConflict);
  CHECK_FALSE(write_backup(past.folder.path() + "/nowhere", copy + "3").has_value());
  CHECK_FALSE(fs::exists(past.folder.path() + "/nowhere"));
  const std::string restored = past.folder.path() + "/restored";
  REQUIRE(restore_backup(copy + "2", restored).has_value());
  CHECK(State::same_facts(store_in(restored)->open()->state, past.history.state()));
}

TEST_CASE("a backup taken while commits run shows one moment") {
  const TemporaryFolder folder;
  const auto store = store_in(folder.path() + "/data");
  const std::int64_t epoch = store->open()->epoch;
  History history{22};
  std::vector<State> moments{history.state()};
  auto commit = [&] {
    REQUIRE(store->commit(history.next_batch(epoch)).has_value());
    moments.push_back(history.state());
  };
  for (int n = 0; n < 30; ++n) commit();
  Result<Done> done = Done{};
  std::thread backup{[&] { done = store->backup(folder.path() + "/backup"); }};
  for (int n = 0; n < 30; ++n) commit();
  backup.join();
  REQUIRE(done.has_value());
  REQUIRE(restore_backup(folder.path() + "/backup", folder.path() + "/copy").has_value());
  const auto copy = store_in(folder.path() + "/copy")->open();
  const auto found = std::ranges::find_if(
      moments, [&](const State& moment) { return State::same_facts(moment, copy->state); });
  REQUIRE(found != moments.end());
  CHECK(found - moments.begin() >= 30);
}

}  // namespace heddle
