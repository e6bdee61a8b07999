#include "sandbox/network.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <net/if.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>
#include <string>

#include "base/check.h"
#include "sandbox/descriptor.h"
#include "sandbox/failure.h"
#include "sandbox/sandbox.h"

namespace heddle::sandbox {

Result<Done> raise_loopback() {
  const Descriptor socket{::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0)};
  if (!socket.is_open()) return failure("open the sandbox's network");
  ifreq request{};
  std::memcpy(request.ifr_name, "lo", 3);
  request.ifr_flags = IFF_UP | IFF_RUNNING;
  if (::ioctl(socket.get(), SIOCSIFFLAGS, &request) != 0)
    return failure("bring up the sandbox's network");
  return Done{};
}

Result<Done> join_network(const std::string& path) {
  const Descriptor pinned{::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW)};
  struct statfs info {};
  if (!pinned.is_open() || ::fstatfs(pinned.get(), &info) != 0)
    return failure("join the network of the gang", ErrorCode::kNotFound);
  if (info.f_type != NSFS_MAGIC)
    return Error{ErrorCode::kNotFound, "cannot join the network of the gang: it is gone"};
  if (::setns(pinned.get(), CLONE_NEWNET) != 0) return failure("join the network of the gang");
  return Done{};
}

Result<Done> join_network(int network_fd) {
  struct statfs info {};
  if (::fstatfs(network_fd, &info) != 0 || info.f_type != NSFS_MAGIC ||
      ::setns(network_fd, CLONE_NEWNET) != 0)
    return failure("join the network that was kept for it");
  return Done{};
}

int open_network(pid_t pid) {
  const std::string path = "/proc/" + std::to_string(pid) + "/ns/net";
  return ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
}

namespace {

// "TCP: inuse 0 orphan 0 tw 0 ...": every number of sockets of the calling thread's network must
// be 0. `mem` and `alloc` count for the whole machine.
bool no_sockets_in(const char* path) {
  std::ifstream file{path};
  std::string kind, word;
  std::int64_t number = 0;
  for (std::string line; std::getline(file, line);) {
    std::istringstream words{line};
    words >> kind;
    if (kind == "sockets:") continue;
    while (words >> word >> number)
      if ((word == "inuse" || word == "tw") && number != 0) return false;
  }
  return !kind.empty();
}

}  // namespace

bool network_is_unused(int network_fd) {
  const Descriptor own{::open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC)};
  if (!own.is_open() || !join_network(network_fd)) return false;
  const bool unused = no_sockets_in("/proc/thread-self/net/sockstat") &&
                      no_sockets_in("/proc/thread-self/net/sockstat6");
  HEDDLE_CHECK(::setns(own.get(), CLONE_NEWNET) == 0);
  return unused;
}

Result<Done> pin_network(const std::string& path) {
  const Descriptor own{::open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC)};
  const Descriptor file{::open(path.c_str(), O_RDONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600)};
  if (!own.is_open() || !file.is_open()) return failure("make the network of the gang");
  if (::unshare(CLONE_NEWNET) != 0) {
    const Error error = failure("make the network of the gang");
    ::unlink(path.c_str());
    return error;
  }
  Result<Done> done = raise_loopback();
  if (done && ::mount("/proc/thread-self/ns/net", path.c_str(), nullptr, MS_BIND, nullptr) != 0)
    done = failure("keep the network of the gang");
  // A thread that stayed in the new network would go on as if the machine had none.
  HEDDLE_CHECK(::setns(own.get(), CLONE_NEWNET) == 0);
  if (!done) ::unlink(path.c_str());
  return done;
}

void unpin_network(const std::string& path) {
  ::umount2(path.c_str(), MNT_DETACH | UMOUNT_NOFOLLOW);
  ::unlink(path.c_str());
}

}  // namespace heddle::sandbox
