#include "shim/log_writer.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

namespace heddle::shim {
namespace {

constexpr std::size_t kFlushBytes = 256 * 1024;

// The greatest segment number in a folder, or -1.
std::int64_t last_segment(int folder) {
  std::int64_t last = -1;
  for (const std::string& name : names_in(folder))
    last = std::max(last, log_segment_number(name).value_or(-1));
  return last;
}

}  // namespace

LogWriter::LogWriter(const std::string& folder, std::int64_t segment_bytes, std::int64_t segments)
    : folder_{open_folder(folder)}, segment_bytes_{segment_bytes}, segments_{segments} {
  number_ = last_segment(folder_.get()) + 1;
  open_segment();
}

void LogWriter::open_segment() {
  file_ = Fd{openat(folder_.get(), log_segment_name(number_).c_str(),
                    O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600)};
  size_ = 0;
  if (file_.is_open() && number_ >= segments_)
    unlinkat(folder_.get(), log_segment_name(number_ - segments_).c_str(), 0);
}

void LogWriter::append(const LogRecord& record) {
  if (waiting_.size() >= kFlushBytes) flush();
  append_log_record(waiting_, record);
  waiting_text_bytes_ += static_cast<std::int64_t>(record.text.size());
  last_at_ms_ = record.at_ms;
}

void LogWriter::flush() {
  if (waiting_.empty()) return;
  if (size_ >= segment_bytes_) {
    ++number_;
    open_segment();
  }
  if (!file_.is_open()) open_segment();
  if (dropped_bytes_ > 0) {
    const std::string note =
        std::to_string(dropped_bytes_) +
        " bytes of output are missing here: they could not be written to the disk.";
    std::string record;
    append_log_record(record, {last_at_ms_, LogRecord::Stream::kHeddle, false, note});
    if (write_out(record)) dropped_bytes_ = 0;
  }
  if (dropped_bytes_ > 0 || !write_out(waiting_)) dropped_bytes_ += waiting_text_bytes_;
  waiting_.clear();
  waiting_text_bytes_ = 0;
}

bool LogWriter::write_out(std::string_view bytes) {
  if (!file_.is_open()) return false;
  std::size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t wrote = pwrite(file_.get(), bytes.data() + done, bytes.size() - done,
                                 size_ + static_cast<std::int64_t>(done));
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote <= 0) {
      // A record cut in half would hide what follows it. Should this fail too, the next write goes
      // over the same place.
      (void)!ftruncate(file_.get(), size_);
      return false;
    }
    done += static_cast<std::size_t>(wrote);
  }
  size_ += static_cast<std::int64_t>(done);
  return true;
}

void LogWriter::finish(std::int64_t at_ms) {
  append({at_ms, LogRecord::Stream::kFinished, false, {}});
  flush();
}

void LineCutter::feed(std::string_view bytes, std::int64_t at_ms, LogWriter& log) {
  while (!bytes.empty()) {
    const std::size_t room = LogRecord::kMaxText - rest_.size();
    const std::string_view window = bytes.substr(0, room);
    const auto newline = window.find('\n');
    if (newline == std::string_view::npos && window.size() < room) {
      rest_ += window;
      return;
    }
    const bool partial = newline == std::string_view::npos;
    const std::string_view piece = window.substr(0, newline);
    if (rest_.empty()) {
      log.append({at_ms, stream_, partial, piece});
    } else {
      rest_ += piece;
      log.append({at_ms, stream_, partial, rest_});
      rest_.clear();
    }
    bytes.remove_prefix(piece.size() + (partial ? 0 : 1));
  }
}

void LineCutter::flush_rest(std::int64_t at_ms, bool ended, LogWriter& log) {
  if (rest_.empty()) return;
  log.append({at_ms, stream_, !ended, rest_});
  rest_.clear();
}

}  // namespace heddle::shim
