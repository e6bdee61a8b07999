#include "client/origin.h"

#include <charconv>

namespace heddle::client {
namespace {

Error bad(std::string_view text, std::string_view why) {
  return Error::invalid(
      "/server", "not_an_address",
      "'" + std::string(text.substr(0, 200)) + "' is not a server address: " + std::string(why),
      std::string(text.substr(0, 64)));
}

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return out;
}

bool is_host_char(char c) {
  return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '.' || c == '-' || c == '_';
}

bool is_host(std::string_view host) {
  if (host.empty() || host.size() > 253) return false;
  if (host.front() == '[') {
    if (host.size() < 4 || host.back() != ']') return false;
    for (char c : host.substr(1, host.size() - 2))
      if (!((c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || c == ':' || c == '.')) return false;
    return true;
  }
  for (char c : host)
    if (!is_host_char(c)) return false;
  return host.front() != '-';
}

bool loopback_host(std::string_view host) {
  return host == "localhost" || host == "[::1]" || host.starts_with("127.");
}

}  // namespace

std::string Origin::text() const {
  const int usual = scheme == "https" ? 443 : 80;
  std::string out = scheme + "://" + host;
  if (port != usual) out += ":" + std::to_string(port);
  return out;
}

bool Origin::is_loopback() const { return loopback_host(host); }

Result<Origin> parse_origin(std::string_view text) {
  std::string_view rest = text;
  Origin origin;
  if (const auto at = rest.find("://"); at != std::string_view::npos) {
    origin.scheme = lower(rest.substr(0, at));
    rest.remove_prefix(at + 3);
    if (origin.scheme != "http" && origin.scheme != "https")
      return bad(text, "it starts with http:// or https://");
  }
  if (!rest.empty() && rest.back() == '/') rest.remove_suffix(1);
  if (rest.find_first_of("/?#") != std::string_view::npos)
    return bad(text, "only scheme, host and port are taken, no path");
  if (rest.find('@') != std::string_view::npos)
    return bad(text, "no user or password in it; use heddle login");
  std::string_view port;
  const auto bracket = rest.rfind(']');
  const auto colon = rest.rfind(':');
  if (colon != std::string_view::npos && (bracket == std::string_view::npos || colon > bracket)) {
    port = rest.substr(colon + 1);
    rest = rest.substr(0, colon);
    const auto [end, error] = std::from_chars(port.data(), port.data() + port.size(), origin.port);
    if (error != std::errc{} || end != port.data() + port.size() || origin.port < 1 ||
        origin.port > 65535)
      return bad(text, "the port is a number from 1 to 65535");
  }
  origin.host = lower(rest);
  if (!is_host(origin.host)) return bad(text, "the host is missing or not valid");
  if (origin.scheme.empty()) origin.scheme = loopback_host(origin.host) ? "http" : "https";
  if (origin.port == 0) origin.port = origin.scheme == "https" ? 443 : 80;
  return origin;
}

Result<Origin> follow_location(const Origin& from, std::string_view location, std::string& target) {
  if (location.starts_with("/") && !location.starts_with("//")) {
    target = location;
    return from;
  }
  const auto scheme = location.find("://");
  if (scheme == std::string_view::npos) return bad(location, "a redirect needs a full address");
  const auto slash = location.find_first_of("/?#", scheme + 3);
  target = slash == std::string_view::npos ? "/" : std::string(location.substr(slash));
  if (target.front() != '/') target.insert(target.begin(), '/');
  return parse_origin(location.substr(0, slash));
}

}  // namespace heddle::client
