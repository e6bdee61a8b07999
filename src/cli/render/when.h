// Times and durations for people, in the reader's zone.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/time.h"

namespace heddle::cli {

// As base/units; `-` stands before what is negative.
std::string duration_words(Duration duration);

// A time as the API writes it; nullopt when it is something else.
std::optional<Instant> parse_time(std::string_view text);

// `14:31:20` in the reader's zone (TZ).
std::string clock_words(Instant when);

// `14:31` if it is on the day of `now`, else `2 Jun 14:31`, with the year if it is another.
std::string short_time_words(Instant when, Instant now);

// `Tue 2 Jun 14:00:04 CEST`: the zone is named, once per screen.
std::string screen_time_words(Instant when);

// The wall clock of this machine, for elapsed times on a screen only.
Instant reader_now();

}  // namespace heddle::cli
