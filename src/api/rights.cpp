#include "api/rights.h"

namespace heddle::api {

bool Rights::may(Action action, TeamId team) {
  auto at = masks_.find(team);
  if (at == masks_.end()) {
    std::uint32_t mask = 0;
    for (int i = 0; i < kActionCount; ++i)
      if (heddle::may(state_, user_, static_cast<Action>(i), team)) mask |= 1U << i;
    at = masks_.emplace(team, mask).first;
  }
  return ((at->second >> static_cast<int>(action)) & 1U) != 0;
}

const std::vector<TeamId>& Rights::visible_teams() {
  if (!visible_) visible_ = heddle::visible_teams(state_, user_);
  return *visible_;
}

bool Rights::sees_all() const {
  const User* user = state_.users().find(user_);
  return user != nullptr && user->admin;
}

void Rights::write_can(JsonWriter& json, TeamId team, std::initializer_list<Action> actions) {
  json.open("can", '[');
  for (const Action action : actions)
    if (may(action, team)) json.item(name_of(action));
  json.close(']');
}

}  // namespace heddle::api
