#include "shim/networks.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <array>

namespace heddle::shim {
namespace {

// Any open file stands for a network here: which one it is shows by its inode.
Fd a_file() { return Fd{memfd_create("network", MFD_CLOEXEC)}; }
ino_t inode_of(const Fd& file) {
  struct stat found {};
  return fstat(file.get(), &found) == 0 ? found.st_ino : 0;
}

}  // namespace

TEST_CASE("a team gets networks that its own runs left, and nobody else's") {
  Networks networks;
  Fd first = a_file();
  const ino_t inode = inode_of(first);
  networks.put(7, std::move(first));
  CHECK_FALSE(networks.take(8).is_open());
  CHECK(inode_of(networks.take(7)) == inode);
  CHECK_FALSE(networks.take(7).is_open());
}

TEST_CASE("only so many networks are kept; the oldest go first") {
  Networks networks;
  networks.put(1, a_file());
  for (std::size_t n = 0; n < Networks::kMax; ++n) networks.put(2, a_file());
  CHECK(networks.size() == Networks::kMax);
  CHECK_FALSE(networks.take(1).is_open());
}

TEST_CASE("a network travels from a shim to the spawner with the team that it belongs to") {
  std::array<int, 2> ends{};
  REQUIRE(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()) == 0);
  const Fd in{ends[0]};
  const Fd out{ends[1]};
  const Fd network = a_file();
  send_network(out.get(), 9, network.get());
  const std::int64_t bare = 9;  // a packet without a network is passed over
  REQUIRE(send(out.get(), &bare, sizeof bare, 0) == sizeof bare);
  Networks networks;
  receive_networks(in.get(), networks);
  CHECK(networks.size() == 1);
  CHECK(inode_of(networks.take(9)) == inode_of(network));
}

}  // namespace heddle::shim
