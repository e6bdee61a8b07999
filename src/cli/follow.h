// Follower: watches one workload to its end: what state it is in, why it waits, what it prints.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "cli/session/session.h"

namespace heddle::cli {

// Prints lines of logs: the program's output on standard output, its errors on standard error, the
// server's notes on standard error, with `[replica]` before each where there are several.
class LogPrinter {
 public:
  enum class Bytes : std::uint8_t { kSafe, kRaw };
  LogPrinter(Console& console, Bytes bytes, bool prefixed)
      : console_{console}, bytes_{bytes}, prefixed_{prefixed} {}

  // One LogLine of the API.
  void line(std::int64_t replica, const nlohmann::json& line);

 private:
  Console& console_;
  Bytes bytes_;
  bool prefixed_;
};

struct FollowOptions {
  bool tell_states = true;              // a line for each change: waiting, starting, running
  bool logs = true;                     // follow what it prints
  std::optional<std::int64_t> replica;  // only this one's log
  std::optional<std::int64_t> attempt;  // only this run's log
  std::optional<std::int64_t> tail;     // begin with the last so many lines
  LogPrinter::Bytes bytes = LogPrinter::Bytes::kSafe;
  bool until_started = false;      // stop once it runs
  std::optional<Duration> within;  // give up after this long
};

enum class FollowEnd : std::uint8_t { kEnded, kStarted, kTime, kInterrupted };

class Follower {
 public:
  // `workload` as the API gave it; the session outlives the follower.
  Follower(Session& session, const nlohmann::json& workload, FollowOptions options);
  ~Follower();
  Follower(const Follower&) = delete;
  Follower& operator=(const Follower&) = delete;

  // Goes on until the work has ended and its logs are whole, or until something else ends the
  // looking. After kInterrupted it may be called again and goes on where it was.
  Result<FollowEnd> follow();

  // As last seen.
  const nlohmann::json& workload() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace heddle::cli
