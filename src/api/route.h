// Route: one row of the table of everything that the API answers.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "api/call.h"

namespace heddle::api {

// What the route takes as its body.
enum class Body : std::uint8_t { kNone, kJson, kJsonOrNone, kPatch };

// What an Idempotency-Key or If-Match header means to it.
enum class Writes : std::uint8_t {
  kNothing,
  kCreates,          // takes Idempotency-Key
  kUpdates,          // needs If-Match
  kUpdatesAnyState,  // takes If-Match
  kReplaces,         // takes neither: the last one wins
};

// `path` has its parts in braces: {team_id}, {user_id}, {pool_id}, {node_id}, {token_id},
// {workload_id}. The gate resolves each inside what the asker may see (else 404), then asks may()
// for `action` at the team found, or at the organisation when the path names none (else 403).
// No action: the function itself picks what the asker may see, or control judges.
struct Route {
  std::string_view method;
  std::string_view path;
  std::optional<Action> action;
  Body body = Body::kNone;
  Writes writes = Writes::kNothing;
  void (*run)(const CallPtr& call) = nullptr;
  bool open = false;  // needs no token
};

// Every route there is.
std::span<const Route> routes();

// ---- what the rows run; each answers the call once ----
void get_health(const CallPtr& call);
void get_metrics(const CallPtr& call);
void get_status(const CallPtr& call);
void get_whoami(const CallPtr& call);
void list_teams(const CallPtr& call);
void create_team(const CallPtr& call);
void get_team(const CallPtr& call);
void update_team(const CallPtr& call);
void list_members(const CallPtr& call);
void set_member(const CallPtr& call);
void remove_member(const CallPtr& call);
void list_shares(const CallPtr& call);
void get_share(const CallPtr& call);
void set_share(const CallPtr& call);
void list_users(const CallPtr& call);
void create_user(const CallPtr& call);
void list_tokens(const CallPtr& call);
void create_token(const CallPtr& call);
void revoke_token(const CallPtr& call);
void list_sites(const CallPtr& call);
void list_pools(const CallPtr& call);
void list_nodes(const CallPtr& call);
void get_node(const CallPtr& call);
void update_node(const CallPtr& call);
void list_workloads(const CallPtr& call);
void create_workload(const CallPtr& call);
void get_workload(const CallPtr& call);
void cancel_workload(const CallPtr& call);
void get_logs(const CallPtr& call);
void list_workload_events(const CallPtr& call);
void get_receipt(const CallPtr& call);
void get_why(const CallPtr& call);
void list_allocations(const CallPtr& call);
void list_events(const CallPtr& call);
void list_audit(const CallPtr& call);

}  // namespace heddle::api
