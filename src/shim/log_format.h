// The form of a replica's log on disk: numbered segments of records, bounded in all.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace heddle::shim {

// A record: 20 bytes of head, the text, 4 bytes that repeat the text's length (so that a reader can
// walk backwards), all little-endian. Segments are named 000000.log, 000001.log ...
struct LogRecord {
  enum class Stream : std::uint8_t {
    kOut,
    kErr,
    kHeddle,
    kFinished
  };  // kFinished: the log is whole
  static constexpr std::size_t kMaxText = 64 * 1024;
  static constexpr std::size_t kHeadBytes = 20;
  static constexpr std::size_t kTailBytes = 4;

  std::int64_t at_ms = 0;  // the server's time line
  Stream stream = Stream::kOut;
  bool partial = false;  // the next record of this stream continues the line
  std::string_view text;
  std::size_t bytes() const { return kHeadBytes + text.size() + kTailBytes; }
};

void append_log_record(std::string& out, const LogRecord& record);

enum class LogParse : std::uint8_t { kRecord, kIncomplete, kDamaged };
// The record at the beginning of `bytes`; its text points into them.
LogParse parse_log_record(std::string_view bytes, LogRecord& record);
// Where the record that ends at `end` begins; nullopt when none does.
std::optional<std::size_t> log_record_before(std::string_view bytes, std::size_t end);

std::string log_segment_name(std::int64_t number);
// nullopt when it is no segment's name.
std::optional<std::int64_t> log_segment_number(std::string_view name);

}  // namespace heddle::shim
