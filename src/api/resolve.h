// Resolving: ids and names in a request become objects that the asker may know of, or 404.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "api/call.h"

namespace heddle::api {

// Sets the field of `call` that the part of a path, such as {team_id}, stands for. What is not
// there and what the asker may not know of give the same error.
std::optional<Error> resolve(Call& call, std::string_view part, std::string_view text);

// The team of that name or id that the asker may read.
std::optional<TeamId> find_team(Call& call, std::string_view text);
std::optional<UserId> find_user(const State& state, std::string_view text);
std::optional<PoolId> find_pool(const State& state, std::string_view text);
std::optional<NodeId> find_node(const State& state, std::string_view text);

// A live or an ended workload that the asker may read; the inner optional is empty for 404.
Result<std::optional<Workload>> find_workload(Call& call, std::string_view text);

Error nothing_named(std::string_view kind);

}  // namespace heddle::api
