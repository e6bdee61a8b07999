// A server that is killed at any moment: nothing is lost, nothing runs twice.
#include <doctest/doctest.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "base/rng.h"
#include "engine/conformance/bench.h"
#include "engine/local/testing/local_subject.h"

namespace heddle::local {
namespace {

using conformance::EngineBench;

std::vector<Allocation> rows(const std::vector<StartOrder>& orders) {
  std::vector<Allocation> live;
  for (const StartOrder& order : orders)
    live.push_back(EngineBench::ledger_row(order, AllocationState::kSent));
  return live;
}

// A server that takes over, orders everything again, as control does, and is killed after `us`.
void serve_until_killed(const Machine& machine, const std::vector<StartOrder>& orders,
                        std::int64_t epoch, std::int64_t us) {
  const pid_t server = fork();
  if (server == 0) {
    auto engine = make_local_engine(machine.options);
    if (!engine->connect(epoch, rows(orders))) _exit(1);
    engine->start(orders);
    for (;;) pause();
  }
  REQUIRE(server > 0);
  // Waits for nothing that comes; only so that the moments differ.
  timespec moment{0, us * 1000};
  ppoll(nullptr, 0, &moment, nullptr);
  kill(server, SIGKILL);
  REQUIRE(waitpid(server, nullptr, 0) == server);
}

}  // namespace

TEST_CASE("however often the server is killed, every job runs exactly once") {
  for (std::uint64_t seed = 1; seed <= 12; ++seed) {
    CAPTURE(seed);
    Rng rng{seed};
    auto machine = std::make_shared<Machine>();
    EngineBench bench{local_subject(machine)};
    std::vector<StartOrder> orders;
    for (int i = 0; i < 8; ++i)
      orders.push_back(bench.order({"/bin/sh", "-c", "echo ran >> times"}));
    for (std::int64_t epoch = 1; epoch <= 3; ++epoch)
      serve_until_killed(*machine, orders, epoch, rng.between(1, rng.one_in(2) ? 40'000 : 150'000));
    bench.attach(rows(orders), 4);
    bench.engine().start(orders);
    for (const StartOrder& order : orders) {
      REQUIRE(bench.wait_released(order.allocation));
      CHECK(bench.story(order.allocation).end.cause == EndCause::kExited);
      std::ifstream times{machine->options.state_folder + "/local/teams/tm_7/work/" +
                          order.workload.text() + "/times"};
      const std::string text{std::istreambuf_iterator<char>{times}, {}};
      CHECK(text == "ran\n");
    }
  }
}

}  // namespace heddle::local
