#include "engine/local/spawner_link.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

namespace heddle::local {
namespace {

constexpr int kProbeWaitMs = 20'000;

Error failed(const std::string& why) {
  return {ErrorCode::kUnavailable,
          "The program that starts jobs could not be started: " + why + ".",
          {},
          {},
          "Check that heddle-shim lies where the server looks for it."};
}

// posix_spawn, because the server is big and has threads: fork() would copy its page tables.
int spawn(const std::string& path, const std::string& cgroup_parent, int socket, pid_t& pid) {
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  posix_spawn_file_actions_init(&actions);
  posix_spawnattr_init(&attributes);
  for (const int fd : {0, 1, 2})
    posix_spawn_file_actions_addopen(&actions, fd, "/dev/null", O_RDWR, 0);
  posix_spawn_file_actions_adddup2(&actions, socket, 3);
  sigset_t none;
  sigset_t all;
  sigemptyset(&none);
  sigfillset(&all);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setsigdefault(&attributes, &all);
  posix_spawnattr_setflags(&attributes,
                           POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSID);
  std::array<std::string, 3> words{path, "spawner", cgroup_parent};
  std::array<char*, 4> argv{words[0].data(), words[1].data(), words[2].data(), nullptr};
  // Nothing of the server's environment reaches a shim.
  std::string search = "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
  std::array<char*, 2> env{search.data(), nullptr};
  const int error = posix_spawn(&pid, path.c_str(), &actions, &attributes, argv.data(), env.data());
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  return error;
}

}  // namespace

SpawnerLink::SpawnerLink(std::string shim_path, std::string cgroup_parent)
    : shim_path_{std::move(shim_path)}, cgroup_parent_{std::move(cgroup_parent)} {}

SpawnerLink::~SpawnerLink() { drop(); }

void SpawnerLink::drop() {
  socket_.reset();
  if (pid_ > 0) waitpid(pid_, nullptr, 0);
  pid_ = -1;
}

Result<shim::FoundAbilities> SpawnerLink::start() {
  if (socket_.is_open()) return abilities_;
  std::array<int, 2> pair{};
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair.data()) != 0)
    return failed(std::strerror(errno));
  shim::Fd ours{pair[0]};
  shim::Fd theirs{pair[1]};
  // dup2 onto itself would keep close-on-exec; the number 3 may be anything in this process.
  if (theirs.get() == 3) theirs = shim::Fd{fcntl(theirs.get(), F_DUPFD_CLOEXEC, 10)};
  const int error = spawn(shim_path_, cgroup_parent_, theirs.get(), pid_);
  if (error != 0) {
    pid_ = -1;
    return failed(std::strerror(error));
  }
  theirs.reset();
  socket_ = std::move(ours);
  pollfd waiting{socket_.get(), POLLIN, 0};
  std::array<char, 16 * 1024> bytes;
  ssize_t size = 0;
  if (poll(&waiting, 1, kProbeWaitMs) == 1)
    size = recv(socket_.get(), bytes.data(), bytes.size(), 0);
  Result<shim::FoundAbilities> found =
      shim::parse_abilities({bytes.data(), size > 0 ? static_cast<std::size_t>(size) : 0});
  if (!found) {
    drop();
    return failed("it gave no answer");
  }
  abilities_ = *found;
  return found;
}

bool SpawnerLink::send(const shim::SpawnRequest& request, const std::vector<int>& connections) {
  if (!socket_.is_open()) return false;
  std::string bytes = request.encode();
  iovec part{bytes.data(), bytes.size()};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(shim::SpawnRequest::kMaxRuns * sizeof(int))>
      control{};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  if (!connections.empty()) {
    message.msg_control = control.data();
    message.msg_controllen = CMSG_SPACE(connections.size() * sizeof(int));
    cmsghdr* head = CMSG_FIRSTHDR(&message);
    head->cmsg_level = SOL_SOCKET;
    head->cmsg_type = SCM_RIGHTS;
    head->cmsg_len = CMSG_LEN(connections.size() * sizeof(int));
    std::memcpy(CMSG_DATA(head), connections.data(), connections.size() * sizeof(int));
  }
  ssize_t sent = 0;
  do {
    sent = sendmsg(socket_.get(), &message, MSG_NOSIGNAL);
  } while (sent < 0 && errno == EINTR);
  return sent == static_cast<ssize_t>(bytes.size());
}

}  // namespace heddle::local
