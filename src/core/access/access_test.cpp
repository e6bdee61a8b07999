#include "core/access/access.h"

#include <doctest/doctest.h>

#include <array>
#include <set>
#include <string>

#include "core/model/draft.h"

namespace heddle {
namespace {

constexpr TeamId kLab{1}, kVision{2}, kVisionRobots{3}, kLanguage{4}, kNoTeam{}, kUnknownTeam{99};
constexpr UserId kRoot{1}, kViewerUser{2}, kDeveloperUser{3}, kTeamAdminUser{4}, kOutsider{5};
constexpr UserId kUnknownUser{99};

// lab > vision > vision-robots, and language beside them; the roles are held at vision.
State a_tree() {
  Draft draft{State{}};
  const auto team = [&](TeamId id, TeamId parent, std::string name) {
    Team row;
    row.id = id;
    row.parent = parent;
    row.name = std::move(name);
    draft.put(row);
  };
  team(kLab, {}, "lab");
  team(kVision, kLab, "vision");
  team(kVisionRobots, kVision, "vision-robots");
  team(kLanguage, kLab, "language");
  for (const UserId id : {kRoot, kViewerUser, kDeveloperUser, kTeamAdminUser, kOutsider}) {
    User row;
    row.id = id;
    row.name = "user-" + std::to_string(id.value);
    row.admin = id == kRoot;
    draft.put(row);
  }
  draft.put(Member{{kVision, kViewerUser}, Role::kViewer, {}});
  draft.put(Member{{kVision, kDeveloperUser}, Role::kDeveloper, {}});
  draft.put(Member{{kVision, kTeamAdminUser}, Role::kTeamAdmin, {}});
  return draft.state();
}

Action action(int n) { return static_cast<Action>(n); }

TEST_CASE("the rights of each role are exactly those of the table") {
  // viewer, developer, team admin, outsider; at a team where the first three have their role
  constexpr std::array<std::array<bool, 4>, kActionCount> kExpected{{
      {true, true, true, false},     // team.read
      {true, true, true, false},     // workload.read
      {false, true, true, false},    // workload.content
      {false, true, true, false},    // workload.submit
      {false, true, true, false},    // workload.cancel
      {false, false, true, false},   // member.manage
      {false, false, true, false},   // team.manage
      {true, true, true, true},      // estate.read
      {false, false, false, false},  // estate.manage
      {false, false, false, false},  // share.manage
      {false, false, false, false},  // user.manage
      {false, false, false, false},  // audit.read
      {false, false, false, false},  // metrics.read
  }};
  constexpr std::array kUsers{kViewerUser, kDeveloperUser, kTeamAdminUser, kOutsider};
  const State state = a_tree();
  for (int a = 0; a < kActionCount; ++a) {
    CAPTURE(name_of(action(a)));
    for (std::size_t u = 0; u < kUsers.size(); ++u) {
      CAPTURE(u);
      CHECK(may(state, kUsers[u], action(a), kVision) == kExpected[static_cast<std::size_t>(a)][u]);
    }
    CHECK(may(state, kRoot, action(a), kVision));
    CHECK(may(state, kRoot, action(a), kNoTeam));
  }
}

TEST_CASE("a role holds for every level below, never above or beside") {
  const State state = a_tree();
  CHECK(may(state, kDeveloperUser, Action::kWorkloadSubmit, kVisionRobots));
  CHECK(may(state, kTeamAdminUser, Action::kMemberManage, kVisionRobots));
  CHECK_FALSE(may(state, kDeveloperUser, Action::kTeamRead, kLab));
  CHECK_FALSE(may(state, kTeamAdminUser, Action::kTeamRead, kLanguage));
  CHECK(visible_teams(state, kViewerUser) == std::vector{kVision, kVisionRobots});
  CHECK(visible_teams(state, kOutsider).empty());
  CHECK(visible_teams(state, kRoot) == std::vector{kLab, kVision, kVisionRobots, kLanguage});
}

TEST_CASE("the strongest of several inherited roles counts") {
  Draft draft{a_tree()};
  draft.put(Member{{kVisionRobots, kTeamAdminUser}, Role::kViewer, {}});
  CHECK(may(draft.state(), kTeamAdminUser, Action::kMemberManage, kVisionRobots));
}

TEST_CASE("who or what is unknown may nothing, and only administrators act on no team") {
  const State state = a_tree();
  for (int a = 0; a < kActionCount; ++a) {
    CAPTURE(name_of(action(a)));
    CHECK_FALSE(may(state, kUnknownUser, action(a), kVision));
    CHECK_FALSE(may(state, kRoot, action(a), kUnknownTeam));
    CHECK_FALSE(may(state, kUnknownUser, action(a), kNoTeam));
    CHECK(may(state, kTeamAdminUser, action(a), kNoTeam) == (action(a) == Action::kEstateRead));
  }
  CHECK(visible_teams(state, kUnknownUser).empty());
}

TEST_CASE("a member row of a removed user or a ring in the tree does no harm") {
  Draft draft{a_tree()};
  draft.put(Member{{kVision, kUnknownUser}, Role::kTeamAdmin, {}});
  CHECK_FALSE(may(draft.state(), kUnknownUser, Action::kTeamRead, kVision));
  Team ring = *draft.state().teams().find(kLab);
  ring.parent = kVisionRobots;
  draft.put(ring);
  CHECK_FALSE(may(draft.state(), kOutsider, Action::kTeamRead, kVision));
}

TEST_CASE("action names are stable, dotted and different") {
  std::set<std::string_view> names;
  for (int a = 0; a < kActionCount; ++a) {
    CHECK(name_of(action(a)).find('.') != std::string_view::npos);
    names.insert(name_of(action(a)));
  }
  CHECK(names.size() == kActionCount);
  CHECK(name_of(Action::kWorkloadSubmit) == "workload.submit");
}

}  // namespace
}  // namespace heddle
