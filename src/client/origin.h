// Origin: scheme, host and port of a server, the unit of trust for credentials.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace heddle::client {

struct Origin {
  std::string scheme;  // http or https
  std::string host;    // lower case; an IPv6 address keeps its brackets
  int port = 0;
  friend bool operator==(const Origin&, const Origin&) = default;

  // Such as https://heddle.example or http://127.0.0.1:7070; the scheme's own port is left out.
  std::string text() const;
  // True if what is sent stays on this machine.
  bool is_loopback() const;
};

// Parses what people type: `https://host[:port][/]`. A missing scheme means https, or http for a
// loopback address. User, password, path, query and fragment are refused, as is any scheme but
// these two.
Result<Origin> parse_origin(std::string_view text);

// Where a Location header leads, seen from `from`: a path (starting with '/') stays there.
// Answers the origin and puts path and query into `target`.
Result<Origin> follow_location(const Origin& from, std::string_view location, std::string& target);

}  // namespace heddle::client
