// Rights: what one user may do where, worked out once for each team of an answer.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "api/json_writer.h"
#include "core/access/access.h"

namespace heddle::api {

// Lives no longer than `state`. One thread.
class Rights {
 public:
  Rights(const State& state, UserId user) : state_{state}, user_{user} {}

  bool may(Action action, TeamId team = {});
  const std::vector<TeamId>& visible_teams();
  bool sees_all() const;
  UserId user() const { return user_; }

  // "can": the names of those of `actions` that are allowed at `team`.
  void write_can(JsonWriter& json, TeamId team, std::initializer_list<Action> actions);

 private:
  const State& state_;
  const UserId user_;
  std::map<TeamId, std::uint32_t> masks_;
  std::optional<std::vector<TeamId>> visible_;
};

}  // namespace heddle::api
