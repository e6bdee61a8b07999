#include <doctest/doctest.h>
#include <sys/resource.h>

#include <csignal>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "base/rng.h"
#include "shim/log_writer.h"
#include "shim/scratch_folder.h"

namespace heddle::shim {
namespace {

std::string bytes_of(const std::string& path) {
  std::ifstream file{path, std::ios::binary};
  return {std::istreambuf_iterator<char>{file}, {}};
}

struct Line {
  LogRecord::Stream stream;
  bool partial;
  std::string text;
};
std::vector<Line> lines_of(const std::string& bytes) {
  std::vector<Line> lines;
  std::string_view rest = bytes;
  LogRecord record;
  while (!rest.empty()) {
    REQUIRE(parse_log_record(rest, record) == LogParse::kRecord);
    lines.push_back({record.stream, record.partial, std::string{record.text}});
    rest.remove_prefix(record.bytes());
  }
  return lines;
}

}  // namespace

TEST_CASE("lines are kept byte for byte, long ones in partial pieces") {
  const ScratchFolder folder;
  LogWriter log{folder.path(), 1 << 20, 2};
  LineCutter out{LogRecord::Stream::kOut};
  const std::string odd{"a\0\x1b[31m\xff", 8};
  out.feed(odd + "\n\nrest", 1, log);
  out.feed(" of it\n" + std::string(LogRecord::kMaxText + 3, 'x') + "\nunfinished", 2, log);
  out.flush_rest(3, true, log);
  log.finish(4);
  const auto lines = lines_of(bytes_of(folder.path() + "/000000.log"));
  REQUIRE(lines.size() == 7);
  CHECK(lines[0].text == odd);
  CHECK(lines[1].text.empty());
  CHECK(lines[2].text == "rest of it");
  CHECK(lines[3].partial);
  CHECK(lines[3].text.size() == LogRecord::kMaxText);
  CHECK(lines[4].text == "xxx");
  CHECK_FALSE(lines[4].partial);
  CHECK(lines[5].text == "unfinished");
  CHECK(lines[6].stream == LogRecord::Stream::kFinished);
}

TEST_CASE("however the bytes arrive, the lines are the same") {
  const std::string text = "one\ntwo\n\n" + std::string(LogRecord::kMaxText, 'y') + "\nlast\n";
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    CAPTURE(seed);
    Rng rng{seed};
    const ScratchFolder folder;
    LogWriter log{folder.path(), 1 << 20, 2};
    LineCutter out{LogRecord::Stream::kErr};
    for (std::size_t at = 0; at < text.size();) {
      const auto size = static_cast<std::size_t>(rng.between(1, rng.one_in(2) ? 5 : 40'000));
      out.feed(std::string_view{text}.substr(at, size), 1, log);
      at += size;
    }
    log.flush();
    std::string joined;
    for (const Line& line : lines_of(bytes_of(folder.path() + "/000000.log")))
      joined += line.text + (line.partial ? "" : "\n");
    CHECK(joined == text);
  }
}

TEST_CASE("a log without end and without newline stays within its segments") {
  const ScratchFolder folder;
  constexpr std::int64_t kSegment = 100'000;
  LogWriter log{folder.path(), kSegment, 2};
  LineCutter out{LogRecord::Stream::kOut};
  const std::string chunk(LogRecord::kMaxText, 'z');
  for (int i = 0; i < 100; ++i) {
    out.feed(chunk, i, log);
    log.flush();
  }
  std::int64_t total = 0;
  int files = 0;
  for (const auto& entry : std::filesystem::directory_iterator{folder.path()}) {
    total += static_cast<std::int64_t>(entry.file_size());
    ++files;
  }
  CHECK(files == 2);
  CHECK(total <= 2 * (kSegment + 70'000));
}

TEST_CASE("what the disk did not take is counted and said, and no record is cut in half") {
  const ScratchFolder folder;
  signal(SIGXFSZ, SIG_IGN);
  rlimit old{};
  getrlimit(RLIMIT_FSIZE, &old);
  LogWriter log{folder.path(), 1 << 20, 2};
  log.append({1, LogRecord::Stream::kOut, false, "before"});
  log.flush();
  const rlimit small{100, old.rlim_max};
  setrlimit(RLIMIT_FSIZE, &small);
  log.append({2, LogRecord::Stream::kOut, false, std::string(500, 'l')});
  log.flush();
  log.append({2, LogRecord::Stream::kOut, false, std::string(7, 'l')});
  log.flush();
  setrlimit(RLIMIT_FSIZE, &old);
  log.append({3, LogRecord::Stream::kOut, false, "after"});
  log.flush();
  const auto lines = lines_of(bytes_of(folder.path() + "/000000.log"));
  REQUIRE(lines.size() == 3);
  CHECK(lines[0].text == "before");
  CHECK(lines[1].stream == LogRecord::Stream::kHeddle);
  CHECK(lines[1].text.starts_with("507 bytes"));
  CHECK(lines[2].text == "after");
}

TEST_CASE("foreign bytes never parse as something out of bounds") {
  std::string good;
  append_log_record(good, {9, LogRecord::Stream::kErr, true, "hello"});
  CHECK(log_record_before(good, good.size()) == 0);
  for (std::uint64_t seed = 1; seed <= 5'000; ++seed) {
    CAPTURE(seed);
    Rng rng{seed};
    std::string bytes = good + good;
    for (int i = 0; i < 3; ++i)
      bytes[static_cast<std::size_t>(rng.between(0, static_cast<std::int64_t>(bytes.size()) - 1))] =
          static_cast<char>(rng.between(0, 255));
    bytes.resize(static_cast<std::size_t>(rng.between(0, static_cast<std::int64_t>(bytes.size()))));
    LogRecord record;
    if (parse_log_record(bytes, record) == LogParse::kRecord) CHECK(record.bytes() <= bytes.size());
    for (std::size_t end = 0; end <= bytes.size() + 1; ++end) {
      const auto begin = log_record_before(bytes, end);
      if (begin) CHECK(*begin < end);
    }
  }
  CHECK_FALSE(log_segment_number("../../x.log").has_value());
  CHECK_FALSE(log_segment_number("0000001.log").has_value());
  CHECK(log_segment_number("000001.log") == 1);
  CHECK(log_segment_number("1234567.log") == 1234567);
}

}  // namespace heddle::shim
