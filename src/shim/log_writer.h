// LogWriter: keeps the last so many bytes of a replica's output; never fails, never blocks a job.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "shim/log_format.h"
#include "shim/run_folder.h"

namespace heddle::shim {

// What cannot be written (disk full) is counted and said in a line of ours once writing works
// again. One thread.
class LogWriter {
 public:
  // `folder` exists. Goes on behind the segments that are there already.
  LogWriter(const std::string& folder, std::int64_t segment_bytes, std::int64_t segments);

  // text at most LogRecord::kMaxText. Reaches the disk with the next flush().
  void append(const LogRecord& record);
  void flush();
  // Flushes and marks the log as whole.
  void finish(std::int64_t at_ms);

 private:
  void open_segment();
  bool write_out(std::string_view bytes);

  Fd folder_;
  Fd file_;
  std::int64_t segment_bytes_;
  std::int64_t segments_;
  std::int64_t number_ = 0;
  std::int64_t size_ = 0;  // of the open segment, whole records only
  std::string waiting_;
  std::int64_t waiting_text_bytes_ = 0;
  std::int64_t dropped_bytes_ = 0;
  std::int64_t last_at_ms_ = 0;
};

// Cuts a stream of bytes into lines of at most LogRecord::kMaxText.
class LineCutter {
 public:
  explicit LineCutter(LogRecord::Stream stream) : stream_{stream} {}
  void feed(std::string_view bytes, std::int64_t at_ms, LogWriter& log);
  bool has_rest() const { return !rest_.empty(); }
  // Hands on the unfinished line: as partial while the program still runs (a prompt, a progress
  // bar), else as the last line.
  void flush_rest(std::int64_t at_ms, bool ended, LogWriter& log);

 private:
  LogRecord::Stream stream_;
  std::string rest_;
};

}  // namespace heddle::shim
