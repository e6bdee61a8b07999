// Users and tokens.
#include <set>

#include "api/call.h"
#include "api/resolve.h"
#include "api/route.h"
#include "api/wire/tenancy.h"
#include "base/units.h"
#include "core/model/limits.h"

namespace heddle::api {
namespace {

// Oneself, and who is a member of a team that one may read; everybody for administrators.
std::set<UserId> known_users(const CallPtr& call) {
  std::set<UserId> known{call->principal.user};
  for (const auto& [key, member] : call->state().members())
    if (call->rights->may(Action::kTeamRead, key.team)) known.insert(key.user);
  return known;
}

bool refused(const CallPtr& call, Faults& faults) {
  call->query.finish(faults);
  if (faults.empty()) return false;
  call->fail(faults.error());
  return true;
}

}  // namespace

void list_users(const CallPtr& call) {
  const bool all = call->rights->may(Action::kUserManage);
  const std::set<UserId> known = all ? std::set<UserId>{} : known_users(call);
  answer_list(
      call, call->state().users(), [&](const User& user) { return all || known.contains(user.id); },
      [&](JsonWriter& json, const User& user) { write_user(json, *call->rights, user); });
}

void create_user(const CallPtr& call) {
  Faults faults;
  Fields fields{call->body, "", faults};
  CreateUser what;
  fields.require("name");
  what.name = fields.name("name").value_or("");
  what.admin = fields.flag("admin").value_or(false);
  fields.finish({"id", "version", "created_at", "updated_at", "can"});
  if (refused(call, faults)) return;
  Call::submit(call, std::move(what), [](const CallPtr& c, const Outcome& outcome) {
    const User* user = c->state().users().find(UserId{outcome.subject});
    if (user == nullptr) return c->fail(nothing_named("user"));
    JsonWriter json;
    write_user(json, *c->rights, *user);
    c->answer(json.take(), 201, user->version);
  });
}

void list_tokens(const CallPtr& call) {
  answer_list(
      call, call->state().tokens(),
      [&](const Token& token) { return token.user == call->principal.user; },
      [&](JsonWriter& json, const Token& token) { write_token(json, *call->rights, token, {}); });
}

void create_token(const CallPtr& call) {
  Faults faults;
  Fields fields{call->body, "", faults};
  CreateToken what;
  what.user = call->principal.user;
  fields.require("name");
  what.name = fields.name("name").value_or("");
  const auto user = fields.reference("user");
  if (const auto text = fields.text("lives", 64, TextKind::kLabel)) {
    const auto span =
        parse_duration(*text, Duration::seconds(1), Duration::millis(limits::kRunTimeMs));
    if (span)
      what.lives = *span;
    else
      faults.add("/lives", span.error());
  }
  fields.finish({"id", "user_id", "secret", "created_at", "expires_at", "revoked_at", "can"});
  if (refused(call, faults)) return;
  if (user) {
    const auto id = find_user(call->state(), *user);
    // Who may not make tokens for others learns nothing about who there is.
    if (id != call->principal.user && !call->rights->may(Action::kUserManage))
      return call->fail({ErrorCode::kPermissionDenied,
                         "You may make tokens for yourself only. It takes user.manage."});
    if (!id) return call->fail(nothing_named("user"));
    what.user = *id;
  }
  Call::submit(call, std::move(what), [](const CallPtr& c, const Outcome& outcome) {
    const Token* token = c->state().tokens().find(TokenId{outcome.subject});
    if (token == nullptr) return c->fail(nothing_named("token"));
    JsonWriter json;
    write_token(json, *c->rights, *token, outcome.token_text);
    c->answer(json.take(), 201);
  });
}

void revoke_token(const CallPtr& call) {
  Faults faults;
  if (refused(call, faults)) return;
  Call::submit(call, RevokeToken{call->token},
               [](const CallPtr& c, const Outcome&) { c->answer_nothing(); });
}

}  // namespace heddle::api
