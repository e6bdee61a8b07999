#include "core/schedule/room.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "base/rng.h"
#include "core/scenario/scenario.h"
#include "core/schedule/groups.h"
#include "core/schedule/place.h"
#include "core/schedule/world.h"

namespace heddle {
namespace {

// Everything that a room knows, as text.
std::vector<std::string> written(const PoolRoom& room) {
  std::vector<std::string> lines{std::to_string(room.free_milli)};
  for (const RoomDevice& d : room.devices) {
    const bool shared = d.free_milli > 0 && d.free_milli < 1000;
    lines.push_back(d.id.text() + " " + std::to_string(d.free_milli) + " " +
                    (shared ? d.holder.text() : ""));
  }
  for (const RoomNode& n : room.nodes)
    lines.push_back(n.id.text() + " " + std::to_string(n.free_devices) + " " +
                    std::to_string(n.free_cpu_milli) + " " + std::to_string(n.free_memory_bytes));
  for (std::size_t free = 0; free < room.by_free_devices().size(); ++free)
    for (std::size_t at = room.by_free_devices()[free].first_from(0); at != IndexSet::kNone;
         at = room.by_free_devices()[free].first_from(at + 1))
      lines.push_back(std::to_string(free) + " free at " + std::to_string(at));
  for (const auto& [cpu, at] : room.by_free_cpu())
    lines.push_back(std::to_string(cpu) + " cpu at " + std::to_string(at));
  for (const SharedKey& key : room.shared())
    lines.push_back(key.team.text() + " shares " + std::to_string(key.free_milli) + " at " +
                    std::to_string(key.device));
  return lines;
}

TEST_CASE("property: a room that is rolled back is as it was") {
  for (std::uint64_t seed = 1; seed <= 500; ++seed) {
    CAPTURE(seed);
    Rng rng{seed};
    const bool open = rng.one_in(2);
    const Draft before = shuffled(a_world(rng, {}), rng);
    Draft after{before.state()};
    std::uint64_t last_id = 1'000'000;
    apply_plan(after, plan(before.state(), {.share_devices_across_teams = open}, Instant{1}),
               Instant{1}, last_id);

    const std::vector<PoolId> pools = pools_asked_for(before.state());
    for (const Draft* draft : {&before, static_cast<const Draft*>(&after)}) {
      Room room{draft->state(), pools, open};
      for (std::size_t i = 0; i < pools.size(); ++i) {
        PoolRoom& pool = room.pool(i);
        const std::vector<std::string> at_first = written(pool);
        Steps steps{10'000};
        for (const auto& [number, shape] : draft->state().shapes())
          for (const auto& [team, row] : draft->state().teams()) place(pool, shape, team, steps);
        pool.undo(0);
        CHECK(written(pool) == at_first);
      }
    }
  }
}

TEST_CASE("a failure of a large gang does not speak for a smaller one") {
  Failed failed;
  const Shape large{{2, 1000, 0, 0, 0}, 3, {PoolId{1}}}, small{{2, 1000, 0, 0, 0}, 2, {PoolId{1}}};
  failed.note(large, TeamId{1});
  CHECK(failed.known(large, TeamId{2}));
  CHECK_FALSE(failed.known(small, TeamId{1}));
  failed.note(small, TeamId{2});
  CHECK(failed.known(large, TeamId{1}));
  CHECK(failed.known(small, TeamId{1}));
  CHECK_FALSE(failed.known({{2, 1000, 0, 0, 0}, 1, {PoolId{1}}}, TeamId{1}));
}

TEST_CASE("a failure by parts of devices speaks for its own team only") {
  Failed failed;
  const Shape part{{1, 500, 0, 0, 0}, 1, {PoolId{1}}};
  failed.note(part, TeamId{1});
  CHECK(failed.known(part, TeamId{1}));
  CHECK_FALSE(failed.known(part, TeamId{2}));
}

}  // namespace
}  // namespace heddle
