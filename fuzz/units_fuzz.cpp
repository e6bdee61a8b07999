// Amounts, durations and times as people type them, from any bytes.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "base/units.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace heddle;
  const std::string_view text{reinterpret_cast<const char*>(data), size};
  if (const auto n = parse_whole(text, -1'000'000, 1'000'000))
    HEDDLE_CHECK(*n >= -1'000'000 && *n <= 1'000'000);
  if (const auto n = parse_thousandths(text, 1, 999))
    HEDDLE_CHECK(*parse_thousandths(format_thousandths(*n), 1, 999) == *n);
  if (const auto bytes = parse_memory(text, 1LL << 50)) HEDDLE_CHECK(*bytes >= 1);
  if (const auto span = parse_duration(text, {}, Duration::hours(24 * 366)))
    HEDDLE_CHECK(span->ms >= 0);
  if (const auto at = parse_instant(text); at && at->ms < 253'402'300'800'000)
    HEDDLE_CHECK(*parse_instant(format_instant(*at)) == *at);
  (void)parse_money(text, Money{1'000'000'000}).has_value();
  return 0;
}
