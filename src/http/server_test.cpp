#include "http/server.h"

#include <doctest/doctest.h>

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

#include "http/raw_client.h"

namespace heddle::http {
namespace {

// Answers with what it saw; counts how often it was asked.
struct Echo {
  std::atomic<int> asked{0};
  std::unique_ptr<Server> server;

  explicit Echo(Limits limits = {}) {
    ServerOptions options;
    options.limits = limits;
    auto started = Server::start(options, [this](web::Request request, auto responder) {
      ++asked;
      responder->respond(
          {200, {}, request.method + " " + request.path + " [" + request.body + "]"});
    });
    REQUIRE(started.has_value());
    server = std::move(*started);
  }
};

int count(const std::string& text, const std::string& part) {
  int n = 0;
  for (auto at = text.find(part); at != text.npos; at = text.find(part, at + 1)) ++n;
  return n;
}

int status_of(const std::string& answer) {
  return answer.starts_with("HTTP/1.1 ") ? std::stoi(answer.substr(9, 3)) : 0;
}

const std::string kGet = "GET /a HTTP/1.1\r\nHost: h\r\n";
const std::string kPost = "POST /a HTTP/1.1\r\nHost: h\r\n";
const std::string kSecret = "GET /secret HTTP/1.1\r\nHost: h\r\n\r\n";

const std::vector<std::string> kAttacks = {
    kPost + "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" + kSecret,
    kPost + "Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n" + kSecret,
    kPost + "Content-Length: 5\r\nContent-Length: 5\r\n\r\nhello" + kSecret,
    kPost + "Content-Length: 5\r\nContent-Length: 0\r\n\r\n" + kSecret,
    kPost + "Content-Length: 5, 5\r\n\r\nhello" + kSecret,
    kPost + "Content-Length: +5\r\n\r\nhello" + kSecret,
    kPost + "Content-Length: -5\r\n\r\n" + kSecret,
    kPost + "Content-Length: 0x5\r\n\r\nhello" + kSecret,
    kPost + "Content-Length: 5 5\r\n\r\nhello" + kSecret,
    kPost + "Content-Length: 5.0\r\n\r\nhello" + kSecret,
    kPost + "Content-Length:\r\n\r\n" + kSecret,
    kPost + "Content-Length: 18446744073709551617\r\n\r\nx" + kSecret,
    kPost + "Content-Length : 5\r\n\r\nhello" + kSecret,
    kPost + " Content-Length: 5\r\n\r\nhello" + kSecret,
    kPost + "X: a\r\n b\r\n\r\n" + kSecret,
    kPost + "X: a\r\n\tContent-Length: 5\r\n\r\nhello" + kSecret,
    kPost + "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n0\r\n\r\n" + kSecret,
    kPost + "Transfer-Encoding: identity\r\n\r\n" + kSecret,
    kPost + "Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n" + kSecret,
    kPost + "Transfer-Encoding: chunked, chunked\r\n\r\n0\r\n\r\n" + kSecret,
    kPost + "Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n" + kSecret,
    kPost + "Transfer-Encoding: chunked\x0b\r\n\r\n0\r\n\r\n" + kSecret,
    kPost + "Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n" + kSecret,
    kPost + "Transfer-Encoding:\r\n\r\n" + kSecret,
    "POST /a HTTP/1.0\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" + kSecret,
    kPost + "Transfer-Encoding: chunked\r\n\r\n5;\nxx\r\nhello\r\n0\r\n\r\n" + kSecret,
    kPost + "Transfer-Encoding: chunked\r\n\r\n0x5\r\nhello\r\n0\r\n\r\n" + kSecret,
    kPost + "Transfer-Encoding: chunked\r\n\r\n-1\r\nhello\r\n0\r\n\r\n" + kSecret,
    kPost + "Transfer-Encoding: chunked\r\n\r\n5\nhello\n0\n\n" + kSecret,
    kPost + "Transfer-Encoding: chunked\r\n\r\n5\r\nhelloX0\r\n\r\n" + kSecret,
    kPost + "Transfer-Encoding: chunked\r\n\r\nffffffffffffffff1\r\nx" + kSecret,
    kPost + "Transfer-Encoding: chunked\r\n\r\n\r\n" + kSecret,
    "GET /a HTTP/1.1\nHost: h\n\n" + kSecret,
    "GET /a HTTP/1.1\r\nHost: h\n\r\n" + kSecret,
    "GET /a HTTP/1.1\r\nHost: h\r\rX: y\r\n\r\n" + kSecret,
    "GET /a HTTP/1.1\r\nHost: h\r\nX: a\rb\r\n\r\n" + kSecret,
    "\r\nGET /a HTTP/1.1\r\nHost: h\r\n\r\n" + kSecret,
    "GET  /a HTTP/1.1\r\nHost: h\r\n\r\n" + kSecret,
    "GET /a  HTTP/1.1\r\nHost: h\r\n\r\n" + kSecret,
    "GET\t/a\tHTTP/1.1\r\nHost: h\r\n\r\n" + kSecret,
    "GET /a\r\nHost: h\r\n\r\n" + kSecret,
    "GET /a HTTP/1.2\r\nHost: h\r\n\r\n" + kSecret,
    "GET /a HTTP/2.0\r\nHost: h\r\n\r\n" + kSecret,
    "GET /a http/1.1\r\nHost: h\r\n\r\n" + kSecret,
    "get /a HTTP/1.1\r\nHost: h\r\n\r\n" + kSecret,
    "GET /a HTTP/1.1\r\n\r\n" + kSecret,
    "GET /a HTTP/1.1\r\nHost: h\r\nHost: i\r\n\r\n" + kSecret,
    "GET http://other/a HTTP/1.1\r\nHost: h\r\n\r\n" + kSecret,
    "GET //h@other/a/../../b HTTP/1.1\r\nHost: h\r\n\r\n" + kSecret,
    "CONNECT other:443 HTTP/1.1\r\nHost: h\r\n\r\n" + kSecret,
    "OPTIONS * HTTP/1.1\r\nHost: h\r\n\r\n" + kSecret,
    "GET /%2e%2e%2fsecret HTTP/1.1\r\nHost: h\r\n\r\n" + kSecret,
    "GET /a\x01 HTTP/1.1\r\nHost: h\r\n\r\n" + kSecret,
    std::string{"GET /a HTTP/1.1\r\nHost: h\r\nX: a\0b\r\n\r\n", 40} + kSecret,
    kGet + ": nameless\r\n\r\n" + kSecret,
    kGet + "no colon\r\n\r\n" + kSecret,
    kGet + "X(y): z\r\n\r\n" + kSecret,
    kGet + "Expect: 200-ok\r\n\r\n" + kSecret,
    "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + kSecret,
};

}  // namespace

TEST_CASE("requests follow each other on one connection, pipelined too") {
  Echo echo;
  RawClient client{echo.server->port()};
  client.send(kPost + "Content-Length: 2\r\n\r\nhi" + kGet + "\r\n" + kPost +
              "Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n");
  CHECK(client.read_until("]").ends_with("POST /a [hi]"));
  CHECK(client.read_until("]").ends_with("GET /a []"));
  CHECK(client.read_until("]").ends_with("POST /a [abc]"));
  CHECK(echo.asked == 3);
}

TEST_CASE("HEAD says how long the body would be and sends none") {
  Echo echo;
  RawClient client{echo.server->port()};
  client.send("HEAD /a HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n");
  const std::string answer = client.read_to_end();
  CHECK(answer.find("Content-Length: 10\r\n") != answer.npos);
  CHECK(answer.ends_with("\r\n\r\n"));
}

TEST_CASE("a client that waits for '100 Continue' gets it") {
  Echo echo;
  RawClient client{echo.server->port()};
  client.send(kPost + "Content-Length: 2\r\nExpect: 100-continue\r\n\r\n");
  CHECK(client.read_until("\r\n\r\n") == "HTTP/1.1 100 Continue\r\n\r\n");
  client.send("hi");
  CHECK(client.read_until("]").ends_with("POST /a [hi]"));
}

// Each is answered at most once, by 400 or by one answer of the handler for what is plainly the
// request; a second request hidden in it never reaches the handler.
TEST_CASE("ambiguous framing is answered 400 once and the connection is closed") {
  CHECK(kAttacks.size() >= 40);
  Echo echo;
  for (const std::string& attack : kAttacks) {
    CAPTURE(attack);
    RawClient client{echo.server->port()};
    client.send(attack);
    client.finish_sending();
    const std::string answer = client.read_to_end();
    CHECK(status_of(answer) == 400);
    CHECK(count(answer, "HTTP/1.1 ") == 1);
    CHECK(answer.find("\r\nConnection: close\r\n") != answer.npos);
    CHECK(answer.find("\"code\":\"invalid_argument\"") != answer.npos);
    CHECK(client.closed_by_server());
    CHECK(echo.asked == 0);
  }
  RawClient client{echo.server->port()};
  client.send(kGet + "\r\n");
  CHECK(client.read_until("]").ends_with("GET /a []"));
}

TEST_CASE("too much is refused by size, and the client sees why") {
  Limits limits;
  limits.body_bytes = 1000;
  Echo echo{limits};
  const auto ask = [&](const std::string& bytes) {
    RawClient client{echo.server->port()};
    client.send(bytes);
    return status_of(client.read_to_end());
  };
  CHECK(ask(kPost + "Content-Length: 1001\r\n\r\n" + std::string(1001, 'x')) == 413);
  CHECK(ask(kPost + "Content-Length: 10000000\r\n\r\n" + std::string(10'000'000, 'x')) == 413);
  CHECK(ask(kPost + "Transfer-Encoding: chunked\r\n\r\n3e9\r\n" + std::string(1001, 'x')) == 413);
  CHECK(ask(kGet + "X: " + std::string(17 * 1024, 'x') + "\r\n\r\n") == 431);
  std::string many = kGet;
  for (int i = 0; i < 101; ++i) many += "X: y\r\n";
  CHECK(ask(many + "\r\n") == 431);
  CHECK(echo.asked == 0);
}

TEST_CASE("who is slow or idle is closed at the deadline") {
  Limits limits;
  limits.header_within = limits.body_within = limits.idle = Duration::millis(100);
  limits.look_every = Duration::millis(20);
  Echo echo{limits};
  for (const std::string& part :
       {std::string{}, std::string{"GET /a HT"}, kPost + "Content-Length: 9\r\n\r\nhi"}) {
    CAPTURE(part);
    RawClient client{echo.server->port()};
    client.send(part);
    client.read_to_end();
    CHECK(client.closed_by_server());
  }
  CHECK(echo.asked == 0);
}

TEST_CASE("one address may hold only its part of the connections") {
  Limits limits;
  limits.connections_per_peer = 2;
  Echo echo{limits};
  RawClient first{echo.server->port()};
  RawClient second{echo.server->port()};
  first.send(kGet + "\r\n");
  second.send(kGet + "\r\n");
  first.read_until("]");
  second.read_until("]");
  RawClient third{echo.server->port()};
  third.read_to_end();
  CHECK(third.closed_by_server());
}

TEST_CASE("a handler that forgets to answer is answered for") {
  auto server = Server::start({}, [](web::Request, auto) {});
  REQUIRE(server.has_value());
  RawClient client{(*server)->port()};
  client.send(kGet + "\r\n");
  CHECK(status_of(client.read_until("}")) == 500);
}

namespace {

// Hands out the streams that its clients open.
struct Streams {
  std::mutex mutex;
  std::condition_variable changed;
  std::vector<std::shared_ptr<web::Stream>> open;
  int closed = 0;
  std::unique_ptr<Server> server;

  explicit Streams(Limits limits = {}) {
    ServerOptions options;
    options.limits = limits;
    auto started = Server::start(options, [this](web::Request, auto responder) {
      auto stream = responder->stream({200, {{"Content-Type", "text/event-stream"}}, {}});
      stream->on_closed([this] {
        const std::lock_guard lock{mutex};
        ++closed;
        changed.notify_all();
      });
      const std::lock_guard lock{mutex};
      open.push_back(std::move(stream));
      changed.notify_all();
    });
    REQUIRE(started.has_value());
    server = std::move(*started);
  }
  std::shared_ptr<web::Stream> wait_for(std::size_t n) {
    std::unique_lock lock{mutex};
    REQUIRE(changed.wait_for(lock, std::chrono::seconds{5}, [&] { return open.size() >= n; }));
    return open[n - 1];
  }
  bool wait_closed(int n) {
    std::unique_lock lock{mutex};
    return changed.wait_for(lock, std::chrono::seconds{5}, [&] { return closed >= n; });
  }
};

}  // namespace

TEST_CASE("a stream carries what is written and ends properly") {
  Streams streams;
  RawClient client{streams.server->port()};
  client.send(kGet + "\r\n");
  auto stream = streams.wait_for(1);
  CHECK(stream->write("data: 1\n\n"));
  CHECK(client.read_until("\n\n\r\n").ends_with("9\r\ndata: 1\n\n\r\n"));
  CHECK(stream->write("data: 2\n\n"));
  stream->close();
  CHECK(client.read_to_end() == "9\r\ndata: 2\n\n\r\n0\r\n\r\n");
  CHECK(streams.wait_closed(1));
  CHECK_FALSE(stream->write("late"));
}

TEST_CASE("a stream whose client goes or never reads is closed") {
  Limits limits;
  limits.stream_unsent_bytes = 64 * 1024;
  Streams streams{limits};
  {
    RawClient gone{streams.server->port()};
    gone.send(kGet + "\r\n");
    streams.wait_for(1);
  }
  CHECK(streams.wait_closed(1));
  RawClient deaf{streams.server->port()};
  deaf.send(kGet + "\r\n");
  auto stream = streams.wait_for(2);
  bool taken = true;
  for (int i = 0; i < 100'000 && taken; ++i) taken = stream->write(std::string(1024, 'x'));
  CHECK_FALSE(taken);
  CHECK(streams.wait_closed(2));
}

TEST_CASE("draining answers what is under way, closes streams and the idle, then ends") {
  std::mutex mutex;
  std::condition_variable arrived;
  std::shared_ptr<web::Responder> held;
  auto server = Server::start({}, [&](web::Request, std::shared_ptr<web::Responder> responder) {
    const std::lock_guard lock{mutex};
    held = std::move(responder);
    arrived.notify_all();
  });
  REQUIRE(server.has_value());
  RawClient idle{(*server)->port()};
  RawClient busy{(*server)->port()};
  busy.send(kGet + "\r\n");
  {
    std::unique_lock lock{mutex};
    REQUIRE(arrived.wait_for(lock, std::chrono::seconds{5}, [&] { return held != nullptr; }));
  }
  std::thread drainer{[&] { (*server)->drain(Duration::seconds(5)); }};
  idle.read_to_end();
  CHECK(idle.closed_by_server());
  held->respond({200, {}, "done"});
  CHECK(busy.read_to_end().ends_with("done"));
  drainer.join();
}

TEST_CASE("streams and responders may outlive the server") {
  std::shared_ptr<web::Stream> stream;
  {
    Streams streams;
    RawClient client{streams.server->port()};
    client.send(kGet + "\r\n");
    stream = streams.wait_for(1);
    streams.server.reset();
  }
  CHECK_FALSE(stream->write("late"));
  stream->close();
}

TEST_CASE("an address that cannot be read or bound is an error, not a crash") {
  Echo echo;
  for (const char* bad :
       {"", "localhost", "1.2.3.4", "127.0.0.1:99999", "host.example:1", "[::1:0"})
    CHECK(Server::start({bad, 1, {}}, {}).error().code == ErrorCode::kInvalidArgument);
  CHECK(Server::start({"192.0.2.1:1", 1, {}}, {}).error().code == ErrorCode::kUnavailable);
}

}  // namespace heddle::http
