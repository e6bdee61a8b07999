// Health, status, who am I.
#include "api/call.h"
#include "api/route.h"
#include "api/wire/estate.h"
#include "api/wire/names.h"
#include "api/wire/tenancy.h"

namespace heddle::api {
namespace {

bool refused_query(const CallPtr& call) {
  Faults faults;
  call->query.finish(faults);
  if (faults.empty()) return false;
  call->fail(faults.error());
  return true;
}

}  // namespace

void get_health(const CallPtr& call) {
  if (refused_query(call)) return;
  call->answer("{\"status\":\"ok\"}");
}

void get_status(const CallPtr& call) {
  if (refused_query(call)) return;
  const View& view = *call->view;
  bool simulated = false;
  for (const auto& [id, node] : view.state.nodes()) simulated = simulated || node.simulated;
  std::string trouble = view.trouble;
  if (trouble.empty() && view.clock_doubted_since.is_set())
    trouble =
        "The machine's clock was set. Expiry of tokens is paused until an operator starts heddled "
        "with --confirm-clock, once that clock is right.";
  JsonWriter json;
  json.open()
      .text("version", call->shared->options.version)
      .time("time", call->now)
      .time("as_of", view.as_of)
      .flag("stale", view.stale)
      .text_or_null("trouble", trouble)
      .flag("simulated", simulated)
      .text("currency", call->shared->options.currency)
      .open("sites", '[');
  for (const auto& [id, site] : view.state.sites()) write_site(json, *call->rights, site);
  json.close(']').close();
  call->answer(json.take());
}

void get_whoami(const CallPtr& call) {
  if (refused_query(call)) return;
  const State& state = call->state();
  const User* user = state.users().find(call->principal.user);
  const Token* token = state.tokens().find(call->principal.token);
  HEDDLE_CHECK(user != nullptr && token != nullptr);
  JsonWriter json;
  json.open().raw("user", {});
  write_user(json, *call->rights, *user);
  json.raw("token", {});
  write_token(json, *call->rights, *token, {});
  json.open("teams", '[');
  for (const auto& [key, member] : state.members()) {
    if (key.user != user->id) continue;
    const Team* team = state.teams().find(key.team);
    json.open()
        .id("team_id", key.team)
        .text("name", team == nullptr ? "" : team->name)
        .text("role", wire::kRoles[static_cast<std::size_t>(member.role)])
        .close();
  }
  json.close(']');
  call->rights->write_can(
      json, {},
      {Action::kEstateRead, Action::kEstateManage, Action::kShareManage, Action::kUserManage,
       Action::kAuditRead, Action::kMetricsRead, Action::kTeamManage});
  json.close();
  call->answer(json.take());
}

}  // namespace heddle::api
