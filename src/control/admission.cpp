#include "control/admission.h"

#include <algorithm>
#include <optional>
#include <string>

#include "core/model/charge.h"

namespace heddle {
namespace {

std::string gpus_text(std::int64_t milli) {
  std::string text = std::to_string(milli / 1000);
  if (milli % 1000 == 0) return text;
  std::string part = std::to_string(1000 + milli % 1000).substr(1);
  while (part.back() == '0') part.pop_back();
  return text + "." + part;
}

// How many replicas an empty node could hold at most, looking at devices, CPU and memory.
std::int64_t most_on(const Node& node, const Request& request, std::int64_t milli_per_device) {
  std::int64_t most = INT64_MAX;
  if (request.devices > 0) {
    const std::int64_t per_device = GpuAmount::kMilliPerDevice / milli_per_device;
    const auto devices = static_cast<std::int64_t>(node.devices.size());
    if (devices < request.devices) return 0;
    most = devices * per_device / request.devices;
  }
  if (request.cpu_milli > 0) most = std::min(most, node.cpu_milli / request.cpu_milli);
  if (request.memory_bytes > 0) most = std::min(most, node.memory_bytes / request.memory_bytes);
  return most;
}

enum class Fit { kFits, kOtherKind, kTooLarge };

Fit fit_in(const State& state, const Pool& pool, const Shape& shape) {
  const bool wants_devices = shape.request.devices > 0;
  if (wants_devices == pool.device_model.empty()) return Fit::kOtherKind;
  std::int64_t milli = 1;
  if (wants_devices) {
    const auto charge = charge_per_device(shape.request, pool.device_memory_bytes);
    if (!charge) return Fit::kTooLarge;
    milli = charge->as_milli();
  }
  std::int64_t replicas = 0;
  for (const auto& [id, node] : state.nodes()) {
    if (node.pool != pool.id) continue;
    replicas += std::min(shape.replicas, most_on(node, shape.request, milli));
    if (replicas >= shape.replicas) return Fit::kFits;
  }
  return Fit::kTooLarge;
}

// The level at or above `team` whose limit in the pool the request passes by itself.
const Team* limited_by(const State& state, TeamId team, const Pool& pool, const Shape& shape) {
  const auto charge = charge_per_device(shape.request, pool.device_memory_bytes);
  if (!charge) return nullptr;
  const GpuAmount asked = *charge * shape.request.devices * shape.replicas;
  for (const Team* level = state.teams().find(team); level != nullptr;
       level = state.teams().find(level->parent))
    if (asked > state.share({level->id, pool.id}).limit) return level;
  return nullptr;
}

Error above_limit(const State& state, const Team& level, const Pool& pool, const Shape& shape) {
  const std::int64_t asked = (*charge_per_device(shape.request, pool.device_memory_bytes) *
                              shape.request.devices * shape.replicas)
                                 .as_milli();
  const std::int64_t limit = state.share({level.id, pool.id}).limit.as_milli();
  return {ErrorCode::kOverLimit,
          gpus_text(asked) + " GPUs can never start for team " + level.name +
              ": its limit on pool " + pool.name + " is " + gpus_text(limit) + ".",
          {{"/resources", "above_team_limit", gpus_text(asked)}},
          {{"asked_gpu_milli", asked}, {"limit_gpu_milli", limit}},
          "Ask for at most " + gpus_text(limit) + " GPUs, or an administrator for a higher limit."};
}

}  // namespace

Result<std::vector<PoolId>> admissible_pools(const State& state, TeamId team, const Shape& shape) {
  std::vector<PoolId> candidates = shape.pools;
  if (candidates.empty())
    for (const auto& [id, pool] : state.pools()) candidates.push_back(id);
  std::vector<PoolId> fitting;
  bool any_of_the_kind = false;
  std::optional<Error> limit_error;
  for (const PoolId id : candidates) {
    const Pool* pool = state.pools().find(id);
    if (pool == nullptr)
      return Error::invalid("/pools", "unknown_pool", "There is no such pool.", id.text());
    const Fit fit = fit_in(state, *pool, shape);
    any_of_the_kind = any_of_the_kind || fit != Fit::kOtherKind;
    if (fit != Fit::kFits) continue;
    if (const Team* level = limited_by(state, team, *pool, shape)) {
      if (!limit_error) limit_error = above_limit(state, *level, *pool, shape);
      continue;
    }
    fitting.push_back(id);
  }
  if (!fitting.empty()) return fitting;
  if (limit_error) return *limit_error;
  if (!any_of_the_kind) {
    return shape.request.devices > 0 ? Error{ErrorCode::kOverLimit,
                                             "No pool asked for has GPUs.",
                                             {{"/resources", "no_gpus_here", ""}},
                                             {},
                                             "See what there is: heddle pools"}
                                     : Error{ErrorCode::kOverLimit,
                                             "Every pool asked for is kept for work with GPUs.",
                                             {{"/resources", "no_gpu_asked", ""}},
                                             {},
                                             "Ask for a part of a GPU, for example gpu: 0.1"};
  }
  return Error{ErrorCode::kOverLimit,
               "No pool is large enough for this, even when empty.",
               {{"/resources", "never_fits", ""}},
               {},
               "See what there is: heddle nodes"};
}

}  // namespace heddle
