#include <doctest/doctest.h>

#include <cstdint>
#include <set>
#include <string>

#include "base/error.h"
#include "base/id.h"
#include "base/money.h"
#include "base/rng.h"

namespace heddle {

struct ThingTag {
  static constexpr std::string_view kPrefix = "th";
};

TEST_CASE("an id reads back from its text, and nothing else does") {
  Rng rng{1};
  for (int i = 0; i < 1000; ++i) {
    const std::uint64_t value = rng.next() >> rng.between(0, 63);
    if (value == 0) continue;
    const Id<ThingTag> id{value};
    CHECK(Id<ThingTag>::parse(id.text()) == id);
  }
  for (const char* bad : {"", "th", "th_", "th_0", "th_01", "wl_1", "th_W", "th_g000000000000",
                          "th_10000000000000", " th_1", "th_1 ", "th_-1"})
    CHECK_FALSE(Id<ThingTag>::parse(bad).has_value());
}

TEST_CASE("every error code has a row, and names are unique") {
  std::set<std::string_view> names;
  for (int i = 0; i < kErrorCodeCount; ++i) {
    const auto code = static_cast<ErrorCode>(i);
    CHECK(info(code).http_status >= 400);
    CHECK(info(code).exit_code >= 2);
    CHECK(names.insert(info(code).name).second);
    CHECK(error_code_named(info(code).name) == code);
  }
  CHECK_FALSE(error_code_named("nonsense").has_value());
}

TEST_CASE("cost is rounded once, half to even") {
  constexpr std::int64_t kGpuHour = 1000LL * 3'600'000;
  CHECK(cost_of(kGpuHour, {1'000'000}).micros == 1'000'000);
  CHECK(cost_of(kGpuHour / 2, {1}).micros == 0);
  CHECK(cost_of(kGpuHour / 2 * 3, {1}).micros == 2);
  CHECK(cost_of(kGpuHour / 2 * 5, {1}).micros == 2);
  CHECK(cost_of(9'000'000'000'000'000'000, {1'000'000}).micros == 2'500'000'000'000'000);
}

}  // namespace heddle
