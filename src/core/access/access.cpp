#include "core/access/access.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>

namespace heddle {
namespace {

// Who may do an action: from which role on, or administrators only.
struct Rule {
  std::string_view name;
  std::optional<Role> from;  // nullopt: administrators only
  bool at_team;              // false: it concerns the whole organisation
};

// The order is that of the enum. kEstateRead has a role only for form: everyone who is logged in
// may, see may().
constexpr std::array<Rule, kActionCount> kRules{{
    {"team.read", Role::kViewer, true},
    {"workload.read", Role::kViewer, true},
    {"workload.content", Role::kDeveloper, true},
    {"workload.submit", Role::kDeveloper, true},
    {"workload.cancel", Role::kDeveloper, true},
    {"member.manage", Role::kTeamAdmin, true},
    {"team.manage", Role::kTeamAdmin, true},
    {"estate.read", Role::kViewer, false},
    {"estate.manage", std::nullopt, false},
    {"share.manage", std::nullopt, false},
    {"user.manage", std::nullopt, false},
    {"audit.read", std::nullopt, false},
    {"metrics.read", std::nullopt, false},
}};

const Rule& rule_of(Action action) { return kRules[static_cast<std::size_t>(action)]; }

// The strongest role of `user` at `team` or at any level above it.
std::optional<Role> role_at(const State& state, UserId user, TeamId team) {
  std::optional<Role> best;
  // The count ends the walk even if the books were broken and the tree had a ring.
  for (std::size_t level = 0; team.is_set() && level <= state.teams().size(); ++level) {
    if (const Member* member = state.members().find({team, user}))
      best = best ? std::max(*best, member->role) : member->role;
    const Team* row = state.teams().find(team);
    if (row == nullptr) break;
    team = row->parent;
  }
  return best;
}

}  // namespace

std::string_view name_of(Action action) { return rule_of(action).name; }

bool may(const State& state, UserId user, Action action, TeamId team) {
  const User* who = state.users().find(user);
  if (who == nullptr) return false;
  if (team.is_set() && !state.teams().contains(team)) return false;
  if (who->admin || action == Action::kEstateRead) return true;
  const Rule& rule = rule_of(action);
  if (!rule.at_team || !rule.from) return false;
  const std::optional<Role> role = role_at(state, user, team);
  return role && *role >= *rule.from;
}

std::vector<TeamId> visible_teams(const State& state, UserId user) {
  std::vector<TeamId> teams;
  const User* who = state.users().find(user);
  if (who == nullptr) return teams;
  for (const auto& [id, team] : state.teams())
    if (who->admin || role_at(state, user, id)) teams.push_back(id);
  return teams;
}

}  // namespace heddle
