#include "control/judge.h"

#include <string>

#include "control/commands.h"

namespace heddle {

Error denied(const State& state, Action action, TeamId team) {
  const Team* found = state.teams().find(team);
  const std::string where = found != nullptr ? " in team " + found->name : "";
  return {ErrorCode::kPermissionDenied,
          "You may not do this" + where + ". It takes " + std::string{name_of(action)} + "."};
}

Result<Done> judge(const State& state, UserId actor, Action action, TeamId team) {
  if (may(state, actor, action, team)) return Done{};
  if (team.is_set() && !may(state, actor, Action::kTeamRead, team)) return not_found("team");
  return denied(state, action, team);
}

Result<Done> check_version(std::optional<std::int64_t> wanted, std::int64_t present) {
  if (!wanted || *wanted == present) return Done{};
  return Error{ErrorCode::kPreconditionFailed,
               "This was changed meanwhile: it is at version " + std::to_string(present) + ".",
               {},
               {{"version", present}},
               "Read it again, then repeat the change."};
}

}  // namespace heddle
