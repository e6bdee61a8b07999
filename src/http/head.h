// Head: the first part of a request, read so strictly that no two readers could disagree.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

#include "base/error.h"
#include "base/web.h"

namespace heddle::http {

struct Head {
  web::Request request;  // without body and peer; the path is decoded once
  bool keep_alive = true;
  bool expects_continue = false;
  bool chunked = false;
  std::int64_t content_length = 0;
};

// Why a request is not answered by a handler; the connection ends with it.
struct Refusal {
  int status = 400;
  ErrorCode code = ErrorCode::kInvalidArgument;
  std::string detail;  // a sentence for people
};

// `bytes` is everything up to and with the empty line. Whatever RFC 9112 leaves to taste is
// refused: bare line feeds, folded lines, space before a colon, doubled or odd Content-Length,
// Content-Length beside Transfer-Encoding, codings other than chunked, a target of another host,
// dot segments, encoded slashes, control bytes. Pure.
std::variant<Head, Refusal> read_head(std::string_view bytes);

// True if a line feed without carriage return, or a carriage return without line feed (but at the
// very end), stands in `bytes`: such a head is refused before it is complete.
bool has_bare_line_end(std::string_view bytes);

}  // namespace heddle::http
