// Server: an HTTP/1.1 server for one handler, with a bound on everything a client can make grow.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "base/result.h"
#include "base/time.h"
#include "base/web.h"

namespace heddle::http {

struct Limits {
  std::size_t header_bytes = 16 * 1024;
  std::size_t body_bytes = 1024 * 1024;
  Duration header_within = Duration::seconds(10);  // from the first byte of a request
  Duration body_within = Duration::seconds(30);
  Duration idle = Duration::seconds(75);          // between requests
  Duration write_within = Duration::seconds(30);  // without a byte taken by the client
  std::size_t connections = 4096;
  std::size_t connections_per_peer = 2048;
  std::size_t stream_unsent_bytes = 1024 * 1024;
  Duration look_every = Duration::millis(250);  // how exact the deadlines are
};

struct ServerOptions {
  std::string listen = "127.0.0.1:0";  // address:port or [address]:port; port 0 takes a free one
  int threads = 2;
  Limits limits;
};

// Requests with a head that is not plainly right are answered once with a problem and closed; they
// never reach the handler. The handler is called on one of the server's threads, must not throw,
// and may answer later from any thread. Compressed bodies are its own to refuse.
class Server {
 public:
  // Binds and starts; invalid_argument when `listen` cannot be read, unavailable when it cannot be
  // bound.
  static Result<std::unique_ptr<Server>> start(ServerOptions options, web::Handler handler);
  ~Server();  // as drain(0)
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  std::uint16_t port() const;  // the real one
  std::size_t connections() const;

  // Takes no new connections, closes idle ones and streams, waits for the answers that are due,
  // then closes what is left and ends the threads. Not from a handler.
  void drain(Duration within);

 private:
  Server();
  struct Core;
  std::shared_ptr<Core> core_;
};

}  // namespace heddle::http
