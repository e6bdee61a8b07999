// Call: one request on its way through the gate and its route to its answer.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "api/api.h"
#include "api/cursor.h"
#include "api/followers.h"
#include "api/json.h"
#include "api/json_writer.h"
#include "api/query.h"
#include "api/rights.h"
#include "api/token_check.h"
#include "base/web.h"
#include "control/controller.h"

namespace heddle::api {

struct Route;
struct Counters;

// What all calls share.
struct Shared {
  Controller& controller;
  Store& store;
  const std::vector<SiteEngine> engines;
  const ApiOptions options;
  const Seal seal;
  TokenCheck tokens;
  RateLimiter users;
  RateLimiter peers;
  RateLimiter failures;
  std::shared_ptr<Counters> counters;
  Followers followers;

  Shared(Controller& c, Store& s, std::vector<SiteEngine> e, ApiOptions o);
};

// Where a list stands: how many, from where, and what its cursors are bound to.
struct PageAsk {
  std::int64_t limit = 100;
  std::optional<std::uint64_t> place;  // of the cursor, if one was given
};

// Shared by whoever still has to answer it. Fields are set by the gate, step by step, before the
// route's function runs; one thread at a time.
struct Call {
  std::shared_ptr<Shared> shared;
  web::Request request;
  std::shared_ptr<web::Responder> responder;
  std::string request_id;
  const Route* route = nullptr;
  std::shared_ptr<const View> view;
  Instant now;
  Principal principal;
  std::optional<Rights> rights;
  Query query;
  Value body;
  std::optional<std::int64_t> if_version;
  bool any_version = false;  // If-Match: *
  std::optional<IdempotencyKey> idempotency;

  // What the path names, by its template.
  TeamId team;
  UserId user;
  PoolId pool;
  NodeId node;
  TokenId token;
  std::optional<Workload> workload;

  const State& state() const { return view->state; }
  // Takes the newest view again, after a command of ours was committed.
  void refresh();

  void fail(const Error& error);
  void answer(std::string json, int status = 200, std::optional<std::int64_t> version = {});
  void answer_nothing();  // 204
  void answer_raw(web::Response response);
  // True when the client asks for server-sent events (and not by HEAD).
  bool wants_stream() const;
  // Null when there is no room for one more; then it was answered.
  std::shared_ptr<web::Stream> open_stream();

  // `limit` and `cursor`; faults when they are wrong.
  Result<PageAsk> page(Faults& faults);
  std::string list_name() const;  // what cursors of this list are bound to
  std::string cursor_at(std::uint64_t place) const;

  // Sends a command and calls `then` with its outcome, with the view already refreshed; errors are
  // answered here. `self` keeps the call alive.
  static void submit(const std::shared_ptr<Call>& self, decltype(Command::what) what,
                     std::function<void(const std::shared_ptr<Call>&, const Outcome&)> then);
};

using CallPtr = std::shared_ptr<Call>;

// Ends a list: items are written, the bracket is still open.
void close_list(JsonWriter& json, const Call& call, std::optional<std::uint64_t> next_place);

// One writer for every resource of a list in ascending or descending order of a key; used by the
// short lists of tenancy and estate. `Map` is a CowMap whose key has `.value`.
template <class Map, class Keep, class Write>
void answer_list(const CallPtr& call, const Map& map, Keep keep, Write write) {
  Faults faults;
  const auto page = call->page(faults);
  call->query.finish(faults);
  if (!page) return call->fail(page.error());
  if (!faults.empty()) return call->fail(faults.error());
  JsonWriter json;
  json.open().open("items", '[');
  std::int64_t count = 0;
  std::optional<std::uint64_t> last, next;
  auto at = map.begin();
  if (page->place) at = map.upper_bound({*page->place});
  for (; at != map.end(); ++at) {
    if (!keep(at->value)) continue;
    if (count == page->limit) {
      next = last;
      break;
    }
    write(json, at->value);
    ++count;
    last = at->key.value;
  }
  close_list(json, *call, next);
  call->answer(json.take());
}

}  // namespace heddle::api
