#include "cli/render/when.h"

#include <chrono>
#include <cstdio>
#include <ctime>

#include "base/units.h"

namespace heddle::cli {
namespace {

std::tm local(Instant when) {
  const std::time_t seconds = static_cast<std::time_t>(when.ms / 1000);
  std::tm out{};
  localtime_r(&seconds, &out);
  return out;
}

// English, whatever the locale: tables are golden files and are pasted into tickets.
constexpr const char* kMonths[] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                   "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
constexpr const char* kDays[] = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};

std::string day_words(const std::tm& t) {
  return std::to_string(t.tm_mday) + " " + kMonths[t.tm_mon];
}

}  // namespace

std::string duration_words(Duration duration) {
  if (duration.ms < 0) return "-" + format_duration(Duration::millis(-duration.ms));
  return format_duration(duration);
}

std::optional<Instant> parse_time(std::string_view text) {
  const auto parsed = parse_instant(text);
  if (!parsed) return std::nullopt;
  return *parsed;
}

std::string clock_words(Instant when) {
  const std::tm t = local(when);
  char buffer[32];
  std::snprintf(buffer, sizeof buffer, "%02d:%02d:%02d", t.tm_hour, t.tm_min, t.tm_sec);
  return buffer;
}

std::string short_time_words(Instant when, Instant now) {
  const std::tm t = local(when);
  const std::tm today = local(now);
  const std::string clock = clock_words(when).substr(0, 5);
  if (t.tm_year != today.tm_year)
    return day_words(t) + " " + std::to_string(t.tm_year + 1900) + " " + clock;
  if (t.tm_yday != today.tm_yday) return day_words(t) + " " + clock;
  return clock;
}

std::string screen_time_words(Instant when) {
  const std::tm t = local(when);
  return std::string(kDays[t.tm_wday]) + " " + day_words(t) + " " + clock_words(when) + " " +
         (t.tm_zone != nullptr ? t.tm_zone : "UTC");
}

Instant reader_now() {
  using std::chrono::system_clock;
  return {
      std::chrono::duration_cast<std::chrono::milliseconds>(system_clock::now().time_since_epoch())
          .count()};
}

}  // namespace heddle::cli
