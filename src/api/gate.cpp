#include "api/gate.h"

#include <algorithm>
#include <atomic>

#include "api/digest.h"
#include "api/problem.h"
#include "api/resolve.h"
#include "api/route.h"
#include "base/units.h"

namespace heddle::api {
namespace {

using web::header;

std::string next_request_id() {
  // Ids of different processes differ by 36 random bits, those of one process by their count.
  static const std::uint64_t start = [] {
    std::uint64_t value = 0;
    for (const char c : random_bytes(5)) value = value << 8 | static_cast<unsigned char>(c);
    return (value & 0x7'ffff'ffffULL) << 28;
  }();
  static std::atomic<std::uint64_t> count{1};
  return id_text("rq", start + count.fetch_add(1));
}

std::string lowered(std::string_view text) {
  std::string out{text};
  for (char& c : out)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c + 32);
  return out;
}

// Without its port.
std::string host_name(std::string_view host) {
  const auto bracket = host.rfind(']');
  const auto colon = host.rfind(':');
  if (colon != std::string_view::npos && (bracket == std::string_view::npos || colon > bracket))
    host = host.substr(0, colon);
  return lowered(host);
}

bool is_ours(const ApiOptions& options, const std::string& name) {
  if (name == "localhost" || name == "127.0.0.1" || name == "[::1]") return true;
  return std::find(options.hosts.begin(), options.hosts.end(), name) != options.hosts.end();
}

// Loopback is no trust: a page in somebody's browser reaches it too.
std::optional<Error> check_origin(const Call& call) {
  const web::Headers& headers = call.request.headers;
  const std::string host = lowered(header(headers, "host"));
  if (!is_ours(call.shared->options, host_name(host)))
    return Error{ErrorCode::kMisdirected, "This server does not go by that Host name."};
  if (web::header_count(headers, "origin") == 0) return std::nullopt;
  const std::string origin = lowered(header(headers, "origin"));
  if (origin == "http://" + host || origin == "https://" + host) return std::nullopt;
  return Error{ErrorCode::kPermissionDenied, "Pages of other origins may not call this server."};
}

std::optional<Error> check_no_secret_in_query(Query& query) {
  for (const std::string_view name : {"token", "access_token", "authorization"})
    if (query.has(name))
      return Error::invalid(
          "?" + std::string{name}, "secret_in_query",
          "A token must not stand in a URL, where others may read it. Revoke it.");
  return std::nullopt;
}

std::optional<Error> check_who(Call& call) {
  Shared& shared = *call.shared;
  const Error slow{ErrorCode::kRateLimited, "Too many requests.", {}, {}, "Wait a moment."};
  if (!shared.failures.would_allow(call.request.peer, call.now)) return slow;
  const bool once = web::header_count(call.request.headers, "authorization") == 1;
  const auto principal =
      shared.tokens.check(call.state(), once ? header(call.request.headers, "authorization") : "",
                          call.view->expiry_time(call.now));
  if (!principal) {
    (void)shared.failures.allow(call.request.peer, call.now);
    return Error{ErrorCode::kUnauthenticated,
                 "A valid token is needed.",
                 {},
                 {},
                 "heddle login, or send 'Authorization: Bearer heddle_...'"};
  }
  call.principal = *principal;
  call.rights.emplace(call.state(), principal->user);
  if (!shared.users.allow(principal->user.text(), call.now)) return slow;
  return std::nullopt;
}

using Parts = std::vector<std::string_view>;

Parts split(std::string_view path) {
  Parts parts;
  while (!path.empty()) {
    path.remove_prefix(1);  // the slash
    const auto end = std::min(path.find('/'), path.size());
    parts.push_back(path.substr(0, end));
    path.remove_prefix(end);
  }
  return parts;
}

bool matches(const Parts& pattern, const Parts& path) {
  return std::equal(pattern.begin(), pattern.end(), path.begin(), path.end(),
                    [](std::string_view p, std::string_view given) {
                      return p.starts_with('{') ? !given.empty() : p == given;
                    });
}

// Sets call.route; gives the methods that the path knows.
std::string find_route(Call& call) {
  const Parts path = split(call.request.path);
  const std::string method = call.request.method == "HEAD" ? "GET" : call.request.method;
  std::string allowed;
  for (const Route& route : routes()) {
    if (!matches(split(route.path), path)) continue;
    allowed += (allowed.empty() ? "" : ", ") + std::string{route.method};
    if (route.method == "GET") allowed += ", HEAD";
    if (route.method == method) call.route = &route;
  }
  return allowed.empty() ? allowed : allowed + ", OPTIONS";
}

std::optional<Error> resolve_path(Call& call) {
  const Parts pattern = split(call.route->path);
  const Parts path = split(call.request.path);
  for (std::size_t i = 0; i < pattern.size(); ++i)
    if (pattern[i].starts_with('{'))
      if (auto error = resolve(call, pattern[i], path[i])) return error;
  return std::nullopt;
}

std::optional<Error> check_rights(Call& call) {
  if (!call.route->action) return std::nullopt;
  const TeamId at = call.workload ? call.workload->team : call.team;
  if (call.rights->may(*call.route->action, at)) return std::nullopt;
  return Error{ErrorCode::kPermissionDenied,
               "You may not do this. It takes " + std::string{name_of(*call.route->action)} + "."};
}

std::optional<Error> read_if_match(Call& call) {
  const Writes writes = call.route->writes;
  if (writes != Writes::kUpdates && writes != Writes::kUpdatesAnyState) return std::nullopt;
  const auto times = web::header_count(call.request.headers, "if-match");
  std::string_view text = header(call.request.headers, "if-match");
  if (times == 0) {
    if (writes == Writes::kUpdatesAnyState) return std::nullopt;
    return Error{ErrorCode::kPreconditionRequired,
                 "Say which version you saw.",
                 {{"If-Match:", "required", ""}},
                 {},
                 "Send If-Match with the version that you read."};
  }
  if (text == "*" && times == 1) {
    call.any_version = true;
    return std::nullopt;
  }
  if (text.size() >= 2 && text.front() == '"' && text.back() == '"')
    text = text.substr(1, text.size() - 2);
  const bool digits = times == 1 && !text.empty() &&
                      text.find_first_not_of("0123456789") == text.npos &&
                      (text.size() == 1 || text.front() != '0');
  const auto version = parse_whole(digits ? text : "-", 0, 1'000'000'000'000'000'000);
  if (!version)
    return Error::invalid("If-Match:", "not_a_version",
                          "If-Match must be a version such as \"3\", or *.", std::string{text});
  call.if_version = *version;
  return std::nullopt;
}

std::optional<Error> read_idempotency_key(Call& call) {
  if (call.route->writes != Writes::kCreates) return std::nullopt;
  const auto times = web::header_count(call.request.headers, "idempotency-key");
  if (times == 0) return std::nullopt;
  const std::string_view key = header(call.request.headers, "idempotency-key");
  const bool plain = std::all_of(key.begin(), key.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view{"_.:-"}.find(c) != std::string_view::npos;
  });
  if (times > 1 || key.empty() || key.size() > 128 || !plain)
    return Error::invalid("Idempotency-Key:", "bad_key",
                          "Idempotency-Key must be 1 to 128 of letters, digits and _ . : -");
  call.idempotency =
      IdempotencyKey{std::string{call.route->method} + " " + std::string{call.route->path},
                     std::string{key}, sha256_hex(call.request.body)};
  return std::nullopt;
}

bool is_json(std::string_view type, Body body) {
  const auto end = std::min(type.find(';'), type.size());
  std::string_view media = type.substr(0, end);
  while (media.ends_with(' ')) media.remove_suffix(1);
  std::string parameter = lowered(type.substr(std::min(end + 1, type.size())));
  std::erase_if(parameter, [](char c) { return c == ' ' || c == '"'; });
  if (!parameter.empty() && parameter != "charset=utf-8") return false;
  const std::string name = lowered(media);
  return name == "application/json" ||
         (body == Body::kPatch && name == "application/merge-patch+json");
}

std::optional<Error> read_body(Call& call) {
  const Body body = call.route->body;
  const std::string& bytes = call.request.body;
  if (const std::string_view coding = header(call.request.headers, "content-encoding");
      !coding.empty() && lowered(coding) != "identity")
    return Error{ErrorCode::kUnsupportedMedia, "Compressed bodies are not taken here."};
  if (body == Body::kNone) {
    if (bytes.empty()) return std::nullopt;
    return Error::invalid("", "body_not_allowed", "This request takes no body.");
  }
  if (bytes.empty()) {
    call.body.kind = Value::Kind::kObject;
    if (body == Body::kJsonOrNone) return std::nullopt;
    return Error::invalid("", "required", "The body is missing.");
  }
  if (!is_json(header(call.request.headers, "content-type"), body))
    return Error{ErrorCode::kUnsupportedMedia,
                 "The body must be JSON.",
                 {},
                 {},
                 "Send Content-Type: application/json."};
  auto value = parse_json(bytes);
  if (!value) return value.error();
  call.body = std::move(*value);
  return std::nullopt;
}

void refuse_method(Call& call, const std::string& allowed) {
  const bool asks = call.request.method == "OPTIONS";
  if (asks)
    return call.answer_raw({204, {{"Allow", allowed}, {"X-Request-Id", call.request_id}}, {}});
  Error error{ErrorCode::kMethodNotAllowed, "This path knows " + allowed + "."};
  web::Response response = problem(error, call.request_id);
  response.headers.emplace_back("Allow", allowed);
  call.answer_raw(std::move(response));
}

}  // namespace

void enter(const std::shared_ptr<Shared>& shared, web::Request request,
           std::shared_ptr<web::Responder> responder) {
  auto call = std::make_shared<Call>();
  call->shared = shared;
  call->request = std::move(request);
  call->responder = std::move(responder);
  call->request_id = next_request_id();
  call->view = shared->controller.view();
  call->now = shared->controller.now();
  if (auto error = check_origin(*call)) return call->fail(*error);
  auto query = Query::parse(call->request.query);
  if (query) call->query = std::move(*query);
  if (auto error = check_no_secret_in_query(call->query)) return call->fail(*error);
  if (!shared->peers.allow(call->request.peer, call->now))
    return call->fail({ErrorCode::kRateLimited, "Too many requests from your address."});

  const std::string allowed = find_route(*call);
  const bool open = call->route != nullptr && call->route->open;
  if (!open)
    if (auto error = check_who(*call)) return call->fail(*error);
  if (allowed.empty())
    return call->fail({ErrorCode::kNotFound, "There is nothing under this path."});
  if (call->route == nullptr) return refuse_method(*call, allowed);
  if (!query) return call->fail(query.error());
  for (const auto check :
       {resolve_path, check_rights, read_if_match, read_idempotency_key, read_body})
    if (auto error = check(*call)) return call->fail(*error);
  call->route->run(call);
}

}  // namespace heddle::api
