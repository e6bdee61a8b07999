// Units: reads and prints amounts as people type them: 0.25, 20GiB, 90m, 3.20 EUR, RFC 3339 times.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/gpu_amount.h"
#include "base/money.h"
#include "base/result.h"
#include "base/time.h"

namespace heddle {

// Every parser takes the whole text, trusts nothing, and fails with invalid_argument: one field
// with an empty pointer (the caller knows where the text came from), a rule such as not_a_number,
// not_whole, too_many_decimals, out_of_range, unit_missing, unknown_unit, and the text as `given`.

// A whole number, with sign when low < 0: "4".
Result<std::int64_t> parse_whole(std::string_view text, std::int64_t low, std::int64_t high);

// A number with at most three decimals, as thousandths: "0.25" -> 250. Bounds in thousandths.
Result<std::int64_t> parse_thousandths(std::string_view text, std::int64_t low, std::int64_t high);

// "20GB" (10^9), "20GiB" (2^30), "1.5TiB", also with a space before the unit; B KB MB GB TB PB and
// KiB MiB GiB TiB PiB. Rounded up to a whole byte. A bare number is refused: two units are
// possible. 1..high bytes.
Result<std::int64_t> parse_memory(std::string_view text, std::int64_t high);

// "90s" "90m" "12h" "2d" "500ms", or several from greater to smaller: "1h30m". low..high.
Result<Duration> parse_duration(std::string_view text, Duration low, Duration high);

// "2026-06-02T12:31:20.000Z"; fractions to ms, or an offset such as +02:00. Years 1970 to 9999.
Result<Instant> parse_instant(std::string_view text);

// "3.20", in whole units of the currency with at most six decimals. 0..high.
Result<Money> parse_money(std::string_view text, Money high);

// 250 -> "0.25", 4000 -> "4": up to three decimals, no trailing zeros.
std::string format_gpu(GpuAmount amount);
std::string format_thousandths(std::int64_t thousandths);

// The greatest binary unit that leaves at least 1, with at most one decimal: "80 GiB", "1.5 TiB".
std::string format_memory(std::int64_t bytes);

// Two units at most: "29 min 02 s", "1 h 34 min", "3 d 04 h", "8 s", "250 ms".
std::string format_duration(Duration duration);

// "1,052.40 EUR": two decimals rounded half to even, thousands with a comma.
std::string format_money(Money money, std::string_view currency);

// 18472 -> "18,472".
std::string format_count(std::int64_t count);

// RFC 3339, UTC, ms: "2026-06-02T12:31:20.000Z".
std::string format_instant(Instant instant);

}  // namespace heddle
