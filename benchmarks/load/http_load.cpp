#include "load/http_load.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace heddle::bench {
namespace {

using Clock = std::chrono::steady_clock;

[[noreturn]] void fail(const char* what) {
  std::perror(what);
  std::exit(1);
}

struct Connection {
  int fd = -1;
  Clock::time_point sent;
  std::string answer;
};

int connect_to(const LoadOptions& options) {
  const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_port = htons(options.port);
  ::inet_pton(AF_INET, options.host.c_str(), &to.sin_addr);
  // The kernel's interface wants this cast.
  if (fd < 0 || ::connect(fd, reinterpret_cast<const sockaddr*>(&to), sizeof to) != 0)
    fail("connect");
  const int on = 1;
  ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  return fd;
}

void send_all(Connection& connection, std::string_view bytes) {
  connection.sent = Clock::now();
  connection.answer.clear();
  while (!bytes.empty()) {
    const ssize_t n = ::send(connection.fd, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (n <= 0) fail("send");
    bytes.remove_prefix(static_cast<std::size_t>(n));
  }
}

// True once the whole answer is there: its head, and as many bytes as the head says.
bool whole(const std::string& answer) {
  const std::size_t head = answer.find("\r\n\r\n");
  if (head == std::string::npos) return false;
  std::string_view lines{answer.data(), head};
  for (const std::string_view name : {"Content-Length: ", "content-length: "}) {
    const std::size_t at = lines.find(name);
    if (at == std::string_view::npos) continue;
    std::size_t length = 0;
    std::from_chars(lines.data() + at + name.size(), lines.data() + lines.size(), length);
    return answer.size() >= head + 4 + length;
  }
  return true;
}

bool is_good(const std::string& answer) { return answer.starts_with("HTTP/1.1 2"); }

void read_some(Connection& connection) {
  char buffer[16384];
  const ssize_t n = ::recv(connection.fd, buffer, sizeof buffer, 0);
  if (n <= 0) fail("the server closed a connection");
  connection.answer.append(buffer, static_cast<std::size_t>(n));
}

}  // namespace

LoadResult run_load(const LoadOptions& options, const std::function<std::string(int)>& make) {
  LoadResult result;
  std::vector<Connection> connections(static_cast<std::size_t>(options.connections));
  const int epoll = ::epoll_create1(EPOLL_CLOEXEC);
  for (std::size_t i = 0; i < connections.size(); ++i) {
    connections[i].fd = connect_to(options);
    epoll_event event{};
    event.events = EPOLLIN;
    event.data.u64 = i;
    if (::epoll_ctl(epoll, EPOLL_CTL_ADD, connections[i].fd, &event) != 0) fail("epoll");
  }
  const Clock::time_point start = Clock::now();
  int sent = 0;
  int answered = 0;
  for (Connection& connection : connections)
    if (sent < options.requests) send_all(connection, make(sent++));
  epoll_event events[64];
  while (answered < std::min(sent, options.requests)) {
    const int ready = ::epoll_wait(epoll, events, 64, 30'000);
    if (ready <= 0) fail("no answer within 30 s");
    for (int i = 0; i < ready; ++i) {
      Connection& connection = connections[events[i].data.u64];
      read_some(connection);
      if (!whole(connection.answer)) continue;
      ++answered;
      if (is_good(connection.answer)) {
        const std::chrono::duration<double, std::milli> took = Clock::now() - connection.sent;
        result.latencies_ms.push_back(took.count());
        ++result.good;
      } else if (result.first_bad.empty()) {
        result.first_bad = connection.answer;
      }
      if (sent < options.requests) send_all(connection, make(sent++));
    }
  }
  result.seconds = std::chrono::duration<double>(Clock::now() - start).count();
  for (const Connection& connection : connections) ::close(connection.fd);
  ::close(epoll);
  std::sort(result.latencies_ms.begin(), result.latencies_ms.end());
  return result;
}

double percentile(const std::vector<double>& sorted, int percent) {
  if (sorted.empty()) return 0;
  return sorted[(sorted.size() - 1) * static_cast<std::size_t>(percent) / 100];
}

}  // namespace heddle::bench
