// RawClient: a socket for tests that sends exactly the bytes it is given.
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"

namespace heddle::http {

class RawClient {
 public:
  explicit RawClient(std::uint16_t port) : fd_{::socket(AF_INET, SOCK_STREAM, 0)} {
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port = htons(port);
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    // The kernel's interface wants this cast.
    HEDDLE_CHECK(::connect(fd_, reinterpret_cast<const sockaddr*>(&to), sizeof to) == 0);
  }
  ~RawClient() { ::close(fd_); }
  RawClient(const RawClient&) = delete;
  RawClient& operator=(const RawClient&) = delete;

  // False when the server has closed.
  bool send(std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t n = ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (n <= 0) return false;
      bytes.remove_prefix(static_cast<std::size_t>(n));
    }
    return true;
  }
  void finish_sending() { ::shutdown(fd_, SHUT_WR); }

  // Everything until `mark` is seen, or the server closes, or 5 s pass without a byte.
  std::string read_until(std::string_view mark) {
    while (true) {
      const auto at = seen_.find(mark);
      if (!mark.empty() && at != std::string::npos) {
        std::string out = seen_.substr(0, at + mark.size());
        seen_.erase(0, at + mark.size());
        return out;
      }
      if (!read_more()) return std::exchange(seen_, {});
    }
  }
  std::string read_to_end() { return read_until({}); }
  bool closed_by_server() const { return closed_; }

 private:
  bool read_more() {
    pollfd ready{fd_, POLLIN, 0};
    if (::poll(&ready, 1, 5000) <= 0) return false;
    char bytes[4096];
    const ssize_t n = ::recv(fd_, bytes, sizeof bytes, 0);
    if (n <= 0) {
      closed_ = true;
      return false;
    }
    seen_.append(bytes, static_cast<std::size_t>(n));
    return true;
  }

  int fd_;
  bool closed_ = false;
  std::string seen_;
};

}  // namespace heddle::http
