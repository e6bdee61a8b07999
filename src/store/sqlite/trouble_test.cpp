#include <doctest/doctest.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <iterator>

#include "store/conformance/history.h"
#include "store/sqlite/connection.h"
#include "store/sqlite/failure.h"
#include "store/sqlite/faulty_layer.h"
#include "store/sqlite/folder.h"
#include "store/sqlite/schema.h"
#include "store/sqlite/sqlite_store.h"
#include "store/sqlite/temporary_folder.h"

namespace heddle {
namespace {

using conformance::History;

std::unique_ptr<Store> store_in(const std::string& folder) {
  return make_sqlite_store({.folder = folder, .file_layer = faulty_layer_name()});
}

std::string bytes_of(const std::string& file) {
  std::ifstream in{file, std::ios::binary};
  return {std::istreambuf_iterator<char>{in}, {}};
}

void overwrite(const std::string& file, std::int64_t at, std::size_t size) {
  std::fstream out{file, std::ios::binary | std::ios::in | std::ios::out};
  out.seekp(at);
  out << std::string(size, '\x5a');
}

void fill(const std::string& folder) {
  History history{5};
  const auto store = store_in(folder);
  const auto loaded = store->open();
  for (int n = 0; n < 20; ++n) REQUIRE(store->commit(history.next_batch(loaded->epoch)));
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

// A small disk of its own, seen by this process only, from here to the end of its life.
class SmallDisk {
 public:
  SmallDisk() {
    made_ = unshare(CLONE_NEWNS) == 0 && mount("", "/", nullptr, MS_REC | MS_PRIVATE, "") == 0 &&
            mount("small", folder_.path().c_str(), "tmpfs", 0, "size=3m,mode=700") == 0;
    if (!made_) MESSAGE("SKIPPED: making a small disk needs the rights of root");
  }
  ~SmallDisk() {
    if (made_) umount2(folder_.path().c_str(), MNT_DETACH);
  }
  bool made() const { return made_; }
  const std::string& path() const { return folder_.path(); }
  void make_read_only() {
    REQUIRE(mount("", path().c_str(), nullptr, MS_REMOUNT | MS_RDONLY, "") == 0);
  }

 private:
  TemporaryFolder folder_;
  bool made_ = false;
};

Batch big_batch(std::int64_t epoch, std::int64_t id) {
  Batch batch;
  batch.epoch = epoch;
  batch.batch_id = id;
  batch.blobs.push_back({"sha-" + std::to_string(id), std::string(100'000, 'x')});
  return batch;
}

}  // namespace

TEST_CASE("a full disk refuses a batch whole, and works on when there is space again") {
  const SmallDisk disk;
  if (!disk.made()) return;
  std::ofstream{disk.path() + "/filler"} << std::string(1'000'000, 'f');
  const auto store = store_in(disk.path());
  const std::int64_t epoch = store->open()->epoch;
  std::int64_t id = 1;
  auto done = store->commit(big_batch(epoch, id));
  for (; done && id < 100; done = store->commit(big_batch(epoch, id))) ++id;
  REQUIRE_FALSE(done.has_value());
  CHECK(done.error().code == ErrorCode::kStorageFull);
  CHECK(contains(done.error().message, disk.path() + "/heddle.db"));
  CHECK_FALSE(*store->was_committed(epoch, id));
  CHECK(*store->was_committed(epoch, id - 1));
  CHECK(store->blob("sha-1")->has_value());
  CHECK_FALSE(store->blob("sha-" + std::to_string(id))->has_value());

  CHECK(store->backup(disk.path() + "/copy").error().code == ErrorCode::kStorageFull);
  CHECK(bytes_of(disk.path() + "/copy").empty());

  unlink((disk.path() + "/filler").c_str());
  CHECK(store->commit(big_batch(epoch, id)).has_value());
  CHECK(store->open()->epoch == epoch + 1);
}

TEST_CASE("a disk that is full from the start is said so") {
  const SmallDisk disk;
  if (!disk.made()) return;
  std::ofstream{disk.path() + "/filler"} << std::string(4'000'000, 'f');
  const auto store = store_in(disk.path());
  CHECK(store->open().error().code == ErrorCode::kStorageFull);
  unlink((disk.path() + "/filler").c_str());
  CHECK(store->open().has_value());
}

TEST_CASE("a read-only disk is said so, with the file's name") {
  SmallDisk disk;
  if (!disk.made()) return;
  { CHECK(store_in(disk.path())->open().has_value()); }
  disk.make_read_only();
  const auto loaded = store_in(disk.path())->open();
  REQUIRE_FALSE(loaded.has_value());
  CHECK(loaded.error().code == ErrorCode::kUnavailable);
  CHECK(contains(loaded.error().message, disk.path()));
}

TEST_CASE("a damaged file is named and left as it is") {
  for (const std::int64_t place : {0, 3 * 4096, 8 * 4096}) {
    CAPTURE(place);
    const TemporaryFolder folder;
    const std::string file = folder.path() + "/heddle.db";
    fill(folder.path());
    overwrite(file, place, 100);
    const std::string damaged = bytes_of(file);
    const auto loaded = store_in(folder.path())->open();
    REQUIRE_FALSE(loaded.has_value());
    CHECK(loaded.error().code == ErrorCode::kInternal);
    CHECK(contains(loaded.error().message, file));
    CHECK(contains(loaded.error().next, "heddled restore"));
    CHECK(bytes_of(file) == damaged);
  }
}

TEST_CASE("a file that is cut short is named and left as it is") {
  const TemporaryFolder folder;
  const std::string file = folder.path() + "/heddle.db";
  fill(folder.path());
  REQUIRE(truncate(file.c_str(), 5 * 4096 + 100) == 0);
  const auto loaded = store_in(folder.path())->open();
  REQUIRE_FALSE(loaded.has_value());
  CHECK(loaded.error().code == ErrorCode::kInternal);
  CHECK(bytes_of(file).size() == 5 * 4096 + 100);
}

TEST_CASE("a database of a newer Heddle or of another program is refused") {
  const TemporaryFolder folder;
  const std::string file = folder.path() + "/heddle.db";
  fill(folder.path());
  sqlite::Connection{file, sqlite::Access::kReadWrite}.execute("PRAGMA user_version = 999");
  auto loaded = store_in(folder.path())->open();
  REQUIRE_FALSE(loaded.has_value());
  CHECK(loaded.error().code == ErrorCode::kConflict);
  CHECK(contains(loaded.error().message, "written by a newer Heddle (its format is 999"));

  sqlite::Connection{file, sqlite::Access::kReadWrite}.execute(
      "PRAGMA user_version = 1; PRAGMA application_id = 7");
  loaded = store_in(folder.path())->open();
  REQUIRE_FALSE(loaded.has_value());
  CHECK(contains(loaded.error().message, "another program"));
}

TEST_CASE("a second process is told which one uses the folder") {
  const TemporaryFolder folder;
  int told[2];
  int wait_for[2];
  REQUIRE(pipe(told) == 0);
  REQUIRE(pipe(wait_for) == 0);
  const pid_t child = fork();
  if (child == 0) {
    close(wait_for[1]);
    const auto store = store_in(folder.path());
    char byte = store->open() ? 'y' : 'n';
    if (write(told[1], &byte, 1) == 1 && read(wait_for[0], &byte, 1) == 0) _exit(0);
    _exit(1);
  }
  close(wait_for[0]);
  char opened = '?';
  REQUIRE(read(told[0], &opened, 1) == 1);
  CHECK(opened == 'y');
  const auto store = store_in(folder.path());
  const auto refused = store->open();
  REQUIRE_FALSE(refused.has_value());
  CHECK(refused.error().code == ErrorCode::kConflict);
  CHECK(contains(refused.error().message, "process " + std::to_string(child)));
  close(wait_for[1]);
  int status = -1;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK(status == 0);
  CHECK(store->open().has_value());
  for (const int end : {told[0], told[1]}) close(end);
}

TEST_CASE("what others can reach is refused with the command that closes it") {
  const TemporaryFolder folder;
  const std::string inner = folder.path() + "/data";
  const std::string file = inner + "/heddle.db";
  fill(inner);
  struct stat found {};
  REQUIRE(stat(file.c_str(), &found) == 0);
  CHECK((found.st_mode & 0777) == 0600);
  REQUIRE(stat(inner.c_str(), &found) == 0);
  CHECK((found.st_mode & 0777) == 0700);

  REQUIRE(chmod(file.c_str(), 0640) == 0);
  auto loaded = store_in(inner)->open();
  REQUIRE_FALSE(loaded.has_value());
  CHECK(loaded.error().code == ErrorCode::kPermissionDenied);
  CHECK(loaded.error().next == "Close it with: chmod 600 " + file);
  REQUIRE(chmod(inner.c_str(), 0755) == 0);
  loaded = store_in(inner)->open();
  REQUIRE_FALSE(loaded.has_value());
  CHECK(loaded.error().next == "Close it with: chmod 700 " + inner);
}

TEST_CASE("migrations run once, each whole") {
  const TemporaryFolder folder;
  const std::string file = sqlite::database_file(folder.path());
  sqlite::prepare_file(file);
  sqlite::Connection connection{file, sqlite::Access::kReadWrite};
  sqlite::migrate(connection);
  const auto version = connection.number("PRAGMA schema_version");
  sqlite::migrate(connection);
  CHECK(connection.number("PRAGMA schema_version") == version);

  auto steps = sqlite::migrations();
  const std::int64_t next = steps.back().number + 1;
  steps.push_back({next, "CREATE TABLE half (a INTEGER) STRICT; CREATE TABLE half (a INTEGER)"});
  CHECK_THROWS_AS(sqlite::migrate(connection, steps), sqlite::Failure);
  CHECK(connection.number("PRAGMA user_version") == next - 1);
  CHECK(connection.number("SELECT count(*) FROM sqlite_schema WHERE name = 'half'") == 0);
}

TEST_CASE("text that could not be read back is refused, and nothing of its batch is kept") {
  const TemporaryFolder folder;
  const auto store = store_in(folder.path());
  const std::int64_t epoch = store->open()->epoch;
  History history{3};
  Batch batch = history.next_batch(epoch);
  Workload w;
  w.id = {history.last_id + 1};
  w.team = {1};
  auto spec = history.make.spec("bad", {1});
  spec.command = {"\xff\xfe"};
  w.spec = std::make_shared<const WorkloadSpec>(std::move(spec));
  batch.changes.puts.emplace_back(w);
  CHECK(store->commit(batch).error().code == ErrorCode::kInvalidArgument);
  CHECK_FALSE(*store->was_committed(epoch, batch.batch_id));
  CHECK(State::same_facts(store->open()->state, State{}));
}

TEST_CASE("a row that breaks a rule of the ledger is refused") {
  const TemporaryFolder folder;
  const auto store = store_in(folder.path());
  const std::int64_t epoch = store->open()->epoch;
  Allocation a;
  a.id = {1};
  a.workload = {2};
  a.team = {3};
  a.pool = {4};
  a.node = {5};
  a.devices = {{{6}, GpuAmount::milli(1001)}};
  Batch batch;
  batch.epoch = epoch;
  batch.batch_id = 1;
  batch.changes.puts.emplace_back(a);
  CHECK(store->commit(batch).error().code == ErrorCode::kInternal);
  a.devices = {{{6}, GpuAmount::milli(1000)}};
  batch.changes.puts = {PutRow{a}};
  CHECK(store->commit(batch).has_value());
  // What an allocation holds never changes once it is recorded.
  a.devices = {{{6}, GpuAmount::milli(999)}};
  batch.batch_id = 2;
  batch.changes.puts = {PutRow{a}};
  CHECK(store->commit(batch).error().code == ErrorCode::kInternal);
}

}  // namespace heddle
