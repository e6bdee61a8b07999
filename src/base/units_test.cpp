#include "base/units.h"

#include <doctest/doctest.h>

#include "base/rng.h"

namespace heddle {
namespace {

std::string rule_of(const Error& error) { return error.fields.at(0).rule; }

}  // namespace

TEST_CASE("GPU amounts are read to the thousandth and printed without trailing zeros") {
  CHECK(*parse_thousandths("0.25", 1, 999) == 250);
  CHECK(*parse_thousandths("4", 1, 512'000) == 4000);
  CHECK(*parse_thousandths("0.2500000", 1, 999) == 250);
  CHECK(rule_of(parse_thousandths("0.1234", 1, 999).error()) == "too_many_decimals");
  CHECK(rule_of(parse_thousandths("1.5", 1, 999).error()) == "out_of_range");
  for (const char* bad : {"", ".5", "5.", "-1", "+1", "nan", "1e3", "0x1", " 1", "1 ", "1,5"})
    CHECK_MESSAGE(rule_of(parse_thousandths(bad, 0, 999'000).error()) == "not_a_number", bad);
  CHECK(format_gpu(GpuAmount::milli(250)) == "0.25");
  CHECK(format_gpu(GpuAmount::milli(4000)) == "4");
  CHECK(format_gpu(GpuAmount::milli(1)) == "0.001");
}

TEST_CASE("whole numbers refuse parts and never overflow") {
  CHECK(*parse_whole("-3", -5, 5) == -3);
  CHECK(*parse_whole("4.0", 1, 5) == 4);
  CHECK(rule_of(parse_whole("4.5", 1, 512).error()) == "not_whole");
  CHECK(rule_of(parse_whole("4611686018427387904", 1, 512).error()) == "out_of_range");
  CHECK(rule_of(parse_whole("99999999999999999999999", 1, 512).error()) == "out_of_range");
  CHECK(rule_of(parse_whole("0", 1, 512).error()) == "out_of_range");
}

TEST_CASE("memory wants its unit; binary and decimal units differ") {
  CHECK(*parse_memory("20GB", 1LL << 50) == 20'000'000'000);
  CHECK(*parse_memory("20 GiB", 1LL << 50) == 20LL << 30);
  CHECK(*parse_memory("1.5KiB", 1LL << 50) == 1536);
  CHECK(*parse_memory("0.001KiB", 1LL << 50) == 2);  // rounded up to a byte
  CHECK(rule_of(parse_memory("20", 1LL << 50).error()) == "unit_missing");
  CHECK(rule_of(parse_memory("20gb", 1LL << 50).error()) == "unknown_unit");
  CHECK(rule_of(parse_memory("2PiB", 1LL << 50).error()) == "out_of_range");
  CHECK(rule_of(parse_memory("0GB", 1LL << 50).error()) == "out_of_range");
  CHECK(rule_of(parse_memory("9000000000000000PiB", 1LL << 50).error()) == "out_of_range");
  CHECK(format_memory(80LL << 30) == "80 GiB");
  CHECK(format_memory((3LL << 40) / 2) == "1.5 TiB");
  CHECK(format_memory(512) == "512 B");
}

TEST_CASE("durations are read with their units from greater to smaller") {
  const Duration most = Duration::hours(24 * 366);
  CHECK(parse_duration("90s", {}, most)->ms == 90'000);
  CHECK(parse_duration("1h30m", {}, most)->ms == 5'400'000);
  CHECK(parse_duration("2d", {}, most)->ms == 172'800'000);
  CHECK(parse_duration("500ms", {}, most)->ms == 500);
  CHECK(rule_of(parse_duration("90", {}, most).error()) == "unit_missing");
  CHECK(rule_of(parse_duration("5y", {}, most).error()) == "unknown_unit");
  CHECK(rule_of(parse_duration("30m1h", {}, most).error()) == "unknown_unit");
  CHECK(rule_of(parse_duration("367d", {}, most).error()) == "out_of_range");
  CHECK(rule_of(parse_duration("99999999999999999d", {}, most).error()) == "out_of_range");
  CHECK(rule_of(parse_duration("999999999999999999999s", {}, most).error()) == "out_of_range");
  CHECK(rule_of(parse_duration("", {}, most).error()) == "not_a_duration");
  CHECK(format_duration(Duration::seconds(1742)) == "29 min 02 s");
  CHECK(format_duration(Duration::minutes(94)) == "1 h 34 min");
  CHECK(format_duration(Duration::hours(76)) == "3 d 04 h");
  CHECK(format_duration(Duration::millis(250)) == "250 ms");
}

TEST_CASE("instants are printed in RFC 3339 and read back, whatever the date") {
  CHECK(format_instant(Instant{1'780'403'480'000}) == "2026-06-02T12:31:20.000Z");
  CHECK(parse_instant("2026-06-02T12:31:20.000Z")->ms == 1'780'403'480'000);
  CHECK(parse_instant("2026-06-02T14:31:20+02:00")->ms == 1'780'403'480'000);
  for (const char* bad : {"", "2026-06-02", "2026-13-02T12:31:20Z", "2026-02-29T12:31:20Z",
                          "2026-06-02T24:00:00Z", "2026-06-02T12:31:20", "2026-06-02T12:31:20.Z",
                          "2026-06-02T12:31:20Zx", "1969-01-01T00:00:00Z"})
    CHECK_MESSAGE(rule_of(parse_instant(bad).error()) == "not_a_time", bad);
  Rng rng{1};
  for (int i = 0; i < 10'000; ++i) {
    const Instant instant{rng.between(1, 253'402'300'799'999)};
    const std::string text = format_instant(instant);
    CHECK_MESSAGE(parse_instant(text)->ms == instant.ms, text);
  }
}

TEST_CASE("money is printed with two decimals, half to even, and thousands apart") {
  CHECK(format_money(Money{1'052'400'000}, "EUR") == "1,052.40 EUR");
  CHECK(format_money(Money{5'000}, "EUR") == "0.00 EUR");
  CHECK(format_money(Money{15'000}, "EUR") == "0.02 EUR");
  CHECK(parse_money("3.20", Money{10'000'000})->micros == 3'200'000);
  CHECK(rule_of(parse_money("11", Money{10'000'000}).error()) == "out_of_range");
  CHECK(format_count(1'234'567) == "1,234,567");
  CHECK(format_count(-1234) == "-1,234");
  CHECK(format_count(999) == "999");
}

}  // namespace heddle
