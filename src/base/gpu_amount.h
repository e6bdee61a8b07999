// GpuAmount: how much GPU, in whole thousandths of one device.
#pragma once

#include <compare>
#include <cstdint>

#include "base/check.h"

namespace heddle {

// A quarter of a device is exactly 250 milli, so sums never drift. Amounts are never negative:
// taking more than there is means that our own books are wrong, and that is a HEDDLE_CHECK.
// Callers keep every amount at or below kMaxMilli, so sums of a million of them fit in 64 bits.
class GpuAmount {
 public:
  static constexpr std::int64_t kMilliPerDevice = 1000;
  static constexpr std::int64_t kMaxMilli = 1'000'000'000;  // a million devices

  constexpr GpuAmount() = default;
  static constexpr GpuAmount devices(std::int64_t n) { return milli(n * kMilliPerDevice); }
  static constexpr GpuAmount milli(std::int64_t n) { return GpuAmount{n}; }

  constexpr std::int64_t as_milli() const { return milli_; }
  constexpr bool is_zero() const { return milli_ == 0; }
  friend constexpr auto operator<=>(GpuAmount, GpuAmount) = default;

  constexpr GpuAmount& operator+=(GpuAmount other) { return *this = milli(milli_ + other.milli_); }
  constexpr GpuAmount& operator-=(GpuAmount other) { return *this = milli(milli_ - other.milli_); }
  friend constexpr GpuAmount operator+(GpuAmount a, GpuAmount b) { return a += b; }
  friend constexpr GpuAmount operator-(GpuAmount a, GpuAmount b) { return a -= b; }
  friend constexpr GpuAmount operator*(GpuAmount a, std::int64_t n) { return milli(a.milli_ * n); }

 private:
  constexpr explicit GpuAmount(std::int64_t milli) : milli_{milli} { HEDDLE_CHECK(milli >= 0); }

  std::int64_t milli_ = 0;
};

}  // namespace heddle
