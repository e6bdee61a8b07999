// What the local engine promises beyond the conformance suite, with real programs.
#include <doctest/doctest.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "engine/conformance/bench.h"
#include "engine/local/testing/local_subject.h"
#include "shim/run_folder.h"

namespace heddle::local {
namespace {

using conformance::EngineBench;
using conformance::Story;

struct Local {
  std::shared_ptr<Machine> machine = std::make_shared<Machine>();
  EngineBench bench{local_subject(machine)};
};

std::vector<std::string> shell(const std::string& script) { return {"/bin/sh", "-c", script}; }
std::vector<std::string> python(const std::string& script) {
  return {"/usr/bin/python3", "-c", script};
}
bool isolates(Local& local) { return local.bench.engine().traits().isolates_jobs; }

// The process that watches over a run.
shim::ProcessIdentity shim_of(const Machine& machine, AllocationId id) {
  const shim::Fd folder = shim::open_folder(machine.runs() + "/" + id.text());
  const auto bytes = shim::read_file(folder.get(), "pid", 4096);
  REQUIRE(bytes);
  return *shim::ProcessIdentity::parse(*bytes);
}

// Child processes of this test: the spawners.
std::vector<pid_t> children() {
  const std::string self = std::to_string(getpid());
  std::ifstream file{"/proc/" + self + "/task/" + self + "/children"};
  return {std::istream_iterator<pid_t>{file}, {}};
}

}  // namespace

TEST_CASE("the ranks of a gang find each other by name and talk over TCP") {
  Local local;
  local.bench.attach();
  if (!isolates(local)) return;
  const std::string script =
      "import os, socket, sys\n"
      "rank = int(os.environ['RANK']); size = int(os.environ['WORLD_SIZE'])\n"
      "own = socket.gethostbyname(socket.gethostname())\n"
      "port = int(os.environ['MASTER_PORT'])\n"
      "other = socket.create_server((own, 7000))\n"  // equal ports of all replicas do not collide
      "if rank == 0:\n"
      "  server = socket.create_server((os.environ['MASTER_ADDR'], port))\n"
      "  open('ready', 'w').close()\n"
      "  total = 0\n"
      "  for _ in range(size - 1):\n"
      "    peer, _ = server.accept(); total += int(peer.recv(16))\n"
      "  print(total)\n"
      "else:\n"
      "  while True:\n"
      "    try: peer = socket.create_connection((os.environ['MASTER_ADDR'], port)); break\n"
      "    except ConnectionRefusedError: pass\n"
      "  peer.send(str(rank * 10).encode())\n";
  std::vector<StartOrder> gang;
  for (std::int64_t replica = 0; replica < 3; ++replica) {
    StartOrder order = local.bench.order(python(script));
    if (replica > 0) order.workload = gang[0].workload;
    order.workload_name = "gang";
    order.replica = replica;
    order.replicas = 3;
    order.replica_nodes = {"sim-1", "sim-1", "sim-1"};
    gang.push_back(order);
  }
  local.bench.engine().start(gang);
  for (const StartOrder& order : gang) {
    REQUIRE(local.bench.wait_released(order.allocation));
    CHECK(local.bench.story(order.allocation).end.exit_code == 0);
  }
  CHECK(local.bench.output(gang[0]) == "30\n");
  // Its network goes with its last replica.
  const std::string nets = local.machine->options.runtime_folder + "/nets";
  CHECK(local.bench.wait([&] { return std::filesystem::is_empty(nets); }));
}

TEST_CASE("procs_per_node starts several ranks in one sandbox; the first failure ends them") {
  Local local;
  local.bench.attach();
  StartOrder order =
      local.bench.order(shell("echo $RANK/$WORLD_SIZE local $LOCAL_RANK/$LOCAL_WORLD_SIZE"));
  order.procs_per_node = 3;
  order.replica = 1;
  StartOrder fails =
      local.bench.order(shell("if [ $LOCAL_RANK = 1 ]; then exit 9; fi; exec sleep 1000"));
  fails.procs_per_node = 2;
  local.bench.engine().start({order, fails});
  REQUIRE(local.bench.wait_released(order.allocation));
  const std::string output = local.bench.output(order);
  for (const char* line : {"3/3 local 0/3\n", "4/3 local 1/3\n", "5/3 local 2/3\n"})
    CHECK(output.find(line) != std::string::npos);
  REQUIRE(local.bench.wait_released(fails.allocation));
  CHECK(local.bench.story(fails.allocation).end.exit_code == 9);
}

TEST_CASE("when the shim is killed, its job is ended and reported lost") {
  Local local;
  local.bench.attach();
  // Ignores what can be ignored, leaves its session, and keeps a file open that we can watch.
  const StartOrder order = local.bench.order(
      shell("trap '' TERM HUP; (setsid sh -c 'echo there; exec sleep 1000') & exec sleep 1000"));
  local.bench.start(order);
  REQUIRE(local.bench.wait_running(order.allocation));
  const LogQuery query{order.workload, 1, 0, {}, 0, 1024};
  REQUIRE(local.bench.wait([&] {
    const auto page = local.bench.engine().read_log(query);
    return page && !page->lines.empty();
  }));
  const shim::Fd folder = shim::open_folder(local.machine->runs() + "/" + order.allocation.text());
  const std::string running = *shim::read_file(folder.get(), "running", 4096);
  REQUIRE(kill(shim_of(*local.machine, order.allocation).pid, SIGKILL) == 0);
  REQUIRE(local.bench.wait_released(order.allocation));
  const Story& story = local.bench.story(order.allocation);
  CHECK(story.order == "arex");
  CHECK(story.end.cause == EndCause::kLost);
  CHECK_FALSE(story.end.message.empty());
  const auto page = local.bench.engine().read_log(query);
  REQUIRE(page);
  CHECK(page->finished);
  // Nothing of it is left when it is reported released.
  const std::string process = running.substr(running.find("heddle process"));
  const auto first = shim::ProcessIdentity::parse(process.substr(0, process.find("end\n") + 4));
  REQUIRE(first);
  const shim::Fd left = shim::open_process(*first);
  CHECK((!left.is_open() || shim::has_ended(left.get())));
}

TEST_CASE("a shim killed while the server was away is found out at the next start") {
  Local local;
  local.bench.attach();
  const StartOrder order = local.bench.order(local.bench.command(-1, 0));
  local.bench.start(order);
  REQUIRE(local.bench.wait_running(order.allocation));
  local.bench.end_server();
  REQUIRE(kill(shim_of(*local.machine, order.allocation).pid, SIGKILL) == 0);
  local.bench.attach({EngineBench::ledger_row(order, AllocationState::kRunning)});
  REQUIRE(local.bench.wait_released(order.allocation));
  CHECK(local.bench.story(order.allocation).end.cause == EndCause::kLost);
}

TEST_CASE("a killed spawner is replaced, and its shims do not notice") {
  Local local;
  local.bench.attach();
  const StartOrder before = local.bench.order(local.bench.command(-1, 0));
  local.bench.start(before);
  REQUIRE(local.bench.wait_running(before.allocation));
  REQUIRE(children().size() == 1);
  REQUIRE(kill(children().front(), SIGKILL) == 0);
  const StartOrder after = local.bench.order(local.bench.command(1, 4));
  local.bench.start(after);
  REQUIRE(local.bench.wait_released(after.allocation));
  CHECK(local.bench.story(after.allocation).end.exit_code == 4);
  CHECK(local.bench.story(before.allocation).ended == 0);
  local.bench.engine().stop(before.allocation, Duration{});
  CHECK(local.bench.wait_released(before.allocation));
}

TEST_CASE("a flood of output, with newlines or without, stays within its bounds") {
  Local local;
  local.machine->options.log_segment_bytes = 1 << 20;
  local.bench.attach();
  const StartOrder order =
      local.bench.order(shell("head -c 20000000 /dev/zero; i=0; while [ $i -lt 20000 ]; do echo "
                              "line $i; i=$((i+1)); done"));
  local.bench.start(order);
  REQUIRE(local.bench.wait_released(order.allocation));
  CHECK(local.bench.story(order.allocation).end.exit_code == 0);
  std::int64_t kept = 0;
  const std::string logs = local.machine->options.state_folder + "/local/logs";
  for (const auto& entry : std::filesystem::recursive_directory_iterator{logs})
    if (entry.is_regular_file()) kept += static_cast<std::int64_t>(entry.file_size());
  CHECK(kept <= 2 * (1 << 20) + 2 * 400'000);
  const LogQuery from_start{order.workload, 1, 0, {0, 24}, 0, 4096};
  const auto page = local.bench.engine().read_log(from_start);
  REQUIRE(page);
  CHECK(page->skipped);
  LogQuery tail = from_start;
  tail.tail = 1;
  const auto last = local.bench.engine().read_log(tail);
  REQUIRE(last);
  REQUIRE(last->lines.size() == 1);
  CHECK(last->lines[0].text == "line 19999");
}

TEST_CASE("a prompt without newline is shown while the program waits") {
  Local local;
  local.bench.attach();
  const StartOrder order = local.bench.order(shell("printf 'Continue? '; exec sleep 1000"));
  local.bench.start(order);
  const LogQuery query{order.workload, 1, 0, {}, 0, 4096};
  CHECK(local.bench.wait([&] {
    const auto page = local.bench.engine().read_log(query);
    return page && page->lines.size() == 1 && page->lines[0].partial &&
           page->lines[0].text == "Continue? ";
  }));
  local.bench.engine().stop(order.allocation, Duration{});
  CHECK(local.bench.wait_released(order.allocation));
}

TEST_CASE("passing the memory ceiling is told apart from other ends") {
  Local local;
  local.bench.attach();
  if (!local.bench.engine().traits().limits_memory) return;
  for (const bool simulated : {false, true}) {
    CAPTURE(simulated);
    StartOrder order = local.bench.order(python("x = b'x' * (192 << 20); print('survived')"));
    order.simulated = simulated;
    if (!simulated) order.devices.clear();
    order.memory_bytes = 64 << 20;
    local.bench.start(order);
    REQUIRE(local.bench.wait_released(order.allocation));
    CHECK(local.bench.story(order.allocation).end.cause == EndCause::kOutOfMemory);
  }
}

TEST_CASE("attempts share the working folder, teams' folders are closed to others") {
  Local local;
  local.bench.attach();
  StartOrder first = local.bench.order(shell("echo kept > note; echo team > $HEDDLE_SHARED/note"));
  local.bench.start(first);
  REQUIRE(local.bench.wait_released(first.allocation));
  StartOrder second = first;
  second.allocation = local.bench.order({}).allocation;
  second.attempt = 2;
  second.command =
      shell("cat note $HEDDLE_SHARED/note; id -u; ls /root /home /var/lib 2>/dev/null");
  local.bench.start(second);
  REQUIRE(local.bench.wait_released(second.allocation));
  const std::string output = local.bench.output(second);
  CHECK(output.starts_with("kept\nteam\n"));
  if (isolates(local)) CHECK(output == "kept\nteam\n268632064\n");
  struct stat facts {};
  const std::string work =
      local.machine->options.state_folder + "/local/teams/tm_7/work/" + first.workload.text();
  REQUIRE(stat(work.c_str(), &facts) == 0);
  CHECK((facts.st_mode & 0777) == 0700);
  if (geteuid() == 0) CHECK(facts.st_uid == 268632064);
}

TEST_CASE("links left in the working folder lead no file of an order astray") {
  Local local;
  local.bench.attach();
  const shim::ScratchFolder outside;
  StartOrder first =
      local.bench.order(shell("ln -s " + outside.path() + " data; ln -s /etc/passwd a"));
  local.bench.start(first);
  REQUIRE(local.bench.wait_released(first.allocation));
  StartOrder second = first;
  second.allocation = local.bench.order({}).allocation;
  second.attempt = 2;
  second.files = {{"data/x", std::make_shared<const std::string>("bytes"), false}};
  StartOrder third = second;
  third.allocation = local.bench.order({}).allocation;
  third.attempt = 3;
  third.command = shell("cat a");
  third.files = {{"a", std::make_shared<const std::string>("replaced"), false}};
  local.bench.engine().start({second, third});
  REQUIRE(local.bench.wait_released(second.allocation));
  CHECK(local.bench.story(second.allocation).end.cause == EndCause::kStartFailed);
  CHECK(std::filesystem::is_empty(outside.path()));
  REQUIRE(local.bench.wait_released(third.allocation));
  CHECK(local.bench.output(third) == "replaced\n");
}

TEST_CASE("without isolation nothing starts unless the operator allowed it") {
  Local local;
  local.machine->options.shim_path = "/no/such/shim";
  auto broken = make_local_engine(local.machine->options);
  CHECK_FALSE(broken->connect(1, {}).has_value());
  CHECK_FALSE(broken->traits().isolates_jobs);
  CHECK_FALSE(broken->traits().notes.empty());
}

}  // namespace heddle::local
