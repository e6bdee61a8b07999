// What every use case asks before it writes: may this be done, and by what version of the thing?
#pragma once

#include <cstdint>
#include <optional>

#include "base/result.h"
#include "core/access/access.h"
#include "core/model/state.h"

namespace heddle {

// permission_denied, naming the permission that is missing (and the team, if there is one).
Error denied(const State& state, Action action, TeamId team);

// May `actor` do it at `team` (unset: organisation-wide)? A team that he may not even see is
// not_found, so that strangers and absent things are answered alike.
Result<Done> judge(const State& state, UserId actor, Action action, TeamId team);

// precondition_failed when the asker meant another version than the present one; unset: any.
Result<Done> check_version(std::optional<std::int64_t> wanted, std::int64_t present);

}  // namespace heddle
