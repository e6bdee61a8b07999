// Sites, pools and nodes.
#include "api/call.h"
#include "api/resolve.h"
#include "api/route.h"
#include "api/wire/estate.h"
#include "api/wire/names.h"

namespace heddle::api {
namespace {

void answer_node(const CallPtr& call) {
  const Node* node = call->state().nodes().find(call->node);
  if (node == nullptr) return call->fail(nothing_named("node"));
  JsonWriter json;
  write_node(json, call->state(), *call->rights, *node);
  call->answer(json.take(), 200, node->version);
}

}  // namespace

void list_sites(const CallPtr& call) {
  answer_list(
      call, call->state().sites(), [](const Site&) { return true; },
      [&](JsonWriter& json, const Site& site) { write_site(json, *call->rights, site); });
}

void list_pools(const CallPtr& call) {
  answer_list(
      call, call->state().pools(), [](const Pool&) { return true; },
      [&](JsonWriter& json, const Pool& pool) {
        write_pool(json, call->state(), *call->rights, pool, call->shared->options.currency);
      });
}

void list_nodes(const CallPtr& call) {
  Faults faults;
  const auto name = call->query.reference("pool", faults);
  if (!faults.empty()) return call->fail(faults.error());
  std::optional<PoolId> pool;
  if (name) {
    pool = find_pool(call->state(), *name);
    if (!pool) return call->fail(nothing_named("pool"));
  }
  answer_list(
      call, call->state().nodes(), [&](const Node& node) { return !pool || node.pool == *pool; },
      [&](JsonWriter& json, const Node& node) {
        write_node(json, call->state(), *call->rights, node);
      });
}

void get_node(const CallPtr& call) {
  Faults faults;
  call->query.finish(faults);
  if (!faults.empty()) return call->fail(faults.error());
  answer_node(call);
}

void update_node(const CallPtr& call) {
  Faults faults;
  Fields fields{call->body, "", faults};
  fields.require("state");
  const auto state = fields.choice("state", std::span{wire::kNodeStates}.first(2));
  fields.finish({"id", "site_id", "pool_id", "name", "version", "created_at", "updated_at", "can",
                 "devices", "simulated"});
  call->query.finish(faults);
  if (!faults.empty()) return call->fail(faults.error());
  Call::submit(call, SetNodeState{call->node, static_cast<NodeState>(*state), call->if_version},
               [](const CallPtr& c, const Outcome&) { answer_node(c); });
}

}  // namespace heddle::api
