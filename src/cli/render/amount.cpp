#include "cli/render/amount.h"

#include "base/units.h"

namespace heddle::cli {

std::string money_words(std::int64_t micros) {
  std::string out = format_money(Money{micros}, "");
  while (!out.empty() && out.back() == ' ') out.pop_back();
  return out;
}

std::string gpu_seconds_words(std::int64_t milli_ms) {
  const std::int64_t tenths = milli_ms / 100'000;
  if (tenths >= 100 || tenths % 10 == 0) return format_count(tenths / 10);
  return std::to_string(tenths / 10) + "." + std::to_string(tenths % 10);
}

std::string gpu_words(std::int64_t milli) { return format_thousandths(milli); }

std::string plural(std::int64_t count, std::string_view noun) {
  return format_count(count) + " " + std::string(noun) + (count == 1 ? "" : "s");
}

}  // namespace heddle::cli
