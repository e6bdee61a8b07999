#include "shim/spawner.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/statfs.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>

#include "shim/networks.h"
#include "shim/record.h"
#include "shim/supervise.h"

namespace heddle::shim {
namespace {

// A pin left by an earlier spawner counts, an empty file left by a crash in between does not.
void ensure_network(const std::string& path) {
  struct statfs facts {};
  if (statfs(path.c_str(), &facts) == 0 && facts.f_type == NSFS_MAGIC) return;
  unlink(path.c_str());
  // When it fails, so does the start that joins it, with a sentence.
  (void)sandbox::pin_network(path).has_value();
}

// What stays the same from request to request.
struct Spawner {
  int server;       // requests come from here
  Fd networks_in;   // unused networks come back here,
  Fd networks_out;  // from the shims, which share this end
  Networks networks;
  std::vector<char> buffer = std::vector<char>(SpawnRequest::kMaxBytes);
};

// Places `from` at `to`; none where there is none.
void place(int from, int to) {
  if (from >= 0) dup3(from, to, O_CLOEXEC);
}

// fork() is cheap here: this process is small and has one thread. The child is the shim.
void start_shim(Spawner& spawner, const SpawnRun& run, int connection) {
  if (!run.network.empty()) ensure_network(run.network);
  const Fd network = run.network.empty() ? spawner.networks.take(run.uid) : Fd{};
  const pid_t pid = fork();
  if (pid != 0) return;  // also when it failed: the connection closes, and the server sees that
  setsid();
  prctl(PR_SET_NAME, "heddle-shim", 0, 0, 0);
  // First out of the way of each other, then to their places.
  constexpr int kAside = 100;
  const int there = fcntl(connection, F_DUPFD_CLOEXEC, kAside);
  const int unused = network.is_open() ? fcntl(network.get(), F_DUPFD_CLOEXEC, kAside) : -1;
  const int back = fcntl(spawner.networks_out.get(), F_DUPFD_CLOEXEC, kAside);
  close_range(3, kAside - 1, 0);
  place(there, 3);
  place(unused, 4);
  place(back, 5);
  close_range(6, ~0U, 0);
  _exit(supervise(run.run_folder, Fd{3}, Fd{unused >= 0 ? 4 : -1}, Fd{back >= 0 ? 5 : -1}));
}

// One request with its connections; false when the server is gone.
bool serve_one(Spawner& spawner) {
  std::vector<char>& buffer = spawner.buffer;
  iovec part{buffer.data(), buffer.size()};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(SpawnRequest::kMaxRuns * sizeof(int))> control{};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  const ssize_t size = recvmsg(spawner.server, &message, MSG_CMSG_CLOEXEC);
  if (size < 0 && errno == EINTR) return true;
  if (size <= 0) return false;
  std::vector<Fd> connections;
  for (cmsghdr* head = CMSG_FIRSTHDR(&message); head != nullptr;
       head = CMSG_NXTHDR(&message, head)) {
    if (head->cmsg_level != SOL_SOCKET || head->cmsg_type != SCM_RIGHTS) continue;
    for (std::size_t at = 0; at < head->cmsg_len - CMSG_LEN(0); at += sizeof(int)) {
      int fd = -1;
      std::memcpy(&fd, CMSG_DATA(head) + at, sizeof fd);
      connections.emplace_back(fd);
    }
  }
  const Result<SpawnRequest> request =
      SpawnRequest::parse({buffer.data(), static_cast<std::size_t>(size)});
  if (!request || request->runs.size() != connections.size()) return true;
  for (const std::string& path : request->unpin) sandbox::unpin_network(path);
  for (std::size_t i = 0; i < connections.size(); ++i)
    start_shim(spawner, request->runs[i], connections[i].get());
  return true;
}

// 0, a user that has no networks, for anything that is no number.
std::int64_t parse_uid(std::string_view text) {
  std::int64_t uid = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), uid);
  return error == std::errc{} && end == text.data() + text.size() ? uid : 0;
}

}  // namespace

std::string SpawnRequest::encode() const {
  Record record;
  for (const SpawnRun& run : runs) {
    record.add("run_folder", run.run_folder);
    record.add("network", run.network);
    record.add("uid", std::to_string(run.uid));
  }
  for (const std::string& path : unpin) record.add("unpin", path);
  return record.encode("spawn", 1);
}

Result<SpawnRequest> SpawnRequest::parse(std::string_view bytes) {
  const Result<Record> record = Record::parse(bytes, "spawn", 1);
  if (!record) return record.error();
  RecordReader reader{*record};
  const auto folders = reader.list("run_folder", kMaxRuns);
  const auto networks = reader.list("network", kMaxRuns);
  const auto uids = reader.list("uid", kMaxRuns);
  SpawnRequest request;
  request.unpin = reader.list("unpin", kMaxRuns);
  if (!reader.ok()) return reader.error();
  if (folders.size() != networks.size() || folders.size() != uids.size())
    return Error{
        ErrorCode::kInvalidArgument, "This record is damaged: its lists do not match.", {}, {}, {}};
  for (std::size_t i = 0; i < folders.size(); ++i)
    request.runs.push_back({folders[i], networks[i], parse_uid(uids[i])});
  return request;
}

std::string encode_abilities(const sandbox::Abilities& abilities) {
  Record record;
  record.add_number("isolates", abilities.isolates() ? 1 : 0);
  record.add_number("limits_memory", abilities.limits_memory ? 1 : 0);
  record.add_number("limits_processes", abilities.limits_processes ? 1 : 0);
  for (const std::string& note : abilities.notes()) record.add("note", note);
  return record.encode("abilities", 1);
}

Result<FoundAbilities> parse_abilities(std::string_view bytes) {
  const Result<Record> record = Record::parse(bytes, "abilities", 1);
  if (!record) return record.error();
  RecordReader reader{*record};
  FoundAbilities found;
  found.isolates = reader.number("isolates", 0, 1) == 1;
  found.limits_memory = reader.number("limits_memory", 0, 1) == 1;
  found.limits_processes = reader.number("limits_processes", 0, 1) == 1;
  found.notes = reader.list("note", 64);
  if (!reader.ok()) return reader.error();
  return found;
}

int run_spawner(int socket, const std::string& cgroup_parent) {
  setsid();  // a Ctrl-C in the server's terminal is not for us
  prctl(PR_SET_NAME, "heddle-spawner", 0, 0, 0);
  const std::string found = encode_abilities(sandbox::probe(cgroup_parent));
  if (send(socket, found.data(), found.size(), MSG_NOSIGNAL) < 0) return 1;
  signal(SIGCHLD, SIG_IGN);  // shims that end here are nobody's to wait for
  std::array<int, 2> ends{-1, -1};
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()) != 0) return 1;
  Spawner spawner{socket, Fd{ends[0]}, Fd{ends[1]}, {}};
  for (;;) {
    std::array<pollfd, 2> sources{{{socket, POLLIN, 0}, {spawner.networks_in.get(), POLLIN, 0}}};
    if (poll(sources.data(), sources.size(), -1) < 0 && errno != EINTR) return 1;
    if (sources[1].revents != 0) receive_networks(spawner.networks_in.get(), spawner.networks);
    if (sources[0].revents != 0 && !serve_one(spawner)) return 0;
  }
}

}  // namespace heddle::shim
