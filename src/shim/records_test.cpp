#include <doctest/doctest.h>
#include <sys/socket.h>

#include <array>
#include <string>

#include "base/rng.h"
#include "shim/exit_record.h"
#include "shim/frame.h"
#include "shim/order.h"
#include "shim/record.h"
#include "shim/run_folder.h"
#include "shim/spawner.h"

namespace heddle::shim {
namespace {

Order an_order() {
  Order order;
  order.identity = {42, 3, 7, "00112233445566778899aabbccddeeff"};
  order.anchor_instant_ms = 1'700'000'000'000;
  order.anchor_boot_ms = 5'000;
  order.log_folder = "/state/logs/wl_1/3.0";
  order.program.id = "al_1a-0";
  order.program.argv = {"/bin/echo", "two\nlines", std::string("nul\0byte", 8), ""};
  order.program.env = {"A=1", "B=\xff\xfe"};
  order.program.workdir = "/work";
  order.program.uid = 268435456;
  order.program.gid = 268435456;
  order.program.home = "/work";
  order.program.mounts = {{"/state/teams/tm_1/work/wl_1", "/work", true}, {"/opt", "/opt", false}};
  order.program.devices = {{"/dev/nvidia3", "/dev/nvidia3"}};
  order.program.hosts = {{"train-0", "127.0.1.1"}, {"train-1", "127.0.1.2"}};
  order.program.join_network = "/state/nets/wl_1.3";
  order.program.memory_bytes = 1LL << 40;
  return order;
}

ExitRecord an_exit() {
  ExitRecord exit;
  exit.allocation = 0xffff'ffff'ffff'fff0;
  exit.attempt = 3;
  exit.cause = ExitRecord::Cause::kSignalled;
  exit.signal = 9;
  exit.message = "a sentence\n";
  exit.running_at_ms = 1;
  exit.ended_at_ms = 2;
  exit.released_at_ms = 3;
  exit.cpu_ms = 4;
  exit.peak_memory_bytes = 5;
  return exit;
}

// Whatever is done to the bytes, parsing gives an answer, and what it accepts prints as it came.
template <class Parse>
void survives_damage(const std::string& good, Parse parse) {
  for (std::size_t cut = 0; cut < good.size(); ++cut)
    CHECK_FALSE(parse(good.substr(0, cut)).has_value());
  CHECK_FALSE(parse(good + "x").has_value());
  for (std::uint64_t seed = 1; seed <= 2'000; ++seed) {
    CAPTURE(seed);
    Rng rng{seed};
    std::string bytes = good;
    for (std::int64_t changes = rng.between(1, 4); changes > 0; --changes) {
      const auto at =
          static_cast<std::size_t>(rng.between(0, static_cast<std::int64_t>(bytes.size()) - 1));
      if (rng.one_in(3))
        bytes.erase(at, static_cast<std::size_t>(rng.between(1, 9)));
      else if (rng.one_in(2))
        bytes.insert(at, 1, static_cast<char>(rng.between(0, 255)));
      else
        bytes[at] = static_cast<char>(rng.between(0, 255));
      if (bytes.empty()) break;
    }
    const auto parsed = parse(bytes);
    if (parsed) CHECK(parse(parsed->encode()).has_value());
  }
}

}  // namespace

TEST_CASE("an order, an exit and a frame come back as they were written") {
  const Order order = an_order();
  const Result<Order> read = Order::parse(order.encode());
  REQUIRE(read);
  CHECK(read->encode() == order.encode());
  CHECK(read->identity == order.identity);
  CHECK(read->program.argv == order.program.argv);
  CHECK(read->program.hosts == order.program.hosts);
  CHECK(read->program.mounts[0].writable);
  CHECK_FALSE(read->program.mounts[1].writable);

  const Result<ExitRecord> exit = ExitRecord::parse(an_exit().encode());
  REQUIRE(exit);
  CHECK(*exit == an_exit());

  Frame frame{Frame::Type::kEnded, order.identity, 30'000, 12, an_exit().encode()};
  const Result<Frame> got = Frame::parse(frame.encode());
  REQUIRE(got);
  CHECK(*got == frame);
}

TEST_CASE("damaged orders, exits, frames and requests are refused, never trusted") {
  survives_damage(an_order().encode(), [](std::string_view b) { return Order::parse(b); });
  survives_damage(an_exit().encode(), [](std::string_view b) { return ExitRecord::parse(b); });
  const Frame frame{Frame::Type::kStop, an_order().identity, 1, 2, ""};
  survives_damage(frame.encode(), [](std::string_view b) { return Frame::parse(b); });
  const SpawnRequest request{{{"/runs/al_1", "", 7}, {"/runs/al_2", "/nets/a", 7}}, {"/nets/b"}};
  survives_damage(request.encode(), [](std::string_view b) { return SpawnRequest::parse(b); });
}

TEST_CASE("numbers outside their range and records of another version are refused") {
  ExitRecord exit = an_exit();
  exit.exit_code = 256;
  CHECK_FALSE(ExitRecord::parse(exit.encode()).has_value());
  exit = an_exit();
  exit.cpu_ms = -1;
  CHECK_FALSE(ExitRecord::parse(exit.encode()).has_value());
  Order order = an_order();
  order.program.argv.clear();
  CHECK_FALSE(Order::parse(order.encode()).has_value());
  CHECK_FALSE(Record::parse(Record{}.encode("exit", 2), "exit", 1).has_value());
  CHECK_FALSE(Record::parse("heddle exit 1\na 99999999999999999999\n", "exit", 1).has_value());
  CHECK_FALSE(Record::parse(std::string(Record::kMaxBytes + 1, 'x'), "exit", 1).has_value());
}

TEST_CASE("a socket carries frames and reports garbage and the end as closed") {
  std::array<int, 2> pair{};
  REQUIRE(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair.data()) == 0);
  Fd left{pair[0]};
  const Fd right{pair[1]};
  Frame frame;
  CHECK(receive_frame(right.get(), frame) == Receipt::kNothing);
  const Frame sent{Frame::Type::kRunning, an_order().identity, 0, 77, ""};
  CHECK(send_frame(left.get(), sent));
  REQUIRE(receive_frame(right.get(), frame) == Receipt::kFrame);
  CHECK(frame == sent);
  CHECK(send(left.get(), "garbage", 7, 0) == 7);
  CHECK(receive_frame(right.get(), frame) == Receipt::kClosed);
  const std::string large(Frame::kMaxBytes + 1, 'x');
  CHECK(send(left.get(), large.data(), large.size(), 0) > 0);
  CHECK(receive_frame(right.get(), frame) == Receipt::kClosed);
  left.reset();
  CHECK(receive_frame(right.get(), frame) == Receipt::kClosed);
  CHECK_FALSE(send_frame(right.get(), sent));
}

}  // namespace heddle::shim
