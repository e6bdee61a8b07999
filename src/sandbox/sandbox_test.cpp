// Starting and ending: what goes in, what comes back.
#include "sandbox/sandbox.h"

#include <doctest/doctest.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <fstream>

#include "sandbox/cgroup.h"
#include "sandbox/check_spec.h"
#include "sandbox/run_in_test.h"
#include "sandbox/start.h"

namespace heddle::sandbox {

TEST_CASE("exit codes and output come back") {
  if (!can_start_sandboxes()) return;
  const Outcome outcome = run(shell("echo out; echo err >&2; exit 7"));
  CHECK(outcome.exit.code == 7);
  CHECK_FALSE(outcome.exit.signalled);
  CHECK_FALSE(outcome.exit.out_of_memory);
  CHECK(outcome.output == "out\nerr\n");
  CHECK(run(spec_of({"true"})).exit.code == 0);
}

TEST_CASE("an end by a signal is told as that signal, and is no lack of memory") {
  if (!can_start_sandboxes()) return;
  for (const int number : {SIGKILL, SIGSEGV, SIGTERM}) {
    const Outcome outcome = run(shell("kill -" + std::to_string(number) + " $$"));
    CHECK(outcome.exit.signalled);
    CHECK(outcome.exit.code == number);
    CHECK_FALSE(outcome.exit.out_of_memory);
  }
}

TEST_CASE("what cannot be started says why") {
  if (!can_start_sandboxes()) return;
  const auto error_of = [](const Spec& spec) {
    Result<Running> running = start(spec);
    REQUIRE_FALSE(running);
    return running.error();
  };
  CHECK(error_of(spec_of({"no-such-command"})).code == ErrorCode::kNotFound);
  CHECK(error_of(spec_of({"no-such-command"})).message == "command not found: no-such-command");
  CHECK(error_of(spec_of({"/etc/passwd"})).code == ErrorCode::kPermissionDenied);
  Spec spec = spec_of({"true"});
  spec.workdir = "/tmp/missing";
  CHECK(error_of(spec).code == ErrorCode::kNotFound);
  spec = spec_of({"true"});
  spec.mounts = {{"/no/such/folder", "/data", false}};
  CHECK(error_of(spec).code == ErrorCode::kNotFound);
  CHECK(error_of(spec).message.find("/data") != std::string::npos);
  spec = spec_of({"true"});
  spec.devices = {{"/dev/no-such-device", "/dev/nvidia0"}};
  CHECK(error_of(spec).code == ErrorCode::kNotFound);
  spec = spec_of({"true"});
  spec.join_network = "/no/such/network";
  CHECK(error_of(spec).code == ErrorCode::kNotFound);
}

TEST_CASE("bad specs are refused by field, before anything is made") {
  const auto field_of = [](auto change) {
    Spec spec = spec_of({"true"});
    change(spec);
    const Result<Done> done = check_spec(spec);
    return done ? std::string{"none"} : done.error().fields.at(0).pointer;
  };
  CHECK(field_of([](Spec&) {}) == "none");
  for (const std::int64_t uid : {0LL, 0x80000000LL, 0xffffffffLL})
    CHECK(field_of([&](Spec& s) { s.uid = static_cast<uid_t>(uid); }) == "/uid");
  for (const char* id : {"", "../x", "a/b", "A", "a b"})
    CHECK(field_of([&](Spec& s) { s.id = id; }) == "/id");
  for (const char* name : {"", "0x0", "4294967296", "a:b", "a\nroot", "-x", "Root"})
    CHECK(field_of([&](Spec& s) { s.user_name = name; }) == "/user_name");
  for (const char* home : {"relative", "/a\nb", "/a:b", "/a/../b", "/a/"})
    CHECK(field_of([&](Spec& s) { s.home = home; }) == "/home");
  for (const char* host : {"a b", "a\nb", ".a", "-a"})
    CHECK(field_of([&](Spec& s) { s.hostname = host; }) == "/hostname");
  for (const char* folder :
       {"/", "/proc/self/fd/3", "/proc/1/cwd", "/usr", "/tmp/../etc", "tmp", ""})
    CHECK(field_of([&](Spec& s) { s.workdir = folder; }) == "/workdir");
  for (const char* target :
       {"/", "/usr/x", "/proc", "/dev/x", "/etc/passwd", "/tmp", "/var/x", "x"})
    CHECK(field_of([&](Spec& s) { s.mounts = {{"/srv", target, true}}; }) == "/mounts");
  CHECK(field_of([](Spec& s) {
          s.mounts = {{"/srv", "/a", true}, {"/srv", "/a/b", true}};
        }) == "/mounts");
  for (const char* path : {"/tmp/x", "/dev/pts/0", "/dev/../etc", "/dev/fd/3"})
    CHECK(field_of([&](Spec& s) { s.devices = {{"/dev/null", path}}; }) == "/devices");
  CHECK(field_of([](Spec& s) { s.hosts = {{"a", "127.0.0.1\nx"}}; }) == "/hosts");
  CHECK(field_of([](Spec& s) { s.env = {"=x"}; }) == "/env");
  CHECK(field_of([](Spec& s) { s.argv.clear(); }) == "/argv");
  CHECK(field_of([](Spec& s) { s.cpu_weight = 0; }) == "/cpu_weight");
  CHECK(field_of([](Spec& s) { s.memory_bytes = -1; }) == "/memory_bytes");
}

TEST_CASE("two sandboxes of one name cannot run at once, and a left-over name is free again") {
  if (!can_start_sandboxes()) return;
  const CgroupMode mode = detect_cgroups();
  if (mode == CgroupMode::kNone) return;
  Spec spec = shell("echo up; read line");
  std::array<int, 2> input{};
  REQUIRE(::pipe(input.data()) == 0);
  spec.stdin_fd = input[0];
  Started first = start_printing(spec, mode);
  CHECK(read_line(first.output_fd) == "up");
  Result<Running> second = start_with(spec, mode);
  REQUIRE_FALSE(second);
  CHECK(second.error().code == ErrorCode::kConflict);
  ::close(input[0]);
  ::close(input[1]);
  CHECK(first.running.finish());
  ::close(first.output_fd);
  // What a shim that was killed leaves behind.
  const pid_t shim = ::fork();
  if (shim == 0) {
    const auto left = make_cgroup(mode, spec.cgroup_parent, spec.id, {});
    ::_exit(left ? 0 : 1);
  }
  int status = 1;
  REQUIRE(::waitpid(shim, &status, 0) == shim);
  CHECK(status == 0);
  spec.stdin_fd = -1;
  CHECK(run_with(spec, mode).exit.code == 0 + 1);  // read meets the end of /dev/null
}

TEST_CASE("a signal reaches every process of the program") {
  if (!can_start_sandboxes()) return;
  Started started = start_printing(
      python("import os, signal, sys\n"
             "child = os.fork()\n"
             "name = 'parent' if child else 'child'\n"
             "signal.signal(signal.SIGTERM, lambda *_: (os.write(1, name.encode() + b'\\n'),\n"
             "    child and os.waitpid(child, 0), os._exit(3)))\n"
             "os.write(1, b'up\\n')\n"
             "while True: signal.pause()"),
      detect_cgroups());
  CHECK(read_line(started.output_fd) == "up");
  CHECK(read_line(started.output_fd) == "up");
  started.running.signal(SIGTERM);
  const std::string lines = read_line(started.output_fd) + " " + read_line(started.output_fd);
  CAPTURE(lines);
  CHECK((lines == "parent child" || lines == "child parent"));
  const Result<Exit> exit = started.running.finish();
  REQUIRE(exit);
  CHECK(exit->code == 3);
  ::close(started.output_fd);
}

TEST_CASE("folders are shown as asked: read-only or writable, and nothing below follows a link") {
  if (!can_start_sandboxes()) return;
  const TestFolder folder;
  std::filesystem::create_directories(folder.path("work"));
  std::filesystem::create_directories(folder.path("data"));
  std::ofstream{folder.path("data/input")} << "numbers";
  REQUIRE(::chown(folder.path("work").c_str(), test_uid(0), test_uid(0)) == 0);
  REQUIRE(::chmod(folder.path("data").c_str(), 0777) == 0);
  Spec spec = shell("pwd; cat /data/input; echo result > out; echo x 2>&1 > /data/new");
  spec.mounts = {{folder.path("work"), "/work", true}, {folder.path("data"), "/data", false}};
  spec.workdir = "/work";
  const Outcome outcome = run(spec);
  CHECK(outcome.output.starts_with("/work\nnumbers"));
  CHECK(outcome.output.find("Read-only file system") != std::string::npos);
  CHECK(std::filesystem::exists(folder.path("work/out")));
  CHECK_FALSE(std::filesystem::exists(folder.path("data/new")));

  std::filesystem::create_symlink("/", folder.path("link"));
  for (const char* source : {"link", "link/etc"}) {
    spec.mounts = {{folder.path(source), "/data", false}};
    spec.workdir = "/tmp";
    Result<Running> running = start(spec);
    REQUIRE_FALSE(running);
    CHECK(running.error().message.find("changed or is a link") != std::string::npos);
  }
}

TEST_CASE("time and memory are accounted for the whole tree") {
  if (!can_start_sandboxes()) return;
  const Outcome outcome =
      run(python("import os, time\n"
                 "block = bytearray(b'x' * (64 << 20))\n"
                 "child = os.fork()\n"
                 "while time.process_time() < 0.15: pass\n"
                 "child and os.waitpid(child, 0)"));
  CHECK(outcome.exit.code == 0);
  CHECK(outcome.exit.cpu_ms >= 290);
  CHECK(outcome.exit.cpu_ms < 5000);
  CHECK(outcome.exit.peak_memory_bytes >= 64 << 20);
  CHECK(outcome.exit.peak_memory_bytes < 512 << 20);
}

TEST_CASE("the probe says of this machine what the tests of this machine show") {
  const Abilities found = probe("heddle-test");
  CHECK(found.root == (::geteuid() == 0));
  if (!found.root) {
    CHECK(found.notes().size() == 1);
    return;
  }
  CHECK(found.isolates());
  CHECK(found.cgroups == detect_cgroups());
  CHECK(Abilities{}.notes().front().find("not separated") != std::string::npos);
  for (const std::string& note : found.notes()) {
    CHECK(note.find("cgroup") == std::string::npos);
    CHECK(note.find("namespace") == std::string::npos);
  }
}

}  // namespace heddle::sandbox
