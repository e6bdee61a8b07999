// Request, Response and Stream: HTTP as plain values, so that routes know no HTTP library.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace heddle::web {

// Header names in lower case, values trimmed; order as sent.
using Headers = std::vector<std::pair<std::string, std::string>>;

// The first value of a header, or an empty view. Linear; requests have few headers.
std::string_view header(const Headers& headers, std::string_view lower_name);

// How often a header was sent: one that is empty was sent, too.
std::size_t header_count(const Headers& headers, std::string_view lower_name);

struct Request {
  std::string method;  // upper case
  std::string path;    // percent-decoded once, starts with '/'
  std::string query;   // raw, without '?'
  Headers headers;
  std::string body;  // complete; never above the server's limit
  std::string peer;  // address of the client, for rate limits
};

struct Response {
  int status = 200;
  Headers headers;
  std::string body;
};

// The server's end of a streamed answer (server-sent events). Methods may be called from any
// thread. The server keeps at most a bounded number of unsent bytes.
class Stream {
 public:
  virtual ~Stream() = default;
  // Queues bytes; false when the client is gone or too slow (the stream is then closed).
  virtual bool write(std::string bytes) = 0;
  // Bytes queued that the client has not been sent yet; whoever has much to say waits for few.
  virtual std::size_t unsent() = 0;
  virtual void close() = 0;
  // Called once, from any thread, when the stream has ended for whatever reason.
  virtual void on_closed(std::function<void()> closed) = 0;
};

// How a handler answers, exactly once, from any thread, now or later.
class Responder {
 public:
  virtual ~Responder() = default;
  virtual void respond(Response response) = 0;
  // Sends status and headers and keeps the connection open for a stream.
  virtual std::shared_ptr<Stream> stream(Response head) = 0;
};

using Handler = std::function<void(Request, std::shared_ptr<Responder>)>;

}  // namespace heddle::web
