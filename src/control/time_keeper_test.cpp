#include "control/time_keeper.h"

#include <doctest/doctest.h>

namespace heddle {

constexpr Instant kNoon{1'780'000'000'000};

TEST_CASE("a wall clock set back two hours moves no time and pauses expiries") {
  TimeKeeper time{{}, {1000, "boot-a", kNoon}, false};
  CHECK(time.now() == kNoon);
  CHECK(time.update({61'000, "boot-a", kNoon + Duration::minutes(1)}) ==
        kNoon + Duration::minutes(1));
  CHECK(time.wall_trusted());
  CHECK(time.update({121'000, "boot-a", kNoon - Duration::hours(2)}) ==
        kNoon + Duration::minutes(2));
  CHECK_FALSE(time.wall_trusted());
  time.update({181'000, "boot-a", kNoon - Duration::hours(2)});
  CHECK(time.doubted_since() == kNoon + Duration::minutes(2));
}

TEST_CASE("a wall clock a year ahead is not believed, neither running nor after a restart") {
  const ClockMark mark{kNoon, 1000, "boot-a"};
  const Instant year_ahead = kNoon + Duration::hours(24 * 365);
  TimeKeeper same_boot{mark, {31'000, "boot-a", year_ahead}, false};
  CHECK(same_boot.now() == kNoon + Duration::seconds(30));
  CHECK_FALSE(same_boot.wall_trusted());
  TimeKeeper new_boot{mark, {5'000, "boot-b", year_ahead}, false};
  CHECK(new_boot.now() == kNoon);
  CHECK_FALSE(new_boot.wall_trusted());
  TimeKeeper confirmed{mark, {5'000, "boot-b", year_ahead}, true};
  CHECK(confirmed.now() == year_ahead);
  CHECK(confirmed.wall_trusted());
}

TEST_CASE("after a reboot time goes on from the wall clock, but never backwards") {
  const ClockMark mark{kNoon, 1000, "boot-a"};
  TimeKeeper later{mark, {500, "boot-b", kNoon + Duration::hours(3)}, false};
  CHECK(later.now() == kNoon + Duration::hours(3));
  CHECK(later.wall_trusted());
  TimeKeeper earlier{mark, {500, "boot-b", kNoon - Duration::hours(3)}, false};
  CHECK(earlier.now() == kNoon);
  CHECK_FALSE(earlier.wall_trusted());
}

TEST_CASE("a confirmed wall clock is trusted, also behind our time, until it is set again") {
  const ClockMark mark{kNoon, 1000, "boot-a"};
  const Instant behind = kNoon - Duration::hours(2);
  TimeKeeper time{mark, {31'000, "boot-a", behind}, true};
  CHECK(time.now() == kNoon + Duration::seconds(30));
  CHECK(time.jumped() == Duration{});
  time.update({91'000, "boot-a", behind + Duration::minutes(1)});
  CHECK(time.wall_trusted());
  CHECK(time.update({92'000, "boot-a", kNoon}) == kNoon + Duration::seconds(91));
  CHECK_FALSE(time.wall_trusted());

  TimeKeeper ahead{mark, {31'000, "boot-a", kNoon + Duration::hours(5)}, true};
  CHECK(ahead.now() == kNoon + Duration::hours(5));
  CHECK(ahead.jumped() == Duration::hours(5) - Duration::seconds(30));
}

TEST_CASE("a reading that arrives late does not turn time back") {
  TimeKeeper time{{}, {10'000, "boot-a", kNoon}, false};
  time.update({20'000, "boot-a", kNoon + Duration::seconds(10)});
  CHECK(time.update({15'000, "boot-a", kNoon + Duration::seconds(10)}) ==
        kNoon + Duration::seconds(10));
}

}  // namespace heddle
