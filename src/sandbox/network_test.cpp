#include "sandbox/network.h"

#include <arpa/inet.h>
#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>

#include "sandbox/cgroup.h"
#include "sandbox/run_in_test.h"
#include "sandbox/start.h"

namespace heddle::sandbox {
namespace {

// Listens on `address` with a port of the system's choice, prints it, answers one caller.
std::string listener(const std::string& address) {
  return "import socket\n"
         "s = socket.create_server(('" +
         address +
         "', 0))\n"
         "print(s.getsockname()[1], flush=True)\n"
         "c, who = s.accept(); c.sendall(b'hello from " +
         address + "'); c.close()";
}

std::string caller(const std::string& address, const std::string& port) {
  return "import socket\n"
         "try: print(socket.create_connection(('" +
         address + "', " + port +
         "), 5).recv(99).decode())\n"
         "except OSError as e: print('refused')";
}

}  // namespace

TEST_CASE("a sandbox reaches neither the host nor another sandbox") {
  if (!can_start_sandboxes()) return;
  const int server = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = ::htonl(INADDR_LOOPBACK);
  REQUIRE(::bind(server, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0);
  REQUIRE(::listen(server, 5) == 0);
  socklen_t size = sizeof address;
  REQUIRE(::getsockname(server, reinterpret_cast<sockaddr*>(&address), &size) == 0);
  // Control: from the host itself it answers.
  const int client = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  CHECK(::connect(client, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0);
  ::close(client);
  CHECK(run(python(caller("127.0.0.1", std::to_string(::ntohs(address.sin_port))))).output ==
        "refused\n");
  ::close(server);

  Started other = start_printing(python(listener("127.0.0.1")), detect_cgroups());
  const std::string port = read_line(other.output_fd);
  CHECK(run(python(caller("127.0.0.1", port))).output == "refused\n");
  ::close(other.output_fd);
  CHECK(run(shell("ls /sys/class/net 2>/dev/null; grep -c : /proc/net/dev")).output == "1\n");
}

TEST_CASE("sandboxes of a gang share a network, each on an address of its own") {
  if (!can_start_sandboxes()) return;
  const TestFolder folder;
  const std::string first = folder.path("first"), second = folder.path("second");
  REQUIRE(pin_network(first));
  REQUIRE(pin_network(second));
  CHECK_FALSE(pin_network(first));
  // We ourselves are still in the host's network.
  Spec spec = python(listener("127.0.3.7"));
  spec.join_network = first;
  Started rank0 = start_printing(spec, detect_cgroups());
  const std::string port = read_line(rank0.output_fd);
  // Another gang does not see it; equal ports on another address do not collide.
  Spec stranger = python(caller("127.0.3.7", port));
  stranger.join_network = second;
  CHECK(run(stranger).output == "refused\n");
  Spec neighbour =
      python("import socket\nsocket.create_server(('127.0.3.8', " + port + "))\nprint('bound')");
  neighbour.join_network = first;
  CHECK(run(neighbour).output == "bound\n");
  Spec rank1 = python(caller("rank-0", port));
  rank1.join_network = first;
  rank1.hosts = {{"rank-0", "127.0.3.7"}};
  CHECK(run(rank1).output == "hello from 127.0.3.7\n");
  CHECK(rank0.running.finish());
  ::close(rank0.output_fd);
  unpin_network(first);
  unpin_network(second);
  CHECK(::access(first.c_str(), F_OK) != 0);
  Result<Running> late = start(rank1);
  REQUIRE_FALSE(late);
  CHECK(late.error().code == ErrorCode::kNotFound);
}

TEST_CASE("a network that was left empty serves the next sandbox, one with traces does not") {
  if (!can_start_sandboxes()) return;
  // What a connection leaves behind: the side that closed first still waits for strays.
  const std::string traces =
      "import socket\ns = socket.create_server(('127.0.0.1', 0))\n"
      "c = socket.create_connection(s.getsockname())\np, _ = s.accept()\n"
      "p.close(); c.close()\nprint('done', flush=True)\ninput()";
  for (const bool leaves_traces : {false, true}) {
    CAPTURE(leaves_traces);
    Spec first = python(leaves_traces ? traces : "print('done', flush=True)\ninput()");
    std::array<int, 2> input{};
    REQUIRE(::pipe2(input.data(), O_CLOEXEC) == 0);
    first.stdin_fd = input[0];
    Started started = start_printing(first, detect_cgroups());
    CHECK(read_line(started.output_fd) == "done");
    const int network = open_network(started.running.pid());
    REQUIRE(network >= 0);
    ::close(input[1]);
    ::close(input[0]);
    CHECK(started.running.kill_tree(5000));
    CHECK(started.running.finish());
    ::close(started.output_fd);
    CHECK(network_is_unused(network) == !leaves_traces);
    Spec second = python(
        "import socket\nsocket.create_server(('127.9.9.9', 29500))\n"
        "print(open('/proc/net/dev').read().count(':'))");
    second.network_fd = network;
    CHECK(run(second).output == "1\n");
    ::close(network);
  }
}

TEST_CASE("a plain file is no network to join") {
  if (!can_start_sandboxes()) return;
  Spec spec = spec_of({"true"});
  spec.join_network = "/etc/hostname";
  Result<Running> running = start(spec);
  REQUIRE_FALSE(running);
  CHECK(running.error().code == ErrorCode::kNotFound);
}

}  // namespace heddle::sandbox
