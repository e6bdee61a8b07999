// Teams, members and shares.
#include "api/call.h"
#include "api/resolve.h"
#include "api/route.h"
#include "api/wire/names.h"
#include "api/wire/tenancy.h"
#include "core/model/limits.h"

namespace heddle::api {
namespace {

bool refused(const CallPtr& call, Faults& faults) {
  call->query.finish(faults);
  if (faults.empty()) return false;
  call->fail(faults.error());
  return true;
}

void answer_team(const CallPtr& call, TeamId id, int status) {
  const Team* team = call->state().teams().find(id);
  if (team == nullptr || !call->rights->may(Action::kTeamRead, id))
    return call->fail(nothing_named("team"));
  JsonWriter json;
  write_team(json, *call->rights, *team);
  call->answer(json.take(), status, team->version);
}

void answer_share(const CallPtr& call) {
  const ShareKey key{call->team, call->pool};
  JsonWriter json;
  write_share(json, call->state(), *call->rights, key);
  call->answer(json.take(), 200, share_version(call->state(), key));
}

}  // namespace

void list_teams(const CallPtr& call) {
  answer_list(
      call, call->state().teams(),
      [&](const Team& team) { return call->rights->may(Action::kTeamRead, team.id); },
      [&](JsonWriter& json, const Team& team) { write_team(json, *call->rights, team); });
}

void create_team(const CallPtr& call) {
  Faults faults;
  Fields fields{call->body, "", faults};
  CreateTeam what;
  fields.require("name");
  what.name = fields.name("name").value_or("");
  what.display = fields.text("display", limits::kDisplayBytes, TextKind::kLabel).value_or("");
  const auto parent = fields.reference("parent");
  fields.finish({"id", "version", "created_at", "updated_at", "can", "parent_id", "slot"});
  if (refused(call, faults)) return;
  if (parent) {
    const auto id = find_team(*call, *parent);
    if (!id) return call->fail(nothing_named("team"));
    what.parent = *id;
  }
  Call::submit(call, std::move(what), [](const CallPtr& c, const Outcome& outcome) {
    answer_team(c, TeamId{outcome.subject}, 201);
  });
}

void get_team(const CallPtr& call) {
  Faults faults;
  if (refused(call, faults)) return;
  answer_team(call, call->team, 200);
}

void update_team(const CallPtr& call) {
  Faults faults;
  Fields fields{call->body, "", faults};
  UpdateTeam what;
  what.team = call->team;
  what.name = fields.name("name");
  what.display = fields.text("display", limits::kDisplayBytes, TextKind::kLabel);
  what.if_version = call->if_version;
  fields.finish({"id", "version", "created_at", "updated_at", "can", "parent", "parent_id"});
  if (faults.empty() && !what.name && !what.display)
    faults.add("", "required", "must change something: name or display");
  if (refused(call, faults)) return;
  Call::submit(call, std::move(what),
               [](const CallPtr& c, const Outcome&) { answer_team(c, c->team, 200); });
}

void list_members(const CallPtr& call) {
  Faults faults;
  const auto page = call->page(faults);
  if (!page) return call->fail(page.error());
  if (refused(call, faults)) return;
  JsonWriter json;
  json.open().open("items", '[');
  const auto& members = call->state().members();
  std::int64_t count = 0;
  std::optional<std::uint64_t> last, next;
  const UserId from{page->place.value_or(0)};
  for (auto at = members.upper_bound({call->team, from});
       at != members.end() && at->key.team == call->team; ++at) {
    if (count++ == page->limit) {
      next = last;
      break;
    }
    write_member(json, call->state(), *call->rights, at->value);
    last = at->key.user.value;
  }
  close_list(json, *call, next);
  call->answer(json.take());
}

void set_member(const CallPtr& call) {
  Faults faults;
  Fields fields{call->body, "", faults};
  fields.require("role");
  const auto role = fields.choice("role", wire::kRoles);
  fields.finish({"team_id", "user_id", "user_name", "since", "can"});
  if (refused(call, faults)) return;
  Call::submit(call, SetMember{call->team, call->user, static_cast<Role>(*role)},
               [](const CallPtr& c, const Outcome&) {
                 const Member* member = c->state().members().find({c->team, c->user});
                 if (member == nullptr) return c->fail(nothing_named("member"));
                 JsonWriter json;
                 write_member(json, c->state(), *c->rights, *member);
                 c->answer(json.take());
               });
}

void remove_member(const CallPtr& call) {
  Faults faults;
  if (refused(call, faults)) return;
  Call::submit(call, RemoveMember{call->team, call->user},
               [](const CallPtr& c, const Outcome&) { c->answer_nothing(); });
}

void list_shares(const CallPtr& call) {
  answer_list(
      call, call->state().pools(), [](const Pool&) { return true; },
      [&](JsonWriter& json, const Pool& pool) {
        write_share(json, call->state(), *call->rights, {call->team, pool.id});
      });
}

void get_share(const CallPtr& call) {
  Faults faults;
  if (refused(call, faults)) return;
  answer_share(call);
}

void set_share(const CallPtr& call) {
  Faults faults;
  Fields fields{call->body, "", faults};
  SetShare what;
  what.key = {call->team, call->pool};
  fields.require("guarantee");
  what.guarantee =
      GpuAmount::milli(fields.thousandths("guarantee", 0, GpuAmount::kMaxMilli).value_or(0));
  what.limit = GpuAmount::milli(GpuAmount::kMaxMilli);
  if (const Value* limit = fields.take("limit"); limit != nullptr && !limit->is(Value::Kind::kNull))
    what.limit = GpuAmount::milli(
        fields.thousandths("limit", 0, GpuAmount::kMaxMilli).value_or(GpuAmount::kMaxMilli));
  what.weight = fields.whole("weight", 1, limits::kWeight).value_or(1);
  what.rank = fields.whole("rank", -limits::kRank, limits::kRank).value_or(0);
  what.if_version = call->if_version;
  fields.finish({"team_id", "pool_id", "pool_name", "held_gpu_milli", "version", "can"});
  if (refused(call, faults)) return;
  Call::submit(call, std::move(what), [](const CallPtr& c, const Outcome&) { answer_share(c); });
}

}  // namespace heddle::api
