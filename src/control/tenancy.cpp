// Teams, shares, people and tokens.
#include <cstdio>
#include <string>

#include "control/commands.h"
#include "control/judge.h"
#include "core/access/access.h"
#include "core/model/limits.h"

namespace heddle {
namespace {

Result<Done> check_name(const std::string& name, const char* pointer) {
  bool good = !name.empty() && name.size() <= static_cast<std::size_t>(limits::kNameBytes);
  for (const char c : name)
    good = good && ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-');
  if (good && name.front() != '-' && name.back() != '-') return Done{};
  return Error::invalid(pointer, "bad_name",
                        "A name is 1 to 63 of a-z, 0-9 and '-', without '-' at the ends.", name);
}

Error name_taken(const std::string& name) {
  return {ErrorCode::kConflict,
          "The name '" + name + "' is taken.",
          {{"/name", "taken", name}},
          {},
          "Choose another name."};
}

// Shares of the children of `parent` (unset: of the top level) in `pool`, with one replaced.
GpuAmount promised_below(const State& state, TeamId parent, const Share& replaced) {
  GpuAmount sum;
  for (const auto& [id, team] : state.teams()) {
    if (team.parent != parent) continue;
    sum += id == replaced.key.team ? replaced.guarantee
                                   : state.share({id, replaced.key.pool}).guarantee;
  }
  return sum;
}

GpuAmount capacity_of(const State& state, PoolId pool) {
  std::int64_t devices = 0;
  for (const auto& [id, node] : state.nodes())
    if (node.pool == pool) devices += static_cast<std::int64_t>(node.devices.size());
  return GpuAmount::devices(devices);
}

// Children within their parent, the top level within the pool.
Result<Done> check_promises(const State& state, const Share& share) {
  const TeamId parent = state.teams().find(share.key.team)->parent;
  const GpuAmount promised = promised_below(state, parent, share);
  const GpuAmount ceiling = parent.is_set() ? state.share({parent, share.key.pool}).guarantee
                                            : capacity_of(state, share.key.pool);
  if (promised > ceiling) {
    return Error{
        ErrorCode::kOverLimit,
        std::string{"The guarantees would add up to more than "} +
            (parent.is_set() ? "the parent's guarantee." : "the pool has."),
        {{"/guarantee", "above_capacity", ""}},
        {{"promised_gpu_milli", promised.as_milli()}, {"capacity_gpu_milli", ceiling.as_milli()}},
        "Lower this guarantee or another one first."};
  }
  const GpuAmount children = [&] {
    Share none;
    none.key.pool = share.key.pool;
    return promised_below(state, share.key.team, none);
  }();
  if (children > share.guarantee) {
    return Error{ErrorCode::kOverLimit,
                 "The teams below were promised more than this.",
                 {{"/guarantee", "below_children", ""}},
                 {{"promised_gpu_milli", children.as_milli()}},
                 "Lower the guarantees below first."};
  }
  return Done{};
}

}  // namespace

Result<Outcome> create_team(Books& books, UserId actor, const CreateTeam& what) {
  const State& state = books.state();
  if (what.parent.is_set() && !state.teams().contains(what.parent)) return not_found("team");
  if (const auto ok = judge(state, actor, Action::kTeamManage, what.parent); !ok) return ok.error();
  if (const auto ok = check_name(what.name, "/name"); !ok) return ok.error();
  if (state.team_names().contains(what.name)) return name_taken(what.name);
  Team team;
  team.id = books.new_id<TeamTag>();
  team.parent = what.parent;
  team.name = what.name;
  team.display = what.display;
  team.slot = books.new_team_slot();
  team.created_at = team.updated_at = books.now;
  books.tell(team.id, SubjectKind::kTeam, team.id.value, "created");
  const std::uint64_t id = team.id.value;
  books.draft.put(std::move(team));
  return Outcome{id, false, {}};
}

Result<Outcome> update_team(Books& books, UserId actor, const UpdateTeam& what) {
  const State& state = books.state();
  const Team* found = state.teams().find(what.team);
  if (found == nullptr) return not_found("team");
  if (const auto ok = judge(state, actor, Action::kTeamManage, what.team); !ok) return ok.error();
  if (const auto ok = check_version(what.if_version, found->version); !ok) return ok.error();
  Team team = *found;
  if (what.name && *what.name != team.name) {
    if (const auto ok = check_name(*what.name, "/name"); !ok) return ok.error();
    if (state.team_names().contains(*what.name)) return name_taken(*what.name);
    team.name = *what.name;
  }
  if (what.display) team.display = *what.display;
  team.updated_at = books.now;
  ++team.version;
  books.tell(team.id, SubjectKind::kTeam, team.id.value, "changed");
  books.draft.put(std::move(team));
  return Outcome{what.team.value, false, {}};
}

Result<Outcome> set_share(Books& books, UserId actor, const SetShare& what) {
  const State& state = books.state();
  if (!state.teams().contains(what.key.team)) return not_found("team");
  if (const auto ok = judge(state, actor, Action::kShareManage, what.key.team); !ok)
    return ok.error();
  if (!state.pools().contains(what.key.pool)) return not_found("pool");
  Share share = state.share(what.key);
  const bool exists = state.shares().contains(what.key);
  if (const auto ok = check_version(what.if_version, exists ? share.version : 0); !ok)
    return ok.error();
  share.guarantee = what.guarantee;
  share.limit = what.limit;
  share.weight = what.weight;
  share.rank = what.rank;
  share.version = exists ? share.version + 1 : 1;
  if (share.limit < share.guarantee)
    return Error::invalid("/limit", "below_guarantee", "The limit is below the guarantee.");
  if (const auto ok = check_promises(state, share); !ok) return ok.error();
  books.tell(what.key.team, SubjectKind::kShare, what.key.team.value, "changed",
             state.pools().find(what.key.pool)->name);
  books.draft.put(share);
  return Outcome{what.key.team.value, false, {}};
}

Result<Outcome> create_user(Books& books, UserId actor, const CreateUser& what) {
  const State& state = books.state();
  if (!may(state, actor, Action::kUserManage, {})) return denied(state, Action::kUserManage, {});
  if (const auto ok = check_name(what.name, "/name"); !ok) return ok.error();
  if (state.user_names().contains(what.name)) return name_taken(what.name);
  User user;
  user.id = books.new_id<UserTag>();
  user.name = what.name;
  user.admin = what.admin;
  user.created_at = user.updated_at = books.now;
  books.tell({}, SubjectKind::kUser, user.id.value, "created");
  const std::uint64_t id = user.id.value;
  books.draft.put(std::move(user));
  return Outcome{id, false, {}};
}

Result<Outcome> set_member(Books& books, UserId actor, const SetMember& what) {
  const State& state = books.state();
  if (!state.teams().contains(what.team)) return not_found("team");
  if (const auto ok = judge(state, actor, Action::kMemberManage, what.team); !ok) return ok.error();
  if (!state.users().contains(what.user)) return not_found("user");
  const Member* old = state.members().find({what.team, what.user});
  Member member{{what.team, what.user}, what.role, old != nullptr ? old->since : books.now};
  books.tell(what.team, SubjectKind::kMember, what.user.value, old ? "changed" : "added",
             state.users().find(what.user)->name);
  books.draft.put(std::move(member));
  return Outcome{what.user.value, false, {}};
}

Result<Outcome> remove_member(Books& books, UserId actor, const RemoveMember& what) {
  const State& state = books.state();
  if (!state.teams().contains(what.team)) return not_found("team");
  if (const auto ok = judge(state, actor, Action::kMemberManage, what.team); !ok) return ok.error();
  if (!state.members().contains({what.team, what.user})) return not_found("member");
  books.tell(what.team, SubjectKind::kMember, what.user.value, "removed",
             state.users().find(what.user)->name);
  books.draft.erase(MemberKey{what.team, what.user});
  return Outcome{what.user.value, false, {}};
}

std::string make_token(Books& books, UserId user, const std::string& name, Duration lives) {
  const NewSecret secret = books.ids.new_secret();
  Token token;
  token.id = books.new_id<TokenTag>();
  token.user = user;
  token.name = name;
  token.hash = secret.hash;
  token.created_at = books.now;
  token.expires_at = books.now + lives;
  std::string text = "heddle_" + token.id.text() + "_";
  for (const std::uint8_t byte : secret.bytes) {
    constexpr const char* kHex = "0123456789abcdef";
    text.push_back(kHex[byte >> 4]);
    text.push_back(kHex[byte & 15]);
  }
  books.tell({}, SubjectKind::kToken, token.id.value, "created");
  books.draft.put(std::move(token));
  return text;
}

Result<Outcome> create_token(Books& books, UserId actor, const CreateToken& what,
                             const CommandLimits& limits) {
  const State& state = books.state();
  if (what.user != actor && !may(state, actor, Action::kUserManage, {}))
    return denied(state, Action::kUserManage, {});
  if (!state.users().contains(what.user)) return not_found("user");
  if (what.lives.ms < 1000 || what.lives > limits.token_life_max)
    return Error::invalid("/lives", "out_of_range", "A token lives from one second to 400 days.");
  std::string text = make_token(books, what.user, what.name, what.lives);
  const TokenId id = *TokenId::parse(text.substr(7, text.rfind('_') - 7));
  return Outcome{id.value, false, std::move(text)};
}

Result<Outcome> revoke_token(Books& books, UserId actor, const RevokeToken& what) {
  const State& state = books.state();
  const Token* found = state.tokens().find(what.token);
  const bool own = found != nullptr && found->user == actor;
  if (found == nullptr || (!own && !may(state, actor, Action::kUserManage, {})))
    return not_found("token");
  Token token = *found;
  if (!token.revoked_at.is_set()) token.revoked_at = books.now;
  books.tell({}, SubjectKind::kToken, token.id.value, "revoked");
  books.draft.put(std::move(token));
  return Outcome{what.token.value, false, {}};
}

Result<Outcome> set_node_state(Books& books, UserId actor, const SetNodeState& what) {
  const State& state = books.state();
  const Node* found = state.nodes().find(what.node);
  if (found == nullptr) return not_found("node");
  if (!may(state, actor, Action::kEstateManage, {}))
    return denied(state, Action::kEstateManage, {});
  if (const auto ok = check_version(what.if_version, found->version); !ok) return ok.error();
  if (found->state == NodeState::kLost || what.state == NodeState::kLost)
    return Error{ErrorCode::kConflict, "A lost node comes back by itself when it is heard of."};
  Node node = *found;
  node.state = what.state;
  node.updated_at = books.now;
  ++node.version;
  books.tell({}, SubjectKind::kNode, node.id.value,
             what.state == NodeState::kDraining ? "draining" : "ready", node.name);
  books.draft.put(std::move(node));
  return Outcome{what.node.value, false, {}};
}

}  // namespace heddle
