// teams, members, users: who works together.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "cli/commands/commands.h"
#include "cli/render/escape.h"
#include "cli/render/json.h"
#include "cli/render/when.h"
#include "cli/session/session.h"

namespace heddle::cli {
namespace {

using nlohmann::json;

std::string team_path(const std::string& team, const std::string& rest = "") {
  return "/v1/teams/" + client::encode_part(team) + rest;
}

std::string date_words(const json& object, std::string_view key) {
  const auto when = time(object, key);
  return when ? short_time_words(*when, reader_now()) : "-";
}

int teams(Session& session, const Arguments&) {
  const auto list = session.list("/v1/teams");
  if (!list) return session.fail(list.error());
  return session.show(*list, [&] {
    Table table({{"TEAM", Align::kLeft, 0, true},
                 {"ID", Align::kLeft, 3},
                 {"BELOW", Align::kLeft, 2, true},
                 {"SINCE", Align::kLeft, 4},
                 {"DISPLAY", Align::kLeft, 5, true}});
    const json& items = part(*list, "items");
    for (const json& team : items) {
      std::string parent = text(team, "parent_id");
      for (const json& other : items)
        if (text(other, "id") == parent) parent = text(other, "name");
      table.row({text(team, "name"), text(team, "id"), parent.empty() ? "-" : parent,
                 date_words(team, "created_at"), text(team, "display")});
    }
    return table.empty() ? std::string("No teams that you may see.\n")
                         : table.text(session.console().look());
  });
}

int teams_create(Session& session, const Arguments& arguments) {
  json body{{"name", arguments.places.front()}};
  if (arguments.has("display")) body["display"] = arguments.value("display");
  if (arguments.has("parent")) body["parent"] = arguments.value("parent");
  const auto team = session.write({"POST", "/v1/teams", Keyed::kYes}, &body);
  if (!team) return session.fail(team.error());
  return session.done(
      *team, "Created team " + safe(text(*team, "name")) + " (" + safe(text(*team, "id")) + ").");
}

int teams_rename(Session& session, const Arguments& arguments) {
  const std::string path = team_path(arguments.places.front());
  const auto team = session.get(path);
  if (!team) return session.fail(team.error());
  json body{{"name", arguments.places.at(1)}};
  if (arguments.has("display")) body["display"] = arguments.value("display");
  const auto changed = session.write(
      {"PATCH", path, Keyed::kNo, "\"" + std::to_string(number(*team, "version")) + "\""}, &body);
  if (!changed) return session.fail(changed.error());
  return session.done(*changed, "Team " + safe(text(*team, "name")) + " is now called " +
                                    safe(text(*changed, "name")) + ".");
}

std::string members_text(const json& list, const Look& look) {
  Table table({{"USER", Align::kLeft, 0, true}, {"ROLE"}, {"SINCE", Align::kLeft, 2}});
  for (const json& member : part(list, "items")) {
    std::string role = text(member, "role");
    std::ranges::replace(role, '_', ' ');
    table.row({text(member, "user_name"), role, date_words(member, "since")});
  }
  return table.empty() ? "Nobody has a role in this very team.\n" : table.text(look);
}

int teams_show(Session& session, const Arguments& arguments) {
  const auto name = session.one_team(arguments);
  if (!name) return session.fail(name.error());
  auto team = session.get(team_path(*name));
  if (!team) return session.fail(team.error());
  const auto members = session.list(team_path(*name, "/members"));
  if (!members) return session.fail(members.error());
  (*team)["members"] = part(*members, "items");
  return session.show(*team, [&] {
    std::string out = safe(text(*team, "name")) + "   " + safe(text(*team, "id"));
    if (const std::string display = text(*team, "display"); !display.empty())
      out += "   " + safe(display);
    return out + "\n" + members_text(*members, session.console().look()) +
           "Shares: heddle shares " + safe(text(*team, "name")) + "\n";
  });
}

int members(Session& session, const Arguments& arguments) {
  const auto name = session.one_team(arguments);
  if (!name) return session.fail(name.error());
  const auto list = session.list(team_path(*name, "/members"));
  if (!list) return session.fail(list.error());
  return session.show(*list, [&] { return members_text(*list, session.console().look()); });
}

int members_add(Session& session, const Arguments& arguments) {
  std::string role = arguments.value("role", "developer");
  std::ranges::replace(role, '-', '_');
  std::ranges::replace(role, ' ', '_');
  const json body{{"role", role}};
  const auto member = session.write(
      {"PUT",
       team_path(arguments.places[0], "/members/" + client::encode_part(arguments.places[1]))},
      &body);
  if (!member) return session.fail(member.error());
  std::ranges::replace(role, '_', ' ');
  return session.done(*member, safe(text(*member, "user_name")) + " is " + safe(role) + " in " +
                                   safe(arguments.places[0]) + ".");
}

int members_remove(Session& session, const Arguments& arguments) {
  const auto gone = session.write(
      {"DELETE",
       team_path(arguments.places[0], "/members/" + client::encode_part(arguments.places[1]))},
      nullptr);
  if (!gone) return session.fail(gone.error());
  session.console().note(safe(arguments.places[1]) + " has no role of its own in " +
                         safe(arguments.places[0]) + " any more.");
  return 0;
}

int users(Session& session, const Arguments&) {
  const auto list = session.list("/v1/users");
  if (!list) return session.fail(list.error());
  return session.show(*list, [&] {
    Table table({{"USER", Align::kLeft, 0, true},
                 {"ID", Align::kLeft, 2},
                 {"RIGHTS"},
                 {"SINCE", Align::kLeft, 3}});
    for (const json& user : part(*list, "items"))
      table.row({text(user, "name"), text(user, "id"), flag(user, "admin") ? "administrator" : "",
                 date_words(user, "created_at")});
    return table.text(session.console().look());
  });
}

int users_create(Session& session, const Arguments& arguments) {
  const json body{{"name", arguments.places.front()}, {"admin", arguments.has("admin")}};
  const auto user = session.write({"POST", "/v1/users", Keyed::kYes}, &body);
  if (!user) return session.fail(user.error());
  const std::string name = safe(text(*user, "name"));
  return session.done(*user, "Created user " + name + " (" + safe(text(*user, "id")) +
                                 "). Next: heddle members add TEAM " + name +
                                 ", heddle tokens create laptop --user " + name);
}

}  // namespace

Command teams_command() {
  return {.path = "teams",
          .summary = "the teams that you may see",
          .examples = "heddle teams\nheddle teams -o name",
          .run = &teams};
}

Command teams_show_command() {
  return {.path = "teams show",
          .summary = "one team and its members",
          .examples = "heddle teams show vision",
          .places = {{"TEAM", 0, 1, Offers::kTeam}},
          .run = &teams_show};
}

Command teams_create_command() {
  return {.path = "teams create",
          .summary = "make a team",
          .examples = "heddle teams create vision\nheddle teams create vision --parent research",
          .flags = {{"display", "TEXT", "its name for people, any text"},
                    {"parent", "TEAM", "the team that it stands below", 0, false, Offers::kTeam}},
          .places = {{"NAME"}},
          .run = &teams_create};
}

Command teams_rename_command() {
  return {.path = "teams rename",
          .summary = "give a team another name",
          .examples = "heddle teams rename vision sight",
          .flags = {{"display", "TEXT", "its name for people, any text"}},
          .places = {{"TEAM", 1, 1, Offers::kTeam}, {"NAME"}},
          .run = &teams_rename};
}

Command members_command() {
  return {.path = "members",
          .summary = "who has a role in a team",
          .examples = "heddle members vision",
          .places = {{"TEAM", 0, 1, Offers::kTeam}},
          .run = &members};
}

Command members_add_command() {
  return {.path = "members add",
          .summary = "give a user a role in a team, or another one",
          .examples =
              "heddle members add vision ana\n"
              "heddle members add vision nora --role team-admin",
          .flags = {{"role", "ROLE", "viewer, developer (default) or team-admin", 0, false,
                     Offers::kWords, "viewer developer team-admin"}},
          .places = {{"TEAM", 1, 1, Offers::kTeam}, {"USER", 1, 1, Offers::kUser}},
          .run = &members_add};
}

Command members_remove_command() {
  return {.path = "members remove",
          .summary = "take a user's role in a team away",
          .examples = "heddle members remove vision ana",
          .places = {{"TEAM", 1, 1, Offers::kTeam}, {"USER", 1, 1, Offers::kUser}},
          .run = &members_remove};
}

Command users_command() {
  return {
      .path = "users", .summary = "people and services", .examples = "heddle users", .run = &users};
}

Command users_create_command() {
  return {.path = "users create",
          .summary = "make a user",
          .examples = "heddle users create ana",
          .flags = {{"admin", "", "may do everything everywhere"}},
          .places = {{"NAME"}},
          .run = &users_create};
}

}  // namespace heddle::cli
