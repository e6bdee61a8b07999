#include "engine/local/log_reader.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <vector>

#include "shim/log_format.h"
#include "shim/run_folder.h"

namespace heddle::local {
namespace {

using shim::Fd;
using shim::LogRecord;

constexpr std::int64_t kMaxPageBytes = 4 << 20;

Error no_log() { return {ErrorCode::kNotFound, "There is no log of it yet.", {}, {}, {}}; }

std::vector<std::int64_t> segments_in(int folder) {
  std::vector<std::int64_t> numbers;
  for (const std::string& name : shim::names_in(folder))
    if (const auto number = shim::log_segment_number(name)) numbers.push_back(*number);
  std::sort(numbers.begin(), numbers.end());
  return numbers;
}

// At most max_bytes of a segment from an offset; empty when the segment is gone or ends there.
std::string read_part(int folder, std::int64_t segment, std::int64_t offset,
                      std::int64_t max_bytes) {
  const Fd file{openat(folder, shim::log_segment_name(segment).c_str(),
                       O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)};
  struct stat facts {};
  if (!file.is_open() || fstat(file.get(), &facts) != 0 || !S_ISREG(facts.st_mode)) return {};
  const std::int64_t size = std::min<std::int64_t>(max_bytes, facts.st_size - offset);
  if (size <= 0) return {};
  std::string bytes(static_cast<std::size_t>(size), '\0');
  const ssize_t got = pread(file.get(), bytes.data(), bytes.size(), offset);
  bytes.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
  return bytes;
}

LogLine line_of(const LogRecord& record) {
  const LogStream stream = record.stream == LogRecord::Stream::kOut   ? LogStream::kOut
                           : record.stream == LogRecord::Stream::kErr ? LogStream::kErr
                                                                      : LogStream::kHeddle;
  return {Instant{record.at_ms}, stream, record.partial, std::string{record.text}};
}

// Where the last `lines` lines begin.
LogCursor tail_cursor(int folder, const std::vector<std::int64_t>& segments, std::int64_t lines) {
  for (auto segment = segments.rbegin(); segment != segments.rend(); ++segment) {
    const std::string bytes = read_part(folder, *segment, 0, 1LL << 40);
    // The last record may be half written; whole ones are found from the front then.
    std::size_t end = 0;
    LogRecord record;
    std::vector<std::size_t> begins;
    while (shim::parse_log_record(std::string_view{bytes}.substr(end), record) ==
           shim::LogParse::kRecord) {
      if (record.stream != LogRecord::Stream::kFinished) begins.push_back(end);
      end += record.bytes();
    }
    const auto here = static_cast<std::int64_t>(begins.size());
    if (here >= lines)
      return {*segment, static_cast<std::int64_t>(
                            lines == 0 ? end : begins[static_cast<std::size_t>(here - lines)])};
    lines -= here;
  }
  return {segments.front(), 0};
}

// Appends whole records of one segment; false when the page is full.
bool take_records(std::string_view bytes, std::int64_t& budget, LogPage& page) {
  LogRecord record;
  while (budget > 0) {
    if (shim::parse_log_record(bytes, record) != shim::LogParse::kRecord) return true;
    const auto size = static_cast<std::int64_t>(record.bytes());
    bytes.remove_prefix(record.bytes());
    page.next.offset += size;
    budget -= size;
    if (record.stream == LogRecord::Stream::kFinished)
      page.finished = true;
    else
      page.lines.push_back(line_of(record));
  }
  return false;
}

bool is_damaged(std::string_view bytes) {
  LogRecord record;
  return shim::parse_log_record(bytes, record) == shim::LogParse::kDamaged;
}

}  // namespace

Result<LogPage> read_log(const std::string& path, const LogQuery& query) {
  const Fd folder = shim::open_folder(path);
  if (!folder.is_open()) return no_log();
  const std::vector<std::int64_t> segments = segments_in(folder.get());
  if (segments.empty()) return no_log();
  LogPage page;
  page.next = query.tail > 0 ? tail_cursor(folder.get(), segments, query.tail) : query.from;
  if (page.next.segment < segments.front()) {
    page.skipped = query.tail == 0 && query.from != LogCursor{};
    page.next = {segments.front(), 0};
  }
  if (page.next.offset < 0)
    return Error::invalid("/cursor", "out_of_range", "A place in a log is never negative.");
  std::int64_t budget = std::clamp<std::int64_t>(query.max_bytes, 1, kMaxPageBytes);
  for (;;) {
    // Asked before reading: a segment that has a next one is never written again.
    const bool has_next = page.next.segment < segments.back();
    const std::string bytes =
        read_part(folder.get(), page.next.segment, page.next.offset,
                  budget + static_cast<std::int64_t>(LogRecord::kMaxText + LogRecord::kHeadBytes +
                                                     LogRecord::kTailBytes));
    if (is_damaged(bytes))
      return Error::invalid("/cursor", "malformed", "No line begins at this place of the log.");
    if (!take_records(bytes, budget, page)) return page;
    if (!has_next) break;
    ++page.next.segment;
    page.next.offset = 0;
  }
  page.at_end = true;
  return page;
}

}  // namespace heddle::local
