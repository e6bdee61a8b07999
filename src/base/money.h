// Money: millionths of one currency unit.
#pragma once

#include <compare>
#include <cstdint>

namespace heddle {

// Prices and totals as whole micro-units (1.00 EUR = 1'000'000). The installation has one currency;
// its three-letter code travels beside the amount at the edge.
struct Money {
  std::int64_t micros = 0;

  friend constexpr auto operator<=>(Money, Money) = default;
  friend constexpr Money operator+(Money a, Money b) { return {a.micros + b.micros}; }
};

// What `gpu_milli_ms` (thousandths of a device x milliseconds) cost at a price per GPU-hour.
// Computed in 128 bits and rounded once, half to even; neither is negative. What passes 64 bits
// stays at the greatest value.
Money cost_of(std::int64_t gpu_milli_ms, Money price_per_gpu_hour);

}  // namespace heddle
