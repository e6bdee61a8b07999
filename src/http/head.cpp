#include "http/head.h"

#include <algorithm>
#include <optional>

namespace heddle::http {
namespace {

constexpr std::size_t kMaxHeaders = 100;

bool is_token_char(char c) {
  if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9')) return true;
  return std::string_view{"!#$%&'*+-.^_`|~"}.find(c) != std::string_view::npos;
}

bool is_token(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), is_token_char);
}

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; }

std::string lowered(std::string_view text) {
  std::string out{text};
  std::transform(out.begin(), out.end(), out.begin(), lower);
  return out;
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

Refusal bad(std::string detail) { return {400, ErrorCode::kInvalidArgument, std::move(detail)}; }

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

// Decodes %xx once. nullopt for broken escapes and for bytes that would change what the path means.
std::optional<std::string> decoded_path(std::string_view raw) {
  std::string out;
  out.reserve(raw.size());
  for (std::size_t i = 0; i < raw.size(); ++i) {
    char c = raw[i];
    if (c == '%') {
      if (i + 2 >= raw.size()) return std::nullopt;
      const int high = hex_digit(raw[i + 1]);
      const int low = hex_digit(raw[i + 2]);
      if (high < 0 || low < 0) return std::nullopt;
      c = static_cast<char>(high * 16 + low);
      i += 2;
      if (c == '/') return std::nullopt;
    }
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7f || c == '\\') return std::nullopt;
    out.push_back(c);
  }
  return out;
}

bool has_dot_segment(std::string_view path) {
  while (!path.empty()) {
    path.remove_prefix(1);  // the slash
    const auto end = std::min(path.find('/'), path.size());
    const std::string_view part = path.substr(0, end);
    if (part == "." || part == "..") return true;
    path.remove_prefix(end);
  }
  return false;
}

// Sets path and query. `target` may be absolute only when it names the host of the Host header.
std::optional<Refusal> read_target(std::string_view target, web::Request& request) {
  for (const char c : target) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte <= 0x20 || byte >= 0x7f || c == '#' || c == '"' || c == '<' || c == '>')
      return bad("The target of the request holds a byte that must be escaped.");
  }
  if (!target.starts_with('/')) {
    const std::string_view host = web::header(request.headers, "host");
    const std::string prefix = "http://" + std::string{host};
    if (lowered(target.substr(0, prefix.size())) != lowered(prefix) ||
        target.size() == prefix.size() || target[prefix.size()] != '/')
      return bad("The target of the request must be a path on this host.");
    target.remove_prefix(prefix.size());
  }
  const auto mark = std::min(target.find('?'), target.size());
  if (mark < target.size()) request.query = std::string{target.substr(mark + 1)};
  auto path = decoded_path(target.substr(0, mark));
  if (!path || has_dot_segment(*path)) return bad("The path of the request is not valid.");
  request.path = std::move(*path);
  return std::nullopt;
}

std::optional<Refusal> read_header_line(std::string_view line, web::Headers& headers) {
  if (headers.size() == kMaxHeaders)
    return Refusal{431, ErrorCode::kTooLarge, "The request has more than 100 header lines."};
  const auto colon = line.find(':');
  if (colon == std::string_view::npos || !is_token(line.substr(0, colon)))
    return bad("A header line is not valid.");
  const std::string_view value = trimmed(line.substr(colon + 1));
  for (const char c : value) {
    const auto byte = static_cast<unsigned char>(c);
    if ((byte < 0x20 && c != '\t') || byte == 0x7f)
      return bad("A header value holds a control byte.");
  }
  headers.emplace_back(lowered(line.substr(0, colon)), std::string{value});
  return std::nullopt;
}

std::size_t count(const web::Headers& headers, std::string_view name) {
  return static_cast<std::size_t>(std::count_if(headers.begin(), headers.end(),
                                                [&](const auto& h) { return h.first == name; }));
}

// How the body ends, or why that is not certain.
std::optional<Refusal> read_framing(Head& head, bool is_http_1_0) {
  const web::Headers& headers = head.request.headers;
  const auto lengths = count(headers, "content-length");
  const auto codings = count(headers, "transfer-encoding");
  if (lengths > 1 || codings > 1 || (lengths == 1 && codings == 1))
    return bad("The length of the body is given more than once.");
  if (codings == 1) {
    if (is_http_1_0 || lowered(web::header(headers, "transfer-encoding")) != "chunked")
      return bad("Only the transfer coding 'chunked' is known here.");
    head.chunked = true;
  }
  if (lengths == 1) {
    const std::string_view text = web::header(headers, "content-length");
    if (text.empty() || text.size() > 15 ||
        !std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; }))
      return bad("Content-Length must be a plain number.");
    for (const char c : text) head.content_length = head.content_length * 10 + (c - '0');
  }
  return std::nullopt;
}

bool lists(std::string_view value, std::string_view word) {
  while (!value.empty()) {
    const auto comma = std::min(value.find(','), value.size());
    if (lowered(trimmed(value.substr(0, comma))) == word) return true;
    value.remove_prefix(std::min(comma + 1, value.size()));
  }
  return false;
}

struct StartLine {
  std::string_view method, target, version;
};

std::optional<StartLine> split_start(std::string_view line) {
  const auto first = line.find(' ');
  const auto last = line.rfind(' ');
  if (first == std::string_view::npos || first == last) return std::nullopt;
  const StartLine start{line.substr(0, first), line.substr(first + 1, last - first - 1),
                        line.substr(last + 1)};
  const bool plain = std::all_of(start.method.begin(), start.method.end(),
                                 [](char c) { return (c >= 'A' && c <= 'Z') || c == '-'; });
  if (start.method.empty() || start.method.size() > 20 || !plain || start.target.empty())
    return std::nullopt;
  return start;
}

}  // namespace

bool has_bare_line_end(std::string_view bytes) {
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    if (bytes[i] == '\n' && (i == 0 || bytes[i - 1] != '\r')) return true;
    if (bytes[i] == '\r' && i + 1 < bytes.size() && bytes[i + 1] != '\n') return true;
  }
  return false;
}

std::variant<Head, Refusal> read_head(std::string_view bytes) {
  if (has_bare_line_end(bytes)) return bad("Lines must end with carriage return and line feed.");
  if (!bytes.ends_with("\r\n\r\n")) return bad("The head of the request is not complete.");
  bytes.remove_suffix(2);  // what is left is lines, each with its end
  const auto end_of_start = bytes.find("\r\n");
  const auto start = split_start(bytes.substr(0, end_of_start));
  if (!start) return bad("The request line is not valid.");
  if (start->version != "HTTP/1.1" && start->version != "HTTP/1.0")
    return bad("The protocol must be HTTP/1.1.");

  Head head;
  head.request.method = std::string{start->method};
  bytes.remove_prefix(end_of_start + 2);
  while (!bytes.empty()) {
    const auto end = bytes.find("\r\n");
    if (end == 0) return bad("The head of the request ends twice.");
    if (auto refusal = read_header_line(bytes.substr(0, end), head.request.headers))
      return *refusal;
    bytes.remove_prefix(end + 2);
  }
  if (count(head.request.headers, "host") != 1) return bad("Exactly one Host header is needed.");
  const bool is_http_1_0 = start->version == "HTTP/1.0";
  if (auto refusal = read_framing(head, is_http_1_0)) return *refusal;
  if (auto refusal = read_target(start->target, head.request)) return *refusal;
  head.keep_alive =
      !is_http_1_0 && !lists(web::header(head.request.headers, "connection"), "close");
  const std::string_view expect = web::header(head.request.headers, "expect");
  if (!expect.empty() && lowered(expect) != "100-continue")
    return bad("This expectation cannot be met.");
  head.expects_continue = !expect.empty() && !is_http_1_0;
  return head;
}

}  // namespace heddle::http
