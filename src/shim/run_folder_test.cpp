#include "shim/run_folder.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "shim/scratch_folder.h"

namespace heddle::shim {

TEST_CASE("links, pipes and large files in place of a record are refused without waiting") {
  const ScratchFolder scratch;
  const Fd folder = open_folder(scratch.path());
  REQUIRE(write_file(folder.get(), "plain", "bytes"));
  CHECK(*read_file(folder.get(), "plain", 5) == "bytes");
  CHECK_FALSE(read_file(folder.get(), "plain", 4).has_value());
  REQUIRE(symlinkat("plain", folder.get(), "link") == 0);
  CHECK_FALSE(read_file(folder.get(), "link", 100).has_value());
  REQUIRE(mkfifoat(folder.get(), "pipe", 0600) == 0);
  CHECK_FALSE(read_file(folder.get(), "pipe", 100).has_value());
  CHECK(read_file(folder.get(), "none", 100).error().code == ErrorCode::kNotFound);
  CHECK_FALSE(open_folder(scratch.path() + "/link").is_open());
}

TEST_CASE("only the first claim of a run counts") {
  const ScratchFolder scratch;
  const Fd folder = open_folder(scratch.path());
  CHECK(create_file(folder.get(), "pid", "first").has_value());
  CHECK(create_file(folder.get(), "pid", "second").error().code == ErrorCode::kConflict);
  CHECK(*read_file(folder.get(), "pid", 100) == "first");
}

TEST_CASE("a process is known by its number and its start, and is seen to end") {
  int gate[2];
  REQUIRE(pipe(gate) == 0);
  const pid_t child = fork();
  if (child == 0) {
    close(gate[1]);
    char byte = 0;
    _exit(read(gate[0], &byte, 1) == 0 ? 0 : 1);
  }
  const ProcessIdentity who = identify(child);
  CHECK(who.start_ticks > 0);
  CHECK(*ProcessIdentity::parse(who.encode()) == who);
  const Fd pidfd = open_process(who);
  REQUIRE(pidfd.is_open());
  CHECK_FALSE(has_ended(pidfd.get()));
  ProcessIdentity later = who;
  later.start_ticks += 1;
  CHECK_FALSE(open_process(later).is_open());
  ProcessIdentity other_boot = who;
  other_boot.boot = "another";
  CHECK_FALSE(open_process(other_boot).is_open());
  close(gate[1]);
  CHECK(waitpid(child, nullptr, 0) == child);
  CHECK(has_ended(pidfd.get()));
  CHECK_FALSE(open_process(who).is_open());
}

}  // namespace heddle::shim
