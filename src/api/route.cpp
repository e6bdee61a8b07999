#include "api/route.h"

#include <array>

#include "api/counters.h"

namespace heddle::api {
namespace {

using enum Action;

constexpr std::array kRoutes{
    Route{"GET", "/v1/health", {}, Body::kNone, Writes::kNothing, get_health, true},
    Route{"GET", "/metrics", {}, Body::kNone, Writes::kNothing, get_metrics},
    Route{"GET", "/v1/status", {}, Body::kNone, Writes::kNothing, get_status},
    Route{"GET", "/v1/whoami", {}, Body::kNone, Writes::kNothing, get_whoami},

    Route{"GET", "/v1/teams", {}, Body::kNone, Writes::kNothing, list_teams},
    Route{"POST", "/v1/teams", {}, Body::kJson, Writes::kCreates, create_team},
    Route{"GET", "/v1/teams/{team_id}", kTeamRead, Body::kNone, Writes::kNothing, get_team},
    Route{"PATCH", "/v1/teams/{team_id}", kTeamManage, Body::kPatch, Writes::kUpdates, update_team},
    Route{"GET", "/v1/teams/{team_id}/members", kTeamRead, Body::kNone, Writes::kNothing,
          list_members},
    Route{"PUT", "/v1/teams/{team_id}/members/{user_id}", kMemberManage, Body::kJson,
          Writes::kReplaces, set_member},
    Route{"DELETE", "/v1/teams/{team_id}/members/{user_id}", kMemberManage, Body::kNone,
          Writes::kReplaces, remove_member},
    Route{"GET", "/v1/teams/{team_id}/shares", kTeamRead, Body::kNone, Writes::kNothing,
          list_shares},
    Route{"GET", "/v1/teams/{team_id}/shares/{pool_id}", kTeamRead, Body::kNone, Writes::kNothing,
          get_share},
    Route{"PUT", "/v1/teams/{team_id}/shares/{pool_id}", kShareManage, Body::kJson,
          Writes::kUpdates, set_share},

    Route{"GET", "/v1/users", {}, Body::kNone, Writes::kNothing, list_users},
    Route{"POST", "/v1/users", kUserManage, Body::kJson, Writes::kCreates, create_user},
    Route{"GET", "/v1/tokens", {}, Body::kNone, Writes::kNothing, list_tokens},
    Route{"POST", "/v1/tokens", {}, Body::kJson, Writes::kCreates, create_token},
    Route{"DELETE", "/v1/tokens/{token_id}", {}, Body::kNone, Writes::kReplaces, revoke_token},

    Route{"GET", "/v1/sites", kEstateRead, Body::kNone, Writes::kNothing, list_sites},
    Route{"GET", "/v1/pools", kEstateRead, Body::kNone, Writes::kNothing, list_pools},
    Route{"GET", "/v1/nodes", kEstateRead, Body::kNone, Writes::kNothing, list_nodes},
    Route{"GET", "/v1/nodes/{node_id}", kEstateRead, Body::kNone, Writes::kNothing, get_node},
    Route{"PATCH", "/v1/nodes/{node_id}", kEstateManage, Body::kPatch, Writes::kUpdates,
          update_node},

    Route{"GET", "/v1/workloads", {}, Body::kNone, Writes::kNothing, list_workloads},
    Route{"POST", "/v1/workloads", {}, Body::kJson, Writes::kCreates, create_workload},
    Route{"GET", "/v1/workloads/{workload_id}", kWorkloadRead, Body::kNone, Writes::kNothing,
          get_workload},
    Route{"POST", "/v1/workloads/{workload_id}/cancel", kWorkloadCancel, Body::kJsonOrNone,
          Writes::kUpdatesAnyState, cancel_workload},
    Route{"GET", "/v1/workloads/{workload_id}/logs", kWorkloadContent, Body::kNone,
          Writes::kNothing, get_logs},
    Route{"GET", "/v1/workloads/{workload_id}/events", kWorkloadRead, Body::kNone, Writes::kNothing,
          list_workload_events},
    Route{"GET", "/v1/workloads/{workload_id}/receipt", kWorkloadRead, Body::kNone,
          Writes::kNothing, get_receipt},
    Route{"GET", "/v1/workloads/{workload_id}/why", kWorkloadRead, Body::kNone, Writes::kNothing,
          get_why},
    Route{"GET", "/v1/allocations", {}, Body::kNone, Writes::kNothing, list_allocations},
    Route{"GET", "/v1/events", {}, Body::kNone, Writes::kNothing, list_events},
    Route{"GET", "/v1/audit", kAuditRead, Body::kNone, Writes::kNothing, list_audit},
};
static_assert(kRoutes.size() < Counters::kRoutesMax);

}  // namespace

std::span<const Route> routes() { return kRoutes; }

void Counters::count(const Route* route, int status) {
  const std::size_t row =
      route == nullptr ? 0 : static_cast<std::size_t>(route - kRoutes.data()) + 1;
  const std::size_t hundred =
      status < 0 || status > 599 ? 0 : static_cast<std::size_t>(status) / 100;
  answers[row][hundred].fetch_add(1, std::memory_order_relaxed);
}

}  // namespace heddle::api
