#include "api/wire/tenancy.h"

#include "api/wire/names.h"

namespace heddle::api {

void write_team(JsonWriter& json, Rights& rights, const Team& team) {
  json.open()
      .id("id", team.id)
      .text("name", team.name)
      .text("display", team.display)
      .id("parent_id", team.parent)
      .time("created_at", team.created_at)
      .time("updated_at", team.updated_at)
      .number("version", team.version);
  rights.write_can(
      json, team.id,
      {Action::kTeamRead, Action::kWorkloadRead, Action::kWorkloadContent, Action::kWorkloadSubmit,
       Action::kWorkloadCancel, Action::kMemberManage, Action::kTeamManage, Action::kShareManage});
  json.close();
}

void write_member(JsonWriter& json, const State& state, Rights& rights, const Member& member) {
  const User* user = state.users().find(member.key.user);
  json.open()
      .id("team_id", member.key.team)
      .id("user_id", member.key.user)
      .text("user_name", user == nullptr ? "" : user->name)
      .text("role", wire::kRoles[static_cast<std::size_t>(member.role)])
      .time("since", member.since);
  rights.write_can(json, member.key.team, {Action::kMemberManage});
  json.close();
}

std::int64_t share_version(const State& state, ShareKey key) {
  const Share* share = state.shares().find(key);
  return share == nullptr ? 0 : share->version;
}

void write_share(JsonWriter& json, const State& state, Rights& rights, ShareKey key) {
  const Share share = state.share(key);
  const Pool* pool = state.pools().find(key.pool);
  json.open()
      .id("team_id", key.team)
      .id("pool_id", key.pool)
      .text("pool_name", pool == nullptr ? "" : pool->name)
      .number("guarantee_gpu_milli", share.guarantee.as_milli());
  if (share.limit.as_milli() == GpuAmount::kMaxMilli)
    json.null("limit_gpu_milli");
  else
    json.number("limit_gpu_milli", share.limit.as_milli());
  json.number("weight", share.weight)
      .number("rank", share.rank)
      .number("held_gpu_milli", state.held(key).as_milli())
      .number("version", share_version(state, key));
  rights.write_can(json, key.team, {Action::kShareManage});
  json.close();
}

void write_user(JsonWriter& json, Rights& rights, const User& user) {
  json.open()
      .id("id", user.id)
      .text("name", user.name)
      .flag("admin", user.admin)
      .time("created_at", user.created_at)
      .time("updated_at", user.updated_at)
      .number("version", user.version);
  rights.write_can(json, {}, {Action::kUserManage});
  json.close();
}

void write_token(JsonWriter& json, Rights& rights, const Token& token, const std::string& secret) {
  json.open()
      .id("id", token.id)
      .id("user_id", token.user)
      .text("name", token.name)
      .time("created_at", token.created_at)
      .time("expires_at", token.expires_at)
      .time("revoked_at", token.revoked_at);
  if (!secret.empty()) json.text("secret", secret);
  json.open("can", '[');
  if (token.user == rights.user() || rights.may(Action::kUserManage)) json.item("token.revoke");
  json.close(']').close();
}

}  // namespace heddle::api
