// Logs of one replica: a page, or followed live.
#include <algorithm>

#include "api/call.h"
#include "api/engines.h"
#include "api/route.h"

namespace heddle::api {
namespace {

struct LogAsk {
  LogPlace from;
  std::int64_t tail = 0;
  std::int64_t replica = 0;
  bool only_attempt = false;
};

// False when it was answered already.
bool read_ask(const CallPtr& call, LogAsk& ask, bool streamed) {
  Faults faults;
  Query& query = call->query;
  ask.tail = query.whole("tail", 1, 10'000, faults).value_or(0);
  ask.replica = query.whole("replica", 0, 4095, faults).value_or(0);
  const auto attempt = query.whole("attempt", 1, 1'000'000, faults);
  const std::string* cursor = query.take("cursor");
  std::string text = cursor == nullptr ? "" : *cursor;
  if (web::header_count(call->request.headers, "last-event-id") > 0) {
    const std::string last{web::header(call->request.headers, "last-event-id")};
    if (!parse_log_place(last))
      faults.add("Last-Event-ID:", "bad_cursor", "is not a place in a log", last);
    else if (streamed)
      text = last;
  }
  if (cursor != nullptr || !text.empty()) {
    const auto place = parse_log_place(text);
    if (place)
      ask.from = *place;
    else
      faults.add("?cursor", "bad_cursor", "is not a place in a log", text);
    ask.tail = 0;
  }
  query.finish(faults);
  if (ask.replica >= call->workload->spec->shape.replicas)
    faults.add("?replica", "out_of_range",
               "must be below " + std::to_string(call->workload->spec->shape.replicas),
               std::to_string(ask.replica));
  // The first run may be waited for; a later one that never was would be waited for in vain.
  const std::int64_t runs = std::max<std::int64_t>(1, call->workload->attempt);
  if (attempt && *attempt > runs)
    faults.add("?attempt", "out_of_range", "must be at most " + std::to_string(runs),
               std::to_string(*attempt));
  if (!faults.empty()) {
    call->fail(faults.error());
    return false;
  }
  if (attempt && ask.from.attempt != *attempt) ask.from = {*attempt, {}};
  ask.only_attempt = attempt.has_value();
  return true;
}

struct Page {
  LogPage page;
  LogPlace next;
};

Result<Page> read_page(const CallPtr& call, LogAsk ask) {
  const Workload& w = *call->workload;
  if (ask.from.attempt == 0) ask.from.attempt = w.attempt;
  Page out{{{}, {}, true, has_ended(w.state), false}, ask.from};
  if (ask.from.attempt == 0 || ask.from.attempt > w.attempt) return out;
  Engine* engine = engine_of(call->shared->engines, call->state(), w.pool);
  if (engine == nullptr)
    return Error{ErrorCode::kUnavailable, "The site where it ran is not connected."};
  auto page =
      engine->read_log({w.id, ask.from.attempt, ask.replica, ask.from.at, ask.tail, 256 * 1024});
  if (!page) {
    // No log yet reads like an empty one; a log that is gone says so.
    if (page.error().code == ErrorCode::kNotFound && !has_ended(w.state)) return out;
    return page.error();
  }
  out.page = std::move(*page);
  out.next.at = out.page.next;
  return out;
}

}  // namespace

Engine* engine_of(const std::vector<SiteEngine>& engines, const State& state, PoolId id) {
  const Pool* pool = state.pools().find(id);
  const Site* site = pool == nullptr ? nullptr : state.sites().find(pool->site);
  if (site == nullptr) return nullptr;
  for (const SiteEngine& engine : engines)
    if (engine.site_name == site->name) return engine.engine;
  return nullptr;
}

void get_logs(const CallPtr& call) {
  const bool streamed = call->wants_stream();
  LogAsk ask;
  if (!read_ask(call, ask, streamed)) return;
  if (streamed) {
    auto stream = call->open_stream();
    if (!stream) return;
    call->shared->followers.follow_log(
        std::move(stream), call->principal, call->workload->id, call->workload->team, ask.replica,
        ask.from, ask.tail, ask.only_attempt,
        [shared = call->shared.get()](const State& state, PoolId pool) {
          return engine_of(shared->engines, state, pool);
        });
    return;
  }
  auto read = read_page(call, ask);
  if (!read) return call->fail(read.error());
  JsonWriter json;
  json.open().open("items", '[');
  for (const LogLine& line : read->page.lines) json.raw({}, line_json(line));
  json.close(']')
      .text("next_cursor", text_of(read->next))
      .flag("at_end", read->page.at_end)
      .flag("finished", read->page.finished)
      .flag("skipped", read->page.skipped)
      .number("replica", ask.replica)
      .number("attempt", read->next.attempt)
      .close();
  call->answer(json.take());
}

}  // namespace heddle::api
