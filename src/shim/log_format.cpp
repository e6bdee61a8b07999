#include "shim/log_format.h"

#include <charconv>
#include <cstring>

#include "base/check.h"

namespace heddle::shim {
namespace {

constexpr std::uint32_t kMagic = 0x676c6468;  // "hdlg"

template <class T>
void put(std::string& out, T value) {
  char bytes[sizeof value];
  std::memcpy(bytes, &value, sizeof value);
  out.append(bytes, sizeof value);
}

template <class T>
T get(std::string_view bytes, std::size_t at) {
  T value;
  std::memcpy(&value, bytes.data() + at, sizeof value);
  return value;
}

}  // namespace

void append_log_record(std::string& out, const LogRecord& record) {
  HEDDLE_CHECK(record.text.size() <= LogRecord::kMaxText);
  const auto length = static_cast<std::uint32_t>(record.text.size());
  put(out, kMagic);
  put(out, length);
  put(out, static_cast<std::uint16_t>(record.stream));
  put(out, static_cast<std::uint16_t>(record.partial ? 1 : 0));
  put(out, record.at_ms);
  out += record.text;
  put(out, length);
}

LogParse parse_log_record(std::string_view bytes, LogRecord& record) {
  if (bytes.size() < LogRecord::kHeadBytes) return LogParse::kIncomplete;
  const auto length = get<std::uint32_t>(bytes, 4);
  const auto stream = get<std::uint16_t>(bytes, 8);
  const auto flags = get<std::uint16_t>(bytes, 10);
  if (get<std::uint32_t>(bytes, 0) != kMagic || length > LogRecord::kMaxText || stream > 3 ||
      flags > 1)
    return LogParse::kDamaged;
  if (bytes.size() < LogRecord::kHeadBytes + length + LogRecord::kTailBytes)
    return LogParse::kIncomplete;
  if (get<std::uint32_t>(bytes, LogRecord::kHeadBytes + length) != length)
    return LogParse::kDamaged;
  record.stream = static_cast<LogRecord::Stream>(stream);
  record.partial = flags == 1;
  record.at_ms = get<std::int64_t>(bytes, 12);
  record.text = bytes.substr(LogRecord::kHeadBytes, length);
  return LogParse::kRecord;
}

std::optional<std::size_t> log_record_before(std::string_view bytes, std::size_t end) {
  if (end > bytes.size() || end < LogRecord::kHeadBytes + LogRecord::kTailBytes)
    return std::nullopt;
  const auto length = get<std::uint32_t>(bytes, end - LogRecord::kTailBytes);
  if (length > LogRecord::kMaxText) return std::nullopt;
  const std::size_t size = LogRecord::kHeadBytes + length + LogRecord::kTailBytes;
  LogRecord record;
  if (size > end || parse_log_record(bytes.substr(end - size, size), record) != LogParse::kRecord)
    return std::nullopt;
  return end - size;
}

std::string log_segment_name(std::int64_t number) {
  std::string digits = std::to_string(number);
  if (digits.size() < 6) digits.insert(0, 6 - digits.size(), '0');
  return digits + ".log";
}

std::optional<std::int64_t> log_segment_number(std::string_view name) {
  if (name.size() < 10 || name.size() > 20 || !name.ends_with(".log")) return std::nullopt;
  std::int64_t number = -1;
  const std::string_view digits = name.substr(0, name.size() - 4);
  const auto [at, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (error != std::errc{} || at != digits.data() + digits.size() || number < 0)
    return std::nullopt;
  if (log_segment_name(number) != name) return std::nullopt;
  return number;
}

}  // namespace heddle::shim
