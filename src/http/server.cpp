#include "http/server.h"

#include <array>
#include <atomic>
#include <boost/asio.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http.hpp>
#include <chrono>
#include <condition_variable>
#include <map>
#include <mutex>
#include <optional>
#include <thread>
#include <unordered_map>

#include "http/answer.h"
#include "http/head.h"

namespace heddle::http {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
using asio::ip::tcp;
using Ec = boost::system::error_code;

constexpr std::size_t kReadBytes = 4096;
constexpr std::size_t kWriteBytes = 64 * 1024;
// What is still read, and thrown away, from a client that was refused, so that it sees the answer.
constexpr std::size_t kLingerBytes = 16 * 1024 * 1024;
constexpr Duration kLingerWithin = Duration::seconds(3);

std::int64_t steady_ms() {
  return std::chrono::duration_cast<std::chrono::milliseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

std::optional<tcp::endpoint> parse_listen(const std::string& listen) {
  const auto colon = listen.rfind(':');
  if (colon == std::string::npos) return std::nullopt;
  std::string host = listen.substr(0, colon);
  if (host.size() >= 2 && host.front() == '[' && host.back() == ']')
    host = host.substr(1, host.size() - 2);
  if (host == "localhost") host = "127.0.0.1";
  const std::string digits = listen.substr(colon + 1);
  if (digits.empty() || digits.size() > 5 || digits.find_first_not_of("0123456789") != digits.npos)
    return std::nullopt;
  const int port = std::stoi(digits);
  Ec ec;
  const auto address = asio::ip::make_address(host, ec);
  if (ec || port > 65535) return std::nullopt;
  return tcp::endpoint{address, static_cast<std::uint16_t>(port)};
}

struct Connection;

// What connections share. Outlives them and every responder and stream.
struct Hub {
  ServerOptions options;
  web::Handler handler;
  asio::io_context io;
  tcp::acceptor acceptor{io};
  asio::steady_timer sweep{io};
  mutable std::mutex mutex;
  std::condition_variable gone;
  std::unordered_map<Connection*, std::weak_ptr<Connection>> connections;
  std::map<std::string, std::size_t> per_peer;
  std::atomic<bool> draining{false};

  explicit Hub(ServerOptions o, web::Handler h)
      : options{std::move(o)}, handler{std::move(h)}, io{options.threads} {}
};

// The server's end of one stream. Threads: any; `connection` is let go when it has ended.
class StreamEnd final : public web::Stream {
 public:
  StreamEnd(std::shared_ptr<Connection> connection, std::size_t unsent_max)
      : connection_{std::move(connection)}, unsent_max_{unsent_max} {}

  bool write(std::string bytes) override;
  std::size_t unsent() override {
    const std::lock_guard lock{mutex_};
    return unsent_.size();
  }
  void close() override;
  void on_closed(std::function<void()> closed) override;

  // For the connection's coroutine. False when nothing will come any more.
  bool take(std::string& bytes, bool& overflow);
  void end();

 private:
  void wake(const std::shared_ptr<Connection>& connection);

  std::mutex mutex_;
  std::shared_ptr<Connection> connection_;
  std::string unsent_;
  const std::size_t unsent_max_;
  bool closing_ = false;
  bool overflow_ = false;
  bool ended_ = false;
  std::function<void()> closed_;
};

// One client. Everything but `deadline_ms` belongs to the strand of its socket.
struct Connection : std::enable_shared_from_this<Connection> {
  std::shared_ptr<Hub> hub;
  tcp::socket socket;
  asio::steady_timer signal;
  beast::flat_buffer buffer;
  std::string peer;
  std::atomic<std::int64_t> deadline_ms{0};  // steady clock; 0: none
  bool aborted = false;
  bool in_request = false;
  std::optional<web::Response> answer;
  std::shared_ptr<StreamEnd> stream;

  Connection(std::shared_ptr<Hub> h, tcp::socket s, std::string p)
      : hub{std::move(h)},
        socket{std::move(s)},
        signal{socket.get_executor()},
        peer{std::move(p)} {}

  const Limits& limits() const { return hub->options.limits; }
  void due_in(Duration span) { deadline_ms = steady_ms() + span.ms; }
  void abort() {
    aborted = true;
    signal.cancel();
    Ec ignored;
    socket.close(ignored);
  }
  void take_answer(web::Response response, std::shared_ptr<StreamEnd> end) {
    answer = std::move(response);
    stream = std::move(end);
    signal.cancel();
  }
};

bool StreamEnd::write(std::string bytes) {
  std::shared_ptr<Connection> connection;
  bool kept = false;
  {
    const std::lock_guard lock{mutex_};
    if (closing_ || ended_) return false;
    kept = unsent_.size() + bytes.size() <= unsent_max_;
    const bool first = unsent_.empty();
    if (kept) {
      unsent_ += bytes;
    } else {
      unsent_ = {};
      closing_ = overflow_ = true;
    }
    if (first || !kept) connection = connection_;
  }
  if (connection) wake(connection);
  return kept;
}

void StreamEnd::close() {
  std::shared_ptr<Connection> connection;
  {
    const std::lock_guard lock{mutex_};
    if (closing_ || ended_) return;
    closing_ = true;
    connection = connection_;
  }
  wake(connection);
}

void StreamEnd::on_closed(std::function<void()> closed) {
  {
    const std::lock_guard lock{mutex_};
    if (!ended_) {
      closed_ = std::move(closed);
      return;
    }
  }
  closed();
}

bool StreamEnd::take(std::string& bytes, bool& overflow) {
  const std::lock_guard lock{mutex_};
  bytes.clear();
  bytes.swap(unsent_);
  overflow = overflow_;
  return !bytes.empty() || !closing_;
}

void StreamEnd::end() {
  std::function<void()> closed;
  std::shared_ptr<Connection> connection;
  {
    const std::lock_guard lock{mutex_};
    ended_ = true;
    unsent_ = {};
    closed.swap(closed_);
    connection.swap(connection_);
  }
  if (closed) closed();
}

void StreamEnd::wake(const std::shared_ptr<Connection>& connection) {
  asio::post(connection->socket.get_executor(), [connection] {
    // An overflow must not wait behind a write that the client does not take.
    bool overflow = false;
    {
      const auto end = connection->stream;
      if (end) {
        const std::lock_guard lock{end->mutex_};
        overflow = end->overflow_;
      }
    }
    if (overflow)
      connection->abort();
    else
      connection->signal.cancel();
  });
}

class Answerer final : public web::Responder {
 public:
  explicit Answerer(std::shared_ptr<Connection> connection) : connection_{std::move(connection)} {}
  ~Answerer() override {
    respond(problem_of({500, ErrorCode::kInternal, "The request was left without an answer."}));
  }
  void respond(web::Response response) override {
    if (answered_.exchange(true)) return;
    asio::dispatch(connection_->socket.get_executor(),
                   [connection = connection_, response = std::move(response)]() mutable {
                     connection->take_answer(std::move(response), nullptr);
                   });
  }
  std::shared_ptr<web::Stream> stream(web::Response head) override {
    auto end = std::make_shared<StreamEnd>(connection_, connection_->limits().stream_unsent_bytes);
    if (answered_.exchange(true)) {
      end->end();
      return end;
    }
    asio::dispatch(connection_->socket.get_executor(),
                   [connection = connection_, head = std::move(head), end]() mutable {
                     if (connection->aborted) return end->end();
                     connection->take_answer(std::move(head), std::move(end));
                   });
    return end;
  }

 private:
  std::shared_ptr<Connection> connection_;
  std::atomic<bool> answered_{false};
};

using ConnectionPtr = std::shared_ptr<Connection>;

asio::awaitable<bool> send(ConnectionPtr c, std::string_view bytes) {
  while (!bytes.empty()) {
    c->due_in(c->limits().write_within);
    const std::size_t size = std::min(bytes.size(), kWriteBytes);
    Ec ec;
    const std::size_t sent = co_await c->socket.async_write_some(
        asio::buffer(bytes.data(), size), asio::redirect_error(asio::use_awaitable, ec));
    if (ec || c->aborted) co_return false;
    bytes.remove_prefix(sent);
  }
  c->deadline_ms = 0;
  co_return true;
}

asio::awaitable<bool> send_answer(ConnectionPtr c, web::Response response, bool keep_alive,
                                  bool head_only) {
  std::string out = start_of_answer(response);
  const bool no_body = response.status == 204 || response.status == 304;
  if (!no_body) out += "Content-Length: " + std::to_string(response.body.size()) + "\r\n";
  out += keep_alive ? "\r\n" : "Connection: close\r\n\r\n";
  if (!head_only && !no_body) out += response.body;
  co_return co_await send(c, out);
}

// Reads and drops what a refused client still sends, so that the answer reaches it.
asio::awaitable<void> linger(ConnectionPtr c) {
  Ec ec;
  c->socket.shutdown(tcp::socket::shutdown_send, ec);
  c->due_in(kLingerWithin);
  std::array<char, kReadBytes> dropped;
  for (std::size_t total = 0; !ec && total < kLingerBytes;)
    total += co_await c->socket.async_read_some(asio::buffer(dropped),
                                                asio::redirect_error(asio::use_awaitable, ec));
}

std::string_view seen(const Connection& c) {
  const auto data = c.buffer.data();
  return {static_cast<const char*>(data.data()), data.size()};
}

struct Read {
  std::optional<Head> head;        // a request
  std::optional<Refusal> refusal;  // else to be answered
};                                 // neither: the client is gone

asio::awaitable<Read> read_head_of(ConnectionPtr c) {
  std::size_t checked = 0;
  c->due_in(c->limits().idle);
  for (bool started = false;;) {
    const std::string_view bytes = seen(*c);
    if (!bytes.empty() && !started) {
      started = true;
      c->due_in(c->limits().header_within);
    }
    const auto end = bytes.find("\r\n\r\n", checked > 3 ? checked - 3 : 0);
    const std::size_t size = end == std::string_view::npos ? bytes.size() : end + 4;
    if (has_bare_line_end(bytes.substr(0, size)) || bytes.starts_with("\r\n"))
      co_return Read{{},
                     Refusal{400, ErrorCode::kInvalidArgument,
                             "Lines must end with carriage return and line feed."}};
    if (size > c->limits().header_bytes)
      co_return Read{{},
                     Refusal{431, ErrorCode::kTooLarge, "The head of the request is too large."}};
    if (end != std::string_view::npos) {
      auto head = read_head(bytes.substr(0, size));
      if (auto* refusal = std::get_if<Refusal>(&head)) co_return Read{{}, std::move(*refusal)};
      co_return Read{std::get<Head>(std::move(head)), {}};
    }
    checked = bytes.size();
    Ec ec;
    const std::size_t got = co_await c->socket.async_read_some(
        c->buffer.prepare(kReadBytes), asio::redirect_error(asio::use_awaitable, ec));
    c->buffer.commit(got);
    if (ec || c->aborted) co_return Read{};
    c->in_request = true;
  }
}

// Beast reads the head a second time and then the body, so two readers must agree.
asio::awaitable<Read> read_request(ConnectionPtr c) {
  Read read = co_await read_head_of(c);
  if (!read.head) co_return read;
  Head& head = *read.head;
  const auto too_large = Refusal{
      413, ErrorCode::kTooLarge,
      "The body of the request is above " + std::to_string(c->limits().body_bytes) + " bytes."};
  if (head.content_length > static_cast<std::int64_t>(c->limits().body_bytes))
    co_return Read{{}, too_large};
  if (head.expects_continue) {
    const bool sent = co_await send(c, "HTTP/1.1 100 Continue\r\n\r\n");
    if (!sent) co_return Read{};
  }
  const auto disagreed =
      Refusal{400, ErrorCode::kInvalidArgument, "The request is not valid HTTP."};
  beast::http::request_parser<beast::http::string_body> parser;
  parser.body_limit(c->limits().body_bytes);
  parser.header_limit(static_cast<std::uint32_t>(c->limits().header_bytes + 2));
  Ec ec;
  const std::size_t used = parser.put(c->buffer.data(), ec);
  if (ec == beast::http::error::need_more) ec = {};
  if (ec || !parser.is_header_done()) co_return Read{{}, disagreed};
  c->buffer.consume(used);
  if (!parser.is_done()) {
    c->due_in(c->limits().body_within);
    co_await beast::http::async_read(c->socket, c->buffer, parser,
                                     asio::redirect_error(asio::use_awaitable, ec));
    if (c->aborted) co_return Read{};
    if (ec == beast::http::error::body_limit) co_return Read{{}, too_large};
    if (ec &&
        ec.category() == beast::http::make_error_code(beast::http::error::bad_chunk).category() &&
        ec != beast::http::error::partial_message && ec != beast::http::error::end_of_stream)
      co_return Read{{}, disagreed};
    if (ec) co_return Read{};
  }
  head.request.body = std::move(parser.get().body());
  head.request.peer = c->peer;
  co_return read;
}

// A stream only talks; whatever the client sends, and its going, ends it.
void close_when_readable(const ConnectionPtr& c) {
  c->socket.async_wait(tcp::socket::wait_read, [c](const Ec&) { c->abort(); });
}

asio::awaitable<void> run_stream(ConnectionPtr c, web::Response head, bool head_only) {
  const auto end = c->stream;
  c->buffer = beast::flat_buffer{};
  bool alive = co_await send(
      c, start_of_answer(head) + "Transfer-Encoding: chunked\r\nConnection: close\r\n\r\n");
  if (alive && !head_only) {
    close_when_readable(c);
    std::string bytes;
    bool overflow = false;
    while (!c->aborted && end->take(bytes, overflow)) {
      if (bytes.empty()) {
        Ec ignored;
        co_await c->signal.async_wait(asio::redirect_error(asio::use_awaitable, ignored));
        continue;
      }
      std::array<char, 24> size{};
      std::snprintf(size.data(), size.size(), "%zx\r\n", bytes.size());
      alive = co_await send(c, size.data() + bytes + "\r\n");
      if (!alive) break;
    }
    if (alive && !overflow && !c->aborted) co_await send(c, "0\r\n\r\n");
  }
  c->stream = nullptr;
  end->end();
}

// True if another request may follow on this connection.
asio::awaitable<bool> serve_one(ConnectionPtr c) {
  c->in_request = !seen(*c).empty();
  Read read = co_await read_request(c);
  c->deadline_ms = 0;
  if (read.refusal) {
    const bool sent = co_await send_answer(c, problem_of(*read.refusal), false, false);
    if (sent) co_await linger(c);
    co_return false;
  }
  if (!read.head) co_return false;
  const bool head_only = read.head->request.method == "HEAD";
  const bool keep_alive = read.head->keep_alive;
  c->answer.reset();
  c->hub->handler(std::move(read.head->request), std::make_shared<Answerer>(c));
  while (!c->answer && !c->aborted) {
    Ec ignored;
    co_await c->signal.async_wait(asio::redirect_error(asio::use_awaitable, ignored));
  }
  if (c->aborted) {
    if (c->stream) c->stream->end();
    co_return false;
  }
  web::Response response = std::move(*c->answer);
  c->answer.reset();
  if (c->stream) {
    co_await run_stream(c, std::move(response), head_only);
    co_return false;
  }
  const bool go_on = keep_alive && !c->hub->draining;
  const bool sent = co_await send_answer(c, std::move(response), go_on, head_only);
  co_return sent&& go_on;
}

void forget(const ConnectionPtr& c) {
  Hub& hub = *c->hub;
  const std::lock_guard lock{hub.mutex};
  hub.connections.erase(c.get());
  const auto at = hub.per_peer.find(c->peer);
  if (at != hub.per_peer.end() && --at->second == 0) hub.per_peer.erase(at);
  hub.gone.notify_all();
}

// co_await never stands in a compound condition here: g++ 12 makes wrong code of that.
asio::awaitable<void> serve(ConnectionPtr c) {
  c->signal.expires_at(asio::steady_timer::time_point::max());
  for (bool go_on = true; go_on;) {
    go_on = co_await serve_one(c);
    if (c->aborted) break;
    if (c->buffer.size() == 0) c->buffer = beast::flat_buffer{};  // idle ones stay small
  }
  c->abort();
  forget(c);
}

// False when it may not stay.
bool admit(const ConnectionPtr& c) {
  Hub& hub = *c->hub;
  const std::lock_guard lock{hub.mutex};
  if (hub.draining || hub.connections.size() >= hub.options.limits.connections) return false;
  std::size_t& same = hub.per_peer[c->peer];
  if (same >= hub.options.limits.connections_per_peer) return false;
  ++same;
  hub.connections.emplace(c.get(), c);
  return true;
}

asio::awaitable<void> accept_all(std::shared_ptr<Hub> hub) {
  while (!hub->draining) {
    Ec ec;
    tcp::socket socket = co_await hub->acceptor.async_accept(
        asio::make_strand(hub->io), asio::redirect_error(asio::use_awaitable, ec));
    if (ec) {
      if (hub->draining || !hub->acceptor.is_open()) co_return;
      // Out of descriptors, most likely: wait a little for some to be freed.
      asio::steady_timer pause{hub->io, std::chrono::milliseconds{50}};
      co_await pause.async_wait(asio::redirect_error(asio::use_awaitable, ec));
      continue;
    }
    const auto peer = socket.remote_endpoint(ec);
    if (ec) continue;
    socket.set_option(tcp::no_delay{true}, ec);
    const auto executor = socket.get_executor();
    auto c = std::make_shared<Connection>(hub, std::move(socket), peer.address().to_string());
    if (admit(c)) asio::co_spawn(executor, serve(std::move(c)), asio::detached);
  }
}

// Closes what is overdue, or everything that `which` names.
template <class Which>
void close_some(Hub& hub, Which which) {
  std::vector<ConnectionPtr> found;
  {
    const std::lock_guard lock{hub.mutex};
    for (const auto& [raw, weak] : hub.connections)
      if (auto c = weak.lock(); c && which(*c)) found.push_back(std::move(c));
  }
  for (const auto& c : found) asio::post(c->socket.get_executor(), [c] { c->abort(); });
}

asio::awaitable<void> sweep_all(std::shared_ptr<Hub> hub) {
  for (Ec ec; !hub->draining;) {
    hub->sweep.expires_after(std::chrono::milliseconds{hub->options.limits.look_every.ms});
    co_await hub->sweep.async_wait(asio::redirect_error(asio::use_awaitable, ec));
    const std::int64_t now = steady_ms();
    close_some(*hub, [now](const Connection& c) {
      const std::int64_t deadline = c.deadline_ms;
      return deadline != 0 && deadline < now;
    });
  }
}

}  // namespace

struct Server::Core {
  std::shared_ptr<Hub> hub;
  std::vector<std::thread> threads;
  std::uint16_t port = 0;
  bool ended = false;
};

Server::Server() : core_{std::make_shared<Core>()} {}

Result<std::unique_ptr<Server>> Server::start(ServerOptions options, web::Handler handler) {
  const auto endpoint = parse_listen(options.listen);
  if (!endpoint)
    return Error::invalid("/listen", "not_an_address",
                          "The address to listen on must be ADDRESS:PORT, such as 127.0.0.1:7070.",
                          options.listen);
  std::unique_ptr<Server> server{new Server};
  server->core_->hub = std::make_shared<Hub>(options, std::move(handler));
  Hub& hub = *server->core_->hub;
  Ec ec;
  hub.acceptor.open(endpoint->protocol(), ec);
  if (!ec) hub.acceptor.set_option(tcp::acceptor::reuse_address{true}, ec);
  if (!ec) hub.acceptor.bind(*endpoint, ec);
  if (!ec) hub.acceptor.listen(asio::socket_base::max_listen_connections, ec);
  if (!ec) server->core_->port = hub.acceptor.local_endpoint(ec).port();
  if (ec) {
    server->core_->ended = true;
    return Error{ErrorCode::kUnavailable,
                 "Cannot listen on " + options.listen + ": " + ec.message() + "."};
  }
  asio::co_spawn(hub.io, accept_all(server->core_->hub), asio::detached);
  asio::co_spawn(hub.io, sweep_all(server->core_->hub), asio::detached);
  for (int i = 0; i < options.threads; ++i)
    server->core_->threads.emplace_back([held = server->core_->hub] { held->io.run(); });
  return server;
}

Server::~Server() { drain({}); }

std::uint16_t Server::port() const { return core_->port; }

std::size_t Server::connections() const {
  const std::lock_guard lock{core_->hub->mutex};
  return core_->hub->connections.size();
}

void Server::drain(Duration within) {
  if (core_->ended) return;
  core_->ended = true;
  Hub& hub = *core_->hub;
  {
    const std::lock_guard lock{hub.mutex};
    hub.draining = true;
  }
  asio::post(hub.io, [held = core_->hub] {
    Ec ignored;
    held->acceptor.close(ignored);
    held->sweep.cancel();
  });
  std::vector<ConnectionPtr> all;
  {
    const std::lock_guard lock{hub.mutex};
    for (const auto& [raw, weak] : hub.connections)
      if (auto c = weak.lock()) all.push_back(std::move(c));
  }
  for (const auto& c : all)
    asio::post(c->socket.get_executor(), [c] {
      if (c->stream)
        c->stream->close();
      else if (!c->in_request)
        c->abort();
    });
  all.clear();
  const auto none = [&hub] { return hub.connections.empty(); };
  {
    std::unique_lock lock{hub.mutex};
    hub.gone.wait_for(lock, std::chrono::milliseconds{within.ms}, none);
  }
  // Every coroutine ends once its socket is closed, so the threads run out of work by themselves.
  close_some(hub, [](const Connection&) { return true; });
  for (std::thread& thread : core_->threads) thread.join();
}

}  // namespace heddle::http
