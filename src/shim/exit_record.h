// ExitRecord: how a run ended, as it waits in the run folder until the server has taken it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace heddle::shim {

// Once this is written, nothing of the run is left on the machine.
struct ExitRecord {
  enum class Cause : std::uint8_t {
    kExited,
    kSignalled,
    kOutOfMemory,
    kStartFailed,
    kNeverStarted,  // stopped before its first instruction
    kLost,          // whoever watched it was killed; the rest was ended
  };
  static constexpr std::int64_t kCauseCount = 6;
  static constexpr std::size_t kMessageBytes = 1024;

  std::uint64_t allocation = 0;
  std::int64_t attempt = 0;
  Cause cause = Cause::kExited;
  std::int64_t exit_code = 0;
  std::int64_t signal = 0;
  std::string message;              // at most kMessageBytes
  std::int64_t running_at_ms = 0;   // server's time line; 0: never ran
  std::int64_t ended_at_ms = 0;     // the program was gone
  std::int64_t released_at_ms = 0;  // its whole tree was gone
  std::int64_t cpu_ms = 0;
  std::int64_t peak_memory_bytes = 0;
  friend bool operator==(const ExitRecord&, const ExitRecord&) = default;

  std::string encode() const;
  static Result<ExitRecord> parse(std::string_view bytes);
};

}  // namespace heddle::shim
