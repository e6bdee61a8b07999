#include "base/units.h"

#include <algorithm>
#include <array>
#include <limits>

namespace heddle {
namespace {

constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();

bool is_digit(char c) { return c >= '0' && c <= '9'; }

Error refused(std::string_view text, std::string rule, std::string message) {
  return Error::invalid("", std::move(rule), std::move(message), std::string{text.substr(0, 64)});
}

Error out_of_range(std::string_view text, const std::string& low, const std::string& high) {
  return refused(text, "out_of_range", "must be from " + low + " to " + high);
}

// Takes a run of digits off `text`. False when there is none or the number passes 10^18.
bool take_digits(std::string_view& text, std::int64_t& value) {
  value = 0;
  std::size_t n = 0;
  while (n < text.size() && is_digit(text[n])) {
    if (value > 100'000'000'000'000'000) return false;
    value = value * 10 + (text[n++] - '0');
  }
  text.remove_prefix(n);
  return n > 0;
}

struct Decimal {
  std::int64_t scaled = 0;  // value x 10^decimals
  std::string rule;         // why not, empty when fine
};

// Takes digits[.digits] off `text`, scaled by 10^decimals.
Decimal take_decimal(std::string_view& text, int decimals) {
  std::int64_t scale = 1;
  for (int i = 0; i < decimals; ++i) scale *= 10;
  std::int64_t whole = 0;
  if (!take_digits(text, whole))
    return {0, !text.empty() && is_digit(text[0]) ? "out_of_range" : "not_a_number"};
  if (whole > kMax / scale - 1) return {0, "out_of_range"};
  std::int64_t scaled = whole * scale;
  if (text.starts_with('.')) {
    text.remove_prefix(1);
    if (text.empty() || !is_digit(text[0])) return {0, "not_a_number"};
    std::int64_t place = scale;
    for (; !text.empty() && is_digit(text[0]); text.remove_prefix(1)) {
      place /= 10;
      if (place == 0 && text[0] != '0')
        return {0, decimals == 0 ? "not_whole" : "too_many_decimals"};
      scaled += (text[0] - '0') * place;
    }
  }
  return {scaled, {}};
}

const char* sentence_for(const std::string& rule) {
  if (rule == "not_whole") return "must be a whole number";
  if (rule == "too_many_decimals") return "has too many decimals";
  if (rule == "out_of_range") return "is too large";
  return "is not a number";
}

struct Unit {
  std::string_view name;
  std::int64_t size;
};

constexpr std::array<Unit, 11> kMemoryUnits{{{"B", 1},
                                             {"KB", 1'000},
                                             {"MB", 1'000'000},
                                             {"GB", 1'000'000'000},
                                             {"TB", 1'000'000'000'000},
                                             {"PB", 1'000'000'000'000'000},
                                             {"KiB", 1LL << 10},
                                             {"MiB", 1LL << 20},
                                             {"GiB", 1LL << 30},
                                             {"TiB", 1LL << 40},
                                             {"PiB", 1LL << 50}}};

// From greater to smaller.
constexpr std::array<Unit, 5> kTimeUnits{
    {{"d", 86'400'000}, {"h", 3'600'000}, {"m", 60'000}, {"s", 1'000}, {"ms", 1}}};

std::string two_digits(std::int64_t n) { return (n < 10 ? "0" : "") + std::to_string(n); }

// Days since 1970-01-01 of a civil date, and back (the usual era arithmetic, proleptic Gregorian).
std::int64_t days_of(std::int64_t year, std::int64_t month, std::int64_t day) {
  year -= month <= 2;
  const std::int64_t era = year / 400;
  const std::int64_t of_era = year - era * 400;
  const std::int64_t of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
  return era * 146'097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719'468;
}

struct Civil {
  std::int64_t year, month, day;
};

Civil civil_of(std::int64_t days) {
  days += 719'468;
  const std::int64_t era = days / 146'097;
  const std::int64_t of_era = days - era * 146'097;
  const std::int64_t year_of_era =
      (of_era - of_era / 1460 + of_era / 36'524 - of_era / 146'096) / 365;
  const std::int64_t of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
  const std::int64_t shifted = (5 * of_year + 2) / 153;
  const std::int64_t month = shifted + (shifted < 10 ? 3 : -9);
  return {era * 400 + year_of_era + (month <= 2), month, of_year - (153 * shifted + 2) / 5 + 1};
}

std::int64_t days_in_month(std::int64_t year, std::int64_t month) {
  constexpr std::array<std::int64_t, 12> kDays{31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  const bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
  return kDays[static_cast<std::size_t>(month - 1)] + (month == 2 && leap ? 1 : 0);
}

// Takes exactly `count` digits and checks low..high; -1 when it is not so.
std::int64_t take_field(std::string_view& text, std::size_t count, std::int64_t low,
                        std::int64_t high) {
  if (text.size() < count) return -1;
  std::int64_t value = 0;
  for (std::size_t i = 0; i < count; ++i) {
    if (!is_digit(text[i])) return -1;
    value = value * 10 + (text[i] - '0');
  }
  text.remove_prefix(count);
  return value < low || value > high ? -1 : value;
}

bool take(std::string_view& text, char c) {
  if (!text.starts_with(c)) return false;
  text.remove_prefix(1);
  return true;
}

// Takes "Z" or "+hh:mm"; false when neither stands there.
bool take_offset(std::string_view& text, std::int64_t& offset_ms) {
  offset_ms = 0;
  if (take(text, 'Z') || take(text, 'z')) return true;
  if (text.empty() || (text[0] != '+' && text[0] != '-')) return false;
  const std::int64_t sign = text[0] == '-' ? -1 : 1;
  text.remove_prefix(1);
  const std::int64_t hours = take_field(text, 2, 0, 23);
  if (hours < 0 || !take(text, ':')) return false;
  const std::int64_t minutes = take_field(text, 2, 0, 59);
  if (minutes < 0) return false;
  offset_ms = sign * (hours * 60 + minutes) * 60'000;
  return true;
}

}  // namespace

Result<std::int64_t> parse_whole(std::string_view text, std::int64_t low, std::int64_t high) {
  std::string_view rest = text;
  const bool negative = low < 0 && take(rest, '-');
  const Decimal number = take_decimal(rest, 0);
  if (!number.rule.empty()) return refused(text, number.rule, sentence_for(number.rule));
  if (!rest.empty()) return refused(text, "not_a_number", sentence_for("not_a_number"));
  const std::int64_t value = negative ? -number.scaled : number.scaled;
  if (value < low || value > high)
    return out_of_range(text, std::to_string(low), std::to_string(high));
  return value;
}

Result<std::int64_t> parse_thousandths(std::string_view text, std::int64_t low, std::int64_t high) {
  std::string_view rest = text;
  const Decimal number = take_decimal(rest, 3);
  if (!number.rule.empty()) return refused(text, number.rule, sentence_for(number.rule));
  if (!rest.empty()) return refused(text, "not_a_number", sentence_for("not_a_number"));
  if (number.scaled < low || number.scaled > high)
    return out_of_range(text, format_thousandths(low), format_thousandths(high));
  return number.scaled;
}

Result<std::int64_t> parse_memory(std::string_view text, std::int64_t high) {
  std::string_view rest = text;
  const Decimal number = take_decimal(rest, 3);
  if (!number.rule.empty()) return refused(text, number.rule, sentence_for(number.rule));
  take(rest, ' ');
  if (rest.empty())
    return refused(text, "unit_missing", "needs a unit, such as GB (10^9 bytes) or GiB (2^30)");
  const auto unit = std::find_if(kMemoryUnits.begin(), kMemoryUnits.end(),
                                 [&](const Unit& u) { return u.name == rest; });
  if (unit == kMemoryUnits.end())
    return refused(text, "unknown_unit", "has no known unit; units are MB GB TB MiB GiB TiB");
  // 128 bits hold any product of the two.
  __extension__ using Wide = __int128;
  const Wide bytes = (static_cast<Wide>(number.scaled) * unit->size + 999) / 1000;
  if (bytes < 1 || bytes > high) return out_of_range(text, "1 B", format_memory(high));
  return static_cast<std::int64_t>(bytes);
}

Result<Duration> parse_duration(std::string_view text, Duration low, Duration high) {
  std::string_view rest = text;
  std::int64_t total_ms = 0;
  std::size_t next_unit = 0;  // units only get smaller
  do {
    std::int64_t count = 0;
    if (!take_digits(rest, count)) {
      const bool long_number = !rest.empty() && is_digit(rest[0]);
      if (long_number) return out_of_range(text, format_duration(low), format_duration(high));
      return refused(text, "not_a_duration", "is not a time span; write 90s, 90m, 12h or 2d");
    }
    std::size_t length = 0;
    while (length < rest.size() && !is_digit(rest[length])) ++length;
    const std::string_view name = rest.substr(0, length);
    if (name.empty()) return refused(text, "unit_missing", "needs a unit: ms, s, m, h or d");
    std::size_t unit = next_unit;
    while (unit < kTimeUnits.size() && kTimeUnits[unit].name != name) ++unit;
    if (unit == kTimeUnits.size())
      return refused(text, "unknown_unit", "has an unknown unit; units are ms, s, m, h, d");
    next_unit = unit + 1;
    if (count > (kMax - total_ms) / kTimeUnits[unit].size)
      return out_of_range(text, format_duration(low), format_duration(high));
    total_ms += count * kTimeUnits[unit].size;
    rest.remove_prefix(length);
  } while (!rest.empty());
  if (total_ms < low.ms || total_ms > high.ms)
    return out_of_range(text, format_duration(low), format_duration(high));
  return Duration::millis(total_ms);
}

Result<Instant> parse_instant(std::string_view text) {
  const Error wrong =
      refused(text, "not_a_time", "is not a time; write it as 2026-06-02T12:31:20Z");
  std::string_view rest = text;
  const std::int64_t year = take_field(rest, 4, 1970, 9999);
  if (year < 0 || !take(rest, '-')) return wrong;
  const std::int64_t month = take_field(rest, 2, 1, 12);
  if (month < 0 || !take(rest, '-')) return wrong;
  const std::int64_t day = take_field(rest, 2, 1, days_in_month(year, month));
  if (day < 0 || !(take(rest, 'T') || take(rest, 't'))) return wrong;
  const std::int64_t hour = take_field(rest, 2, 0, 23);
  if (hour < 0 || !take(rest, ':')) return wrong;
  const std::int64_t minute = take_field(rest, 2, 0, 59);
  if (minute < 0 || !take(rest, ':')) return wrong;
  const std::int64_t second = take_field(rest, 2, 0, 59);
  if (second < 0) return wrong;
  std::int64_t ms = 0;
  if (take(rest, '.')) {
    std::int64_t place = 100;
    if (rest.empty() || !is_digit(rest[0])) return wrong;
    for (; !rest.empty() && is_digit(rest[0]); rest.remove_prefix(1), place /= 10)
      ms += (rest[0] - '0') * place;
  }
  std::int64_t offset_ms = 0;
  if (!take_offset(rest, offset_ms) || !rest.empty()) return wrong;
  const std::int64_t seconds =
      days_of(year, month, day) * 86'400 + hour * 3600 + minute * 60 + second;
  const Instant instant{seconds * 1000 + ms - offset_ms};
  if (instant.ms < 0) return wrong;
  return instant;
}

Result<Money> parse_money(std::string_view text, Money high) {
  std::string_view rest = text;
  const Decimal number = take_decimal(rest, 6);
  if (!number.rule.empty()) return refused(text, number.rule, sentence_for(number.rule));
  if (!rest.empty()) return refused(text, "not_a_number", sentence_for("not_a_number"));
  if (number.scaled > high.micros)
    return out_of_range(text, "0", std::to_string(high.micros / 1'000'000));
  return Money{number.scaled};
}

std::string format_thousandths(std::int64_t thousandths) {
  std::string out = thousandths < 0 ? "-" : "";
  const std::int64_t size = thousandths < 0 ? -thousandths : thousandths;
  out += std::to_string(size / 1000);
  if (size % 1000 == 0) return out;
  std::string part = std::to_string(1000 + size % 1000).substr(1);
  part.erase(part.find_last_not_of('0') + 1);
  return out + "." + part;
}

std::string format_gpu(GpuAmount amount) { return format_thousandths(amount.as_milli()); }

std::string format_memory(std::int64_t bytes) {
  constexpr std::array<std::string_view, 6> kNames{"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
  std::size_t unit = 0;
  std::int64_t size = 1;
  while (unit + 1 < kNames.size() && bytes / 1024 >= size) {
    size *= 1024;
    ++unit;
  }
  const std::int64_t whole = bytes / size;
  // bytes % size is below 2^50, so ten times that fits.
  const std::int64_t tenth = bytes % size * 10 / size;
  std::string out = std::to_string(whole);
  if (tenth != 0) out += "." + std::to_string(tenth);
  return out + " " + std::string{kNames[unit]};
}

std::string format_duration(Duration duration) {
  if (duration.ms < 0) return "-" + format_duration(Duration{-duration.ms});
  const std::int64_t ms = duration.ms;
  if (ms < 1000) return std::to_string(ms) + " ms";
  const std::int64_t s = ms / 1000;
  if (s < 60) return std::to_string(s) + " s";
  if (s < 3600) return std::to_string(s / 60) + " min " + two_digits(s % 60) + " s";
  if (s < 86'400) return std::to_string(s / 3600) + " h " + two_digits(s / 60 % 60) + " min";
  return std::to_string(s / 86'400) + " d " + two_digits(s / 3600 % 24) + " h";
}

std::string format_count(std::int64_t count) {
  std::string digits = std::to_string(count);
  const std::size_t first = digits[0] == '-' ? 1 : 0;
  for (std::size_t at = digits.size(); at > first + 3;) {
    at -= 3;
    digits.insert(at, ",");
  }
  return digits;
}

std::string format_money(Money money, std::string_view currency) {
  const bool negative = money.micros < 0;
  const std::int64_t micros = negative ? -money.micros : money.micros;
  std::int64_t cents = micros / 10'000;
  const std::int64_t rest = micros % 10'000;
  if (rest > 5'000 || (rest == 5'000 && cents % 2 == 1)) ++cents;
  std::string out = negative && cents > 0 ? "-" : "";
  out += format_count(cents / 100) + "." + two_digits(cents % 100);
  if (!currency.empty()) out += " " + std::string{currency};
  return out;
}

std::string format_instant(Instant instant) {
  const std::int64_t days = instant.ms / 86'400'000;
  const std::int64_t ms = instant.ms % 86'400'000;
  const Civil date = civil_of(days);
  return std::to_string(date.year) + "-" + two_digits(date.month) + "-" + two_digits(date.day) +
         "T" + two_digits(ms / 3'600'000) + ":" + two_digits(ms / 60'000 % 60) + ":" +
         two_digits(ms / 1000 % 60) + "." + std::to_string(1000 + ms % 1000).substr(1) + "Z";
}

}  // namespace heddle
