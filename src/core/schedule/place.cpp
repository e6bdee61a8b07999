#include "core/schedule/place.h"

#include <algorithm>
#include <limits>
#include <set>
#include <tuple>
#include <utility>

namespace heddle {
namespace {

// One attempt at a gang. Each stage walks the nodes that may fit, best first, and puts as many
// replicas on each as go; it says whether the attempt is over: all placed, or out of steps.
class Attempt {
 public:
  Attempt(PoolRoom& room, const Shape& shape, TeamId team, Pick pick, Steps& steps)
      : room_{room}, shape_{shape}, team_{team}, pick_{pick}, steps_{steps} {}

  bool over_nodes_without_devices() {
    const auto& nodes = room_.by_free_cpu();
    std::pair<std::int64_t, std::size_t> from{shape_.request.cpu_milli, 0};
    for (auto at = nodes.lower_bound(from); at != nodes.end(); at = nodes.upper_bound(from)) {
      from = *at;
      if (fill(from.second)) return true;
    }
    return false;
  }

  bool over_nodes_with_free_devices() {
    const auto& buckets = room_.by_free_devices();
    const auto first = static_cast<std::size_t>(shape_.request.devices);
    for (std::size_t free = first; free < buckets.size(); ++free) {
      for (std::size_t node = buckets[free].first_from(0); node != IndexSet::kNone;
           node = buckets[free].first_from(node + 1))
        if (fill(node)) return true;
    }
    return false;
  }

  bool over_shared_devices() {
    const auto& shared = room_.shared();
    SharedKey from = first_shared();
    for (auto at = shared.lower_bound(from); at != shared.end() && at->team == from.team;
         at = shared.upper_bound(from)) {
      from = *at;
      if (fill(from.node)) return true;
    }
    return false;
  }

  // For several parts on one node: those first that open the fewest free devices.
  bool over_nodes_with_shared_devices() {
    const auto& shared = room_.shared();
    const SharedKey from = first_shared();
    std::map<std::size_t, std::int64_t> usable;  // node -> shared devices that may fit
    for (auto at = shared.lower_bound(from); at != shared.end() && at->team == from.team; ++at) {
      if (!steps_.look()) return true;
      ++usable[at->node];
    }
    std::vector<std::tuple<std::int64_t, std::int64_t, std::size_t>> order;
    for (const auto& [node, count] : usable) {
      const std::int64_t opened = std::max<std::int64_t>(0, shape_.request.devices - count);
      order.emplace_back(opened, room_.nodes[node].free_devices, node);
    }
    std::ranges::sort(order);
    return std::ranges::any_of(order, [&](const auto& o) { return fill(std::get<2>(o)); });
  }

  bool complete() const { return static_cast<std::int64_t>(takes_.size()) == shape_.replicas; }
  std::vector<Take> result() { return std::move(takes_); }

 private:
  SharedKey first_shared() const {
    const std::int64_t least = milli_on_device(shape_.request, room_.device_memory_bytes);
    return {room_.shared_under(team_), least, 0, 0};
  }

  bool fill(std::size_t node) {
    while (!complete()) {
      if (!steps_.look()) return true;
      std::optional<Take> take = fit(room_, shape_.request, team_, pick_, node);
      if (!take) return false;
      room_.take(*take, team_);
      takes_.push_back(std::move(*take));
    }
    return true;
  }

  PoolRoom& room_;
  const Shape& shape_;
  TeamId team_;
  Pick pick_;
  Steps& steps_;
  std::vector<Take> takes_;
};

}  // namespace

Failed::Key Failed::key(const Shape& shape, TeamId team) {
  const bool alike_for_all = shape.request.devices == 0 || shape.request.whole();
  return {alike_for_all ? TeamId{} : team, shape.request};
}

bool Failed::known(const Shape& shape, TeamId team) const {
  const auto found = replicas_.find(key(shape, team));
  return found != replicas_.end() && found->second <= shape.replicas;
}

void Failed::note(const Shape& shape, TeamId team) {
  const auto [at, fresh] = replicas_.try_emplace(key(shape, team), shape.replicas);
  if (!fresh) at->second = std::min(at->second, shape.replicas);
}

std::optional<std::vector<Take>> place(PoolRoom& room, const Shape& shape, TeamId team,
                                       Steps& steps) {
  if (!well_formed(shape)) return std::nullopt;
  const Request& request = shape.request;
  const bool parts = request.devices > 0 && !request.whole();
  const bool pairs_may_not_go_round = parts && request.devices > 1 && shape.replicas > 1;
  const std::size_t mark = room.mark();
  for (const Pick pick : {Pick::kFullestFirst, Pick::kEmptiestFirst}) {
    if (pick == Pick::kEmptiestFirst && !pairs_may_not_go_round) break;
    Attempt attempt{room, shape, team, pick, steps};
    bool over = false;
    if (parts)
      over = request.devices == 1 ? attempt.over_shared_devices()
                                  : attempt.over_nodes_with_shared_devices();
    if (!over && request.devices > 0) over = attempt.over_nodes_with_free_devices();
    if (!over && request.devices == 0) over = attempt.over_nodes_without_devices();
    if (attempt.complete()) return attempt.result();
    room.undo(mark);
    if (steps.exhausted()) break;
  }
  return std::nullopt;
}

}  // namespace heddle
