#include "api/call.h"

#include "api/counters.h"
#include "api/digest.h"
#include "api/problem.h"
#include "api/route.h"

namespace heddle::api {

Shared::Shared(Controller& c, Store& s, std::vector<SiteEngine> e, ApiOptions o)
    : controller{c},
      store{s},
      engines{std::move(e)},
      options{std::move(o)},
      seal{options.cursor_key.empty() ? random_bytes(32) : options.cursor_key},
      users{options.per_user},
      peers{options.per_peer},
      failures{options.failed_logins},
      counters{std::make_shared<Counters>()},
      followers{controller, store, seal, options.streams_max, options.streams_per_user_max} {}

void Call::refresh() {
  view = shared->controller.view();
  rights.emplace(view->state, principal.user);
}

void Call::answer_raw(web::Response response) {
  shared->counters->count(route, response.status);
  responder->respond(std::move(response));
}

void Call::fail(const Error& error) { answer_raw(problem(error, request_id)); }

void Call::answer(std::string json, int status, std::optional<std::int64_t> version) {
  web::Response response{status,
                         {{"Content-Type", "application/json"},
                          {"X-Request-Id", request_id},
                          {"Cache-Control", "no-store"},
                          {"X-Content-Type-Options", "nosniff"}},
                         std::move(json)};
  if (version) response.headers.emplace_back("ETag", "\"" + std::to_string(*version) + "\"");
  if (view && view->stale) response.headers.emplace_back("X-Heddle-Stale", "true");
  answer_raw(std::move(response));
}

void Call::answer_nothing() {
  answer_raw({204, {{"X-Request-Id", request_id}, {"Cache-Control", "no-store"}}, {}});
}

bool Call::wants_stream() const {
  return request.method == "GET" &&
         web::header(request.headers, "accept").find("text/event-stream") != std::string_view::npos;
}

std::shared_ptr<web::Stream> Call::open_stream() {
  if (!shared->followers.has_room(principal.user)) {
    fail({ErrorCode::kRateLimited, "Too many streams are open.", {}, {}, "Close some of them."});
    return nullptr;
  }
  shared->counters->count(route, 200);
  return responder->stream({200,
                            {{"Content-Type", "text/event-stream"},
                             {"X-Request-Id", request_id},
                             {"Cache-Control", "no-store"},
                             {"X-Content-Type-Options", "nosniff"}},
                            {}});
}

std::string Call::list_name() const {
  return std::string{route->method} + " " + request.path + "?" + query.filter();
}

std::string Call::cursor_at(std::uint64_t place) const {
  return shared->seal.close(place, principal.user, list_name());
}

Result<PageAsk> Call::page(Faults& faults) {
  PageAsk ask;
  ask.limit = query.whole("limit", 1, 1000, faults).value_or(100);
  if (const std::string* cursor = query.take("cursor")) {
    auto place = shared->seal.open(*cursor, principal.user, list_name(), "?cursor");
    if (!place) return place.error();
    ask.place = *place;
  }
  return ask;
}

void close_list(JsonWriter& json, const Call& call, std::optional<std::uint64_t> next_place) {
  json.close(']');
  if (next_place)
    json.text("next_cursor", call.cursor_at(*next_place));
  else
    json.null("next_cursor");
  json.close();
}

void Call::submit(const CallPtr& self, decltype(Command::what) what,
                  std::function<void(const CallPtr&, const Outcome&)> then) {
  Command command{{self->principal.user, self->request_id}, self->idempotency, std::move(what)};
  self->shared->controller.submit(std::move(command),
                                  [self, then = std::move(then)](Result<Outcome> outcome) {
                                    if (!outcome) return self->fail(outcome.error());
                                    self->refresh();
                                    then(self, *outcome);
                                  });
}

}  // namespace heddle::api
