#include "base/id.h"

#include <algorithm>

namespace heddle {
namespace {

constexpr std::string_view kDigits = "0123456789abcdefghijklmnopqrstuv";

}  // namespace

std::string id_text(std::string_view prefix, std::uint64_t value) {
  std::string digits;
  do {
    digits.push_back(kDigits[value % 32]);
    value /= 32;
  } while (value != 0);
  std::reverse(digits.begin(), digits.end());
  return std::string{prefix} + "_" + digits;
}

std::optional<std::uint64_t> parse_id_text(std::string_view prefix, std::string_view text) {
  if (!text.starts_with(prefix)) return std::nullopt;
  text.remove_prefix(prefix.size());
  if (!text.starts_with('_')) return std::nullopt;
  text.remove_prefix(1);
  if (text.empty() || text.size() > 13 || text.front() == '0') return std::nullopt;
  if (text.size() == 13 && text.front() > 'f') return std::nullopt;  // above 2^64
  std::uint64_t value = 0;
  for (const char c : text) {
    const auto digit = kDigits.find(c);
    if (digit == std::string_view::npos) return std::nullopt;
    value = value * 32 + digit;
  }
  return value;
}

}  // namespace heddle
