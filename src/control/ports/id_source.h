// IdSource: where new ids and secrets come from, so that simulations repeat.
#pragma once

#include <array>
#include <cstdint>

#include "base/time.h"

namespace heddle {

// 32 bytes that nobody can guess, and their SHA-256, the only form that is stored.
struct NewSecret {
  std::array<std::uint8_t, 32> bytes{};
  std::array<std::uint8_t, 32> hash{};
};

class IdSource {
 public:
  virtual ~IdSource() = default;
  // Never 0, never twice, greater than every value given before and, across restarts, than every
  // value given at an earlier `now`. Called on the control thread.
  virtual std::uint64_t next(Instant now) = 0;
  // Every value from now on is greater than `last`. Once, before the first next().
  virtual void start_after(std::uint64_t last) = 0;
  // In simulations: seeded. Called on the control thread.
  virtual NewSecret new_secret() = 0;
};

}  // namespace heddle
