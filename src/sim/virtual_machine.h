// VirtualClock and SeededIds: time and chance as the simulator wants them.
#pragma once

#include <cstdint>

#include "base/rng.h"
#include "control/ports/clock.h"
#include "control/ports/id_source.h"

namespace heddle {

// A clock that moves only when it is told to. One thread.
class VirtualClock : public Clock {
 public:
  static constexpr Instant kStart{1'780'000'000'000};

  ClockReading read() override { return {boot_ms_, boot_id_, true_time() + wall_error_}; }
  void advance(Duration by) { boot_ms_ += by.ms; }
  // What a perfect clock would show.
  Instant true_time() const { return kStart + Duration{boot_ms_}; }
  void set_wall_error(Duration error) { wall_error_ = error; }

 private:
  std::int64_t boot_ms_ = 0;
  std::string boot_id_ = "virtual";
  Duration wall_error_;
};

// Ids 1, 2, 3 ...; secrets from a seed, with a hash that is no hash. One thread.
class SeededIds : public IdSource {
 public:
  explicit SeededIds(std::uint64_t seed) : rng_{seed} {}
  std::uint64_t next(Instant) override { return ++last_; }
  void start_after(std::uint64_t last) override { last_ = last > last_ ? last : last_; }
  NewSecret new_secret() override {
    NewSecret secret;
    for (auto& byte : secret.bytes) byte = static_cast<std::uint8_t>(rng_.next());
    for (std::size_t i = 0; i < secret.hash.size(); ++i)
      secret.hash[i] = static_cast<std::uint8_t>(secret.bytes[i] ^ 0xa5);
    return secret;
  }

 private:
  Rng rng_;
  std::uint64_t last_ = 0;
};

}  // namespace heddle
