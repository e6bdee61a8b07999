// Rng: a small seeded generator for tests and the simulator; the same on every machine.
#pragma once

#include <cstdint>

#include "base/check.h"

namespace heddle {

// SplitMix64 (Steele, Lea, Flood 2014). Not for secrets.
class Rng {
 public:
  explicit Rng(std::uint64_t seed) : state_{seed} {}

  std::uint64_t next() {
    state_ += 0x9e3779b97f4a7c15ULL;
    std::uint64_t z = state_;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    return z ^ (z >> 31);
  }

  // Uniform enough for tests, both ends included; low <= high.
  std::int64_t between(std::int64_t low, std::int64_t high) {
    HEDDLE_CHECK(low <= high);
    const auto span = static_cast<std::uint64_t>(high - low) + 1;
    return low + static_cast<std::int64_t>(span == 0 ? next() : next() % span);
  }

  // True once in `n` on average.
  bool one_in(std::uint64_t n) { return next() % n == 0; }

 private:
  std::uint64_t state_;
};

}  // namespace heddle
