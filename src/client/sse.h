// SseParser: bytes of a server-sent event stream in, whole events out.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace heddle::client {

struct SseEvent {
  std::string type = "message";
  std::string data;  // lines joined by '\n'
  std::string id;    // the last id seen on the stream, also from earlier events
};

// Follows the HTML standard's rules: LF, CR and CRLF end a line, ':' starts a comment, an id with a
// NUL is ignored, an event without data is dropped. A half event at the end of the stream is
// dropped by the caller with the parser: it is sent again after a resume.
class SseParser {
 public:
  // Longest line and longest event that are kept; more is an error (feed() answers false).
  static constexpr std::size_t kMaxBytes = 4 * 1024 * 1024;

  // Calls `on_event` for each event that is complete. False once the stream is not to be trusted:
  // too long, or `on_event` said false.
  bool feed(std::string_view bytes, const std::function<bool(const SseEvent&)>& on_event);

  // What to send as Last-Event-ID; set from the id of the last *complete* event.
  const std::string& last_id() const { return last_id_; }
  void set_last_id(std::string id) { last_id_ = id, seen_id_ = std::move(id); }

  // What the server wants between two tries, if it said so.
  std::optional<std::int64_t> retry_ms() const { return retry_ms_; }

 private:
  bool take_line(std::string_view line, const std::function<bool(const SseEvent&)>& on_event);
  void take_field(std::string_view name, std::string_view value);

  std::string line_;
  bool after_cr_ = false;
  bool at_start_ = true;
  std::string type_;
  std::string data_;
  bool has_data_ = false;
  std::string seen_id_;
  std::string last_id_;
  std::optional<std::int64_t> retry_ms_;
};

}  // namespace heddle::client
