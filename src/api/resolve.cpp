#include "api/resolve.h"

#include "control/commands.h"

namespace heddle::api {
namespace {

// By id, or by the index of names.
template <class Id, class Rows, class Names>
std::optional<Id> find_in(const Rows& rows, const Names& names, std::string_view text) {
  if (const auto id = Id::parse(text)) {
    if (rows.contains(*id)) return *id;
    return std::nullopt;
  }
  if (const Id* id = names.find(std::string{text})) return *id;
  return std::nullopt;
}

template <class Id>
std::optional<Error> set(Id& field, const std::optional<Id>& found, std::string_view kind) {
  if (!found) return nothing_named(kind);
  field = *found;
  return std::nullopt;
}

}  // namespace

Error nothing_named(std::string_view kind) { return not_found(kind); }

std::optional<TeamId> find_team(Call& call, std::string_view text) {
  const auto id = find_in<TeamId>(call.state().teams(), call.state().team_names(), text);
  if (!id || !call.rights->may(Action::kTeamRead, *id)) return std::nullopt;
  return id;
}

std::optional<UserId> find_user(const State& state, std::string_view text) {
  return find_in<UserId>(state.users(), state.user_names(), text);
}

std::optional<PoolId> find_pool(const State& state, std::string_view text) {
  return find_in<PoolId>(state.pools(), state.pool_names(), text);
}

std::optional<NodeId> find_node(const State& state, std::string_view text) {
  return find_in<NodeId>(state.nodes(), state.node_names(), text);
}

Result<std::optional<Workload>> find_workload(Call& call, std::string_view text) {
  const auto id = WorkloadId::parse(text);
  if (!id) return std::optional<Workload>{};
  std::optional<Workload> workload;
  if (const Workload* live = call.state().workloads().find(*id)) {
    workload = *live;
  } else {
    auto ended = call.shared->store.ended_workload(*id);
    if (!ended) return ended.error();
    workload = std::move(*ended);
  }
  if (workload && !call.rights->may(Action::kWorkloadRead, workload->team)) workload.reset();
  return workload;
}

std::optional<Error> resolve(Call& call, std::string_view part, std::string_view text) {
  if (part == "{team_id}") return set(call.team, find_team(call, text), "team");
  if (part == "{user_id}") return set(call.user, find_user(call.state(), text), "user");
  if (part == "{pool_id}") return set(call.pool, find_pool(call.state(), text), "pool");
  if (part == "{node_id}") return set(call.node, find_node(call.state(), text), "node");
  if (part == "{token_id}") {
    const auto id = TokenId::parse(text);
    const Token* token = id ? call.state().tokens().find(*id) : nullptr;
    const bool known = token != nullptr && (token->user == call.principal.user ||
                                            call.rights->may(Action::kUserManage));
    return set(call.token, known ? id : std::optional<TokenId>{}, "token");
  }
  HEDDLE_CHECK(part == "{workload_id}");
  auto found = find_workload(call, text);
  if (!found) return found.error();
  if (!*found) return nothing_named("workload");
  call.workload = std::move(*found);
  return std::nullopt;
}

}  // namespace heddle::api
