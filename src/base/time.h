// Instant and Duration: whole milliseconds, as types that cannot be mixed up.
#pragma once

#include <compare>
#include <cstdint>

namespace heddle {

// A span of time in ms; may be negative as the difference of two instants.
struct Duration {
  std::int64_t ms = 0;

  static constexpr Duration millis(std::int64_t n) { return {n}; }
  static constexpr Duration seconds(std::int64_t n) { return {n * 1000}; }
  static constexpr Duration minutes(std::int64_t n) { return {n * 60'000}; }
  static constexpr Duration hours(std::int64_t n) { return {n * 3'600'000}; }

  friend constexpr auto operator<=>(Duration, Duration) = default;
  friend constexpr Duration operator+(Duration a, Duration b) { return {a.ms + b.ms}; }
  friend constexpr Duration operator-(Duration a, Duration b) { return {a.ms - b.ms}; }
};

// A point in time: ms since 1970-01-01 UTC. Zero means 'never' or 'not yet'.
struct Instant {
  std::int64_t ms = 0;

  constexpr bool is_set() const { return ms != 0; }
  friend constexpr auto operator<=>(Instant, Instant) = default;
  friend constexpr Instant operator+(Instant a, Duration d) { return {a.ms + d.ms}; }
  friend constexpr Instant operator-(Instant a, Duration d) { return {a.ms - d.ms}; }
  friend constexpr Duration operator-(Instant a, Instant b) { return {a.ms - b.ms}; }
};

}  // namespace heddle
