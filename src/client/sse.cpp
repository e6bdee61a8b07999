#include "client/sse.h"

#include <charconv>

namespace heddle::client {

bool SseParser::feed(std::string_view bytes, const std::function<bool(const SseEvent&)>& on_event) {
  while (!bytes.empty()) {
    if (after_cr_ && bytes.front() == '\n') bytes.remove_prefix(1);
    after_cr_ = false;
    const auto end = bytes.find_first_of("\r\n");
    line_.append(bytes.substr(0, end));
    if (line_.size() > kMaxBytes) return false;
    if (end == std::string_view::npos) return true;
    after_cr_ = bytes[end] == '\r';
    bytes.remove_prefix(end + 1);
    std::string line;
    line.swap(line_);
    if (at_start_ && line.starts_with("\xEF\xBB\xBF")) line.erase(0, 3);
    at_start_ = false;
    if (!take_line(line, on_event)) return false;
  }
  return true;
}

bool SseParser::take_line(std::string_view line,
                          const std::function<bool(const SseEvent&)>& on_event) {
  if (line.empty()) {
    last_id_ = seen_id_;
    if (!has_data_) {
      type_.clear();
      return true;
    }
    const SseEvent event{type_.empty() ? "message" : type_, data_, last_id_};
    type_.clear();
    data_.clear();
    has_data_ = false;
    return on_event(event);
  }
  if (line.front() == ':') return true;
  const auto colon = line.find(':');
  std::string_view value =
      colon == std::string_view::npos ? std::string_view{} : line.substr(colon + 1);
  if (!value.empty() && value.front() == ' ') value.remove_prefix(1);
  take_field(line.substr(0, colon), value);
  return data_.size() <= kMaxBytes;
}

void SseParser::take_field(std::string_view name, std::string_view value) {
  if (name == "data") {
    if (has_data_) data_ += '\n';
    data_ += value;
    has_data_ = true;
  } else if (name == "event") {
    type_ = value;
  } else if (name == "id") {
    if (value.find('\0') == std::string_view::npos) seen_id_ = value;
  } else if (name == "retry") {
    std::int64_t ms = 0;
    const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), ms);
    if (error == std::errc{} && end == value.data() + value.size() && ms >= 0) retry_ms_ = ms;
  }
}

}  // namespace heddle::client
