// HttpClient: requests to one Heddle server, with tries again and credentials that stay at home.
#pragma once

#include <memory>
#include <string>
#include <variant>

#include "base/time.h"
#include "base/web.h"
#include "client/origin.h"

namespace heddle::client {

struct Options {
  Origin server;
  std::string token;    // sent as a bearer token, to `server` and nowhere else
  std::string ca_file;  // trusted authorities; empty: the system's
  std::string user_agent = "heddle";
  Duration connect_within = Duration::seconds(5);
  Duration answer_within = Duration::seconds(60);
  // Pauses before the second and the third try.
  Duration pauses[2] = {Duration::millis(300), Duration::millis(1200)};
  int interrupt_fd = -1;  // once readable, what waits gives up; never read here. -1: none
};

struct Call {
  std::string method = "GET";
  std::string target;  // path and query, starts with '/'
  web::Headers headers = {};
  std::string body = {};
};

struct Answer {
  int status = 0;
  web::Headers headers;
  std::string body;
};

enum class Fault {
  kUnreachable,  // no connection, or it broke before the answer was whole
  kTimeout,      // connected, no answer in time
  kRedirected,   // the server points elsewhere and we do not go there
  kBadAnswer,    // not HTTP, too large
  kInterrupted,  // interrupt_fd became readable
};

struct Failure {
  Fault fault = Fault::kUnreachable;
  std::string why;  // in words, such as `connection refused`
  int tries = 1;
  Duration took;
};

// One thread at a time. Redirects are followed for GET within the same origin only (at most 3); a
// write is never sent twice to two places. Up to three tries: when no connection came about,
// always; when it broke later, only for what may be repeated (GET, PUT, DELETE, or an
// Idempotency-Key).
class HttpClient {
 public:
  static constexpr std::size_t kMaxAnswerBytes = 64 * 1024 * 1024;

  explicit HttpClient(Options options);
  ~HttpClient();
  HttpClient(const HttpClient&) = delete;
  HttpClient& operator=(const HttpClient&) = delete;

  std::variant<Answer, Failure> send(const Call& call);
  const Options& options() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// Percent-encodes one part of a path or one value of a query.
std::string encode_part(std::string_view text);

}  // namespace heddle::client
