#include "sim/box_simulation.h"

#include <doctest/doctest.h>

namespace heddle {

TEST_CASE("property: without faults all acknowledged work ends and is charged once") {
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    CAPTURE(seed);
    const auto complaints = BoxSimulation{seed, {false, false, false, false, false}}.run(80);
    for (const std::string& complaint : complaints) FAIL_CHECK(complaint);
    REQUIRE(complaints.empty());
  }
}

TEST_CASE(
    "property: crashes, failing stores, odd reports and lost programs lose and double nothing") {
  for (std::uint64_t seed = 1; seed <= 120; ++seed) {
    CAPTURE(seed);
    const auto complaints = BoxSimulation{seed, {}}.run(80);
    for (const std::string& complaint : complaints) FAIL_CHECK(complaint);
    REQUIRE(complaints.empty());
  }
}

}  // namespace heddle
