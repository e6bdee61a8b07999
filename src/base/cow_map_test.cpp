#include "base/cow_map.h"

#include <doctest/doctest.h>

#include <cstdint>
#include <map>

#include "base/rng.h"

namespace heddle {

TEST_CASE("property: a CowMap behaves like std::map, and its copies never change") {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    CAPTURE(seed);
    Rng rng{seed};
    CowMap<std::int64_t, std::int64_t> map;
    std::map<std::int64_t, std::int64_t> model;
    CowMap<std::int64_t, std::int64_t> old_map;
    std::map<std::int64_t, std::int64_t> old_model;
    const std::int64_t keys = rng.between(1, 1000);
    for (int step = 0; step < 600; ++step) {
      const std::int64_t key = rng.one_in(2) ? rng.between(0, keys) : step;
      if (rng.one_in(3)) {
        CHECK(map.erase(key) == (model.erase(key) == 1));
      } else {
        map.put(key, step);
        model[key] = step;
      }
      if (rng.one_in(50)) {
        old_map = map;
        old_model = model;
      }
    }
    auto same = [](const auto& a, const auto& b) {
      if (a.size() != b.size()) return false;
      auto at = a.begin();
      for (const auto& [key, value] : b) {
        if (at->key != key || at->value != value) return false;
        ++at;
      }
      return at == a.end();
    };
    CHECK(same(map, model));
    CHECK(same(old_map, old_model));
    for (std::int64_t key = -1; key <= keys + 1; ++key) {
      const auto expected = model.lower_bound(key);
      const auto got = map.lower_bound(key);
      REQUIRE((got == map.end()) == (expected == model.end()));
      if (got != map.end()) CHECK(got->key == expected->first);
    }
  }
}

}  // namespace heddle
