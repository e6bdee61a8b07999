// may(): the one function that decides who may do what.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "core/model/state.h"

namespace heddle {

// Closed list. What it is done to is a team (its own work included) or, for the last group, the
// whole organisation (team unset).
enum class Action : std::uint8_t {
  kTeamRead,         // name, shares, members
  kWorkloadRead,     // state, amounts, reasons, receipts
  kWorkloadContent,  // logs, command, environment, files
  kWorkloadSubmit,
  kWorkloadCancel,
  kMemberManage,
  kTeamManage,  // rename, create below
  kEstateRead,  // sites, pools, nodes: everyone who is logged in
  kEstateManage,
  kShareManage,  // guarantees, limits
  kUserManage,
  kAuditRead,
  kMetricsRead,  // server-wide metrics
};
inline constexpr int kActionCount = 13;

// Stable dotted name, for example workload.submit.
std::string_view name_of(Action action);

// True if `user` may do `action` at `team`. Roles are inherited down the tree: a role at a level
// holds for every level below. Unknown user or team: false. Pure.
bool may(const State& state, UserId user, Action action, TeamId team);

// Teams where `user` has any role, by inheritance too, ascending; all of them for an administrator.
std::vector<TeamId> visible_teams(const State& state, UserId user);

}  // namespace heddle
