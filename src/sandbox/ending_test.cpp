// Whatever a program does, it ends when it must, within its limits, and takes nothing along.
#include <doctest/doctest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>

#include "sandbox/cgroup.h"
#include "sandbox/run_in_test.h"
#include "sandbox/start.h"

namespace heddle::sandbox {
namespace {

constexpr int kPatience_ms = 10'000;

std::vector<CgroupMode> modes() {
  std::vector<CgroupMode> modes{CgroupMode::kNone};
  if (detect_cgroups() != CgroupMode::kNone) modes.push_back(CgroupMode::kV2);
  if (detect_cgroups() == CgroupMode::kHybrid) modes.push_back(CgroupMode::kHybrid);
  return modes;
}

bool limits_memory() { return probe("heddle-test").limits_memory; }
bool limits_processes() { return probe("heddle-test").limits_processes; }

}  // namespace

TEST_CASE("a tree of daemons that ignore every signal is gone after kill_tree") {
  if (!can_start_sandboxes()) return;
  for (const CgroupMode mode : modes()) {
    CAPTURE(static_cast<int>(mode));
    Spec spec = hostile("survivors", {"stay", "20"});
    spec.uid = spec.gid = test_uid(1 + static_cast<unsigned>(mode));
    Started started = start_printing(spec, mode);
    CHECK(read_line(started.output_fd) == "ready");
    // Control: they are there, and a polite end does not move them.
    started.running.signal(SIGTERM);
    started.running.signal(SIGHUP);
    CHECK(processes_of(spec.uid) == 22);
    CHECK(started.running.kill_tree(kPatience_ms));
    CHECK(processes_of(spec.uid) == 0);
    const Result<Exit> exit = started.running.finish();
    REQUIRE(exit);
    CHECK(exit->signalled);
    CHECK(exit->code == SIGKILL);
    CHECK_FALSE(exit->out_of_memory);
    ::close(started.output_fd);
  }
}

TEST_CASE("daemons do not outlive the program") {
  if (!can_start_sandboxes()) return;
  for (const CgroupMode mode : modes()) {
    CAPTURE(static_cast<int>(mode));
    Spec spec =
        shell("(setsid sleep 1000 <&- >&- 2>&- &) ; (setsid sleep 1000 <&- >&- 2>&- &); exit 5");
    spec.uid = spec.gid = test_uid(11 + static_cast<unsigned>(mode));
    CHECK(run_with(spec, mode).exit.code == 5);
    CHECK(processes_of(spec.uid) == 0);
  }
}

TEST_CASE("a storm of forks is bounded, and ended while it rages") {
  if (!can_start_sandboxes()) return;
  for (const CgroupMode mode : modes()) {
    // The v2 tree alone has no such limit on a machine that keeps it beside v1.
    if (mode == CgroupMode::kV2 && detect_cgroups() == CgroupMode::kHybrid) continue;
    if (mode != CgroupMode::kNone && !limits_processes()) continue;
    CAPTURE(static_cast<int>(mode));
    Spec spec = hostile("survivors", {"storm"});
    spec.uid = spec.gid = test_uid(21 + static_cast<unsigned>(mode));
    spec.processes = 100;
    Started started = start_printing(spec, mode);
    CHECK(read_line(started.output_fd) == "ready");
    CHECK(processes_of(spec.uid) <= 101);
    CHECK(started.running.kill_tree(kPatience_ms));
    CHECK(processes_of(spec.uid) == 0);
    CHECK(started.running.finish());
    ::close(started.output_fd);
    spec.argv = {"/hostile/survivors", "fork"};
    spec.id += "-count";
    const Outcome outcome = run_with(spec, mode);
    CHECK(std::stoi(outcome.output) <= 99);
    CHECK(std::stoi(outcome.output) >= 90);
  }
}

TEST_CASE("eating more memory than its ceiling is told apart from a kill") {
  if (!can_start_sandboxes() || !limits_memory()) return;
  Spec spec = hostile("survivors", {"eat", "200"});
  spec.memory_bytes = 64 << 20;
  const Outcome outcome = run(spec);
  CHECK(outcome.exit.signalled);
  CHECK(outcome.exit.code == SIGKILL);
  CHECK(outcome.exit.out_of_memory);
  CHECK(outcome.exit.peak_memory_bytes <= 65 << 20);
  // Control: with room for it the same program ends well.
  spec.memory_bytes = 300 << 20;
  spec.id += "-control";
  CHECK(run(spec).output == "eaten\n");
}

TEST_CASE("a child that runs out of memory is named as the cause of its parent's failure") {
  if (!can_start_sandboxes() || !limits_memory()) return;
  Spec spec = hostile("survivors", {});
  spec.argv = {"/bin/sh", "-c", "/hostile/survivors eat 200; exit $?"};
  spec.memory_bytes = 64 << 20;
  const Outcome outcome = run(spec);
  CHECK(outcome.exit.code != 0);
  CHECK(outcome.exit.out_of_memory);
}

TEST_CASE("files in /tmp and /dev/shm are bounded together and charged to the job") {
  if (!can_start_sandboxes()) return;
  Spec spec = shell(
      "head -c 40M /dev/zero > /tmp/a; head -c 40M /dev/zero > /dev/shm/b; "
      "cat /tmp/a /dev/shm/b | wc -c");
  spec.tmp_bytes = 50 << 20;
  const Outcome outcome = run(spec);
  CHECK(outcome.output.find("No space left") != std::string::npos);
  if (!limits_memory()) return;
  spec = shell("head -c 100M /dev/zero > /tmp/a; echo survived");
  spec.memory_bytes = 32 << 20;
  CHECK(run(spec).exit.out_of_memory);
}

TEST_CASE("memory too small to start in is said so") {
  if (!can_start_sandboxes() || !limits_memory()) return;
  Spec spec = spec_of({"true"});
  spec.memory_bytes = 64 << 10;
  Result<Running> running = start(spec);
  if (running) {
    CHECK(running->finish()->out_of_memory);
  } else {
    CHECK(running.error().code == ErrorCode::kOverLimit);
    CHECK(running.error().message.find("memory") != std::string::npos);
  }
}

TEST_CASE("when the process that started it dies, the sandbox ends with it") {
  if (!can_start_sandboxes()) return;
  Spec spec = hostile("survivors", {"stay", "3"});
  spec.uid = spec.gid = test_uid(40);
  std::array<int, 2> ready{};
  REQUIRE(::pipe(ready.data()) == 0);
  const pid_t shim = ::fork();
  if (shim == 0) {
    ::close(ready[0]);
    spec.stdout_fd = ready[1];
    Result<Running> running = start(spec);
    ::close(ready[1]);
    if (!running) ::_exit(1);
    for (;;) ::pause();
  }
  ::close(ready[1]);
  CHECK(read_line(ready[0]) == "ready");
  CHECK(processes_of(spec.uid) == 5);
  ::kill(shim, SIGKILL);
  ::waitpid(shim, nullptr, 0);
  CHECK(end_left_over(spec.cgroup_parent, spec.id, kPatience_ms));
  CHECK(soon_without_processes(spec.uid));
  CHECK(end_left_over(spec.cgroup_parent, spec.id, 0));
  // The pipe closes when the last process that holds it is gone.
  CHECK(read_line(ready[0]).empty());
  ::close(ready[0]);
}

TEST_CASE("pipes, sockets and watches without end stop at a limit of the job, not of the machine") {
  if (!can_start_sandboxes()) return;
  Spec spec = python(
      "import os, socket\n"
      "held = []\n"
      "try:\n"
      "  while True: held.append(os.pipe() + tuple(s.detach() for s in socket.socketpair()))\n"
      "except OSError as e: print(e.errno, len(held) > 50)\n");
  spec.open_files = 512;
  CHECK(run(spec).output == "24 True\n");
}

}  // namespace heddle::sandbox
