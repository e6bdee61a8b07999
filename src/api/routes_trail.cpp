// The change feed and the audit trail.
#include <algorithm>

#include "api/call.h"
#include "api/resolve.h"
#include "api/route.h"
#include "api/wire/names.h"

namespace heddle::api {
namespace {

constexpr std::int64_t kFeedChunk = 1000;
constexpr std::int64_t kLooksMax = 20'000;

// Ends of the feed that can still be read: events with seq in (before_first, last].
struct FeedRange {
  std::int64_t before_first = 0;
  std::int64_t last = 0;
};

Result<FeedRange> feed_range(const CallPtr& call) {
  auto oldest = call->shared->store.oldest_feed_seq();
  if (!oldest) return oldest.error();
  const std::int64_t last = call->view->last_feed_seq;
  return FeedRange{*oldest > 0 ? std::min(*oldest - 1, last) : last, last};
}

Error too_old(const std::string& pointer) {
  return {ErrorCode::kGone,
          "Events as old as that are no longer kept.",
          {{pointer, "too_old", ""}},
          {},
          "List again, then follow from now on."};
}

// The last seq before `at`, found by halving: the feed is in the order of time.
Result<std::int64_t> seq_before(const CallPtr& call, FeedRange range, Instant at) {
  std::int64_t low = range.before_first;
  std::int64_t high = range.last;
  while (low < high) {
    const std::int64_t middle = low + (high - low) / 2;
    auto one = call->shared->store.feed(middle, 1);
    if (!one) return one.error();
    if (one->empty() || one->front().at >= at)
      high = middle;
    else
      low = middle + 1;
  }
  return low;
}

// Answers with events behind `after` that pass, oldest first; the cursor always goes on.
void answer_events(const CallPtr& call, const FeedFilter& filter, std::int64_t after,
                   std::int64_t limit, bool always_next) {
  JsonWriter json;
  json.open().open("items", '[');
  const std::int64_t end = call->view->last_feed_seq;
  std::int64_t count = 0;
  for (std::int64_t looks = 0; after < end && count < limit && looks < kLooksMax;) {
    auto page = call->shared->store.feed(after, kFeedChunk);
    if (!page) return call->fail(page.error());
    if (page->empty()) break;
    for (const FeedEvent& event : *page) {
      if (event.seq > end || count == limit) break;
      after = event.seq;
      ++looks;
      if (!wants(filter, event) || !may_see(call->state(), call->principal.user, event)) continue;
      json.raw({}, event_json(event));
      ++count;
    }
    if (page->back().seq >= end) break;
  }
  std::optional<std::uint64_t> next;
  if (always_next || after < end) next = static_cast<std::uint64_t>(after);
  close_list(json, *call, next);
  call->answer(json.take());
}

// False when it was answered already.
bool read_filter(const CallPtr& call, FeedFilter& filter, Faults& faults) {
  if (const auto team = call->query.reference("team", faults)) {
    filter.team = find_team(*call, *team);
    if (!filter.team) {
      call->fail(nothing_named("team"));
      return false;
    }
  }
  const std::string* workload = call->query.take("workload");
  if (workload == nullptr) return true;
  if (!WorkloadId::parse(*workload)) {
    faults.add("?workload", "bad_id", "must be the id of a workload", *workload);
    return true;
  }
  auto found = find_workload(*call, *workload);
  if (!found || !*found) {
    call->fail(found ? nothing_named("workload") : found.error());
    return false;
  }
  filter.workload = (*found)->id;
  return true;
}

void follow_events(const CallPtr& call, const FeedFilter& filter, PageAsk page) {
  const std::string_view last = web::header(call->request.headers, "last-event-id");
  std::string pointer = "?cursor";
  if (!last.empty()) {
    pointer = "Last-Event-ID:";
    auto place = call->shared->seal.open(last, call->principal.user, call->list_name(), pointer);
    if (!place) return call->fail(place.error());
    page.place = *place;
  }
  std::int64_t after = call->view->last_feed_seq;
  if (page.place) {
    after = static_cast<std::int64_t>(*page.place);
    auto range = feed_range(call);
    if (!range) return call->fail(range.error());
    if (after < range->before_first || after > range->last) return call->fail(too_old(pointer));
  }
  auto stream = call->open_stream();
  if (!stream) return;
  call->shared->followers.follow_feed(std::move(stream), call->principal, call->list_name(), filter,
                                      after);
}

}  // namespace

void list_events(const CallPtr& call) {
  Faults faults;
  FeedFilter filter;
  if (!read_filter(call, filter, faults)) return;
  const auto page = call->page(faults);
  call->query.finish(faults);
  if (!page) return call->fail(page.error());
  if (!faults.empty()) return call->fail(faults.error());
  if (web::header_count(call->request.headers, "last-event-id") > 0 &&
      web::header(call->request.headers, "last-event-id").empty())
    return call->fail(Error::invalid("Last-Event-ID:", "bad_cursor", "Last-Event-ID is empty."));
  if (call->wants_stream()) return follow_events(call, filter, *page);
  auto range = feed_range(call);
  if (!range) return call->fail(range.error());
  std::int64_t after = range->before_first;
  if (page->place) {
    after = static_cast<std::int64_t>(*page->place);
    if (after < range->before_first || after > range->last) return call->fail(too_old("?cursor"));
  }
  answer_events(call, filter, after, page->limit, true);
}

void list_workload_events(const CallPtr& call) {
  Faults faults;
  const auto page = call->page(faults);
  call->query.finish(faults);
  if (!page) return call->fail(page.error());
  if (!faults.empty()) return call->fail(faults.error());
  auto range = feed_range(call);
  if (!range) return call->fail(range.error());
  FeedFilter filter;
  filter.workload = call->workload->id;
  std::int64_t after = 0;
  if (page->place) {
    after = static_cast<std::int64_t>(*page->place);
    if (after < range->before_first) return call->fail(too_old("?cursor"));
  } else {
    auto start = seq_before(call, *range, call->workload->submitted_at);
    if (!start) return call->fail(start.error());
    after = *start;
  }
  answer_events(call, filter, after, page->limit, false);
}

void list_audit(const CallPtr& call) {
  Faults faults;
  const auto page = call->page(faults);
  call->query.finish(faults);
  if (!page) return call->fail(page.error());
  if (!faults.empty()) return call->fail(faults.error());
  auto rows = call->shared->store.audit(static_cast<std::int64_t>(page->place.value_or(0)),
                                        page->limit + 1);
  if (!rows) return call->fail(rows.error());
  std::optional<std::uint64_t> next;
  if (static_cast<std::int64_t>(rows->size()) > page->limit) {
    rows->pop_back();
    next = static_cast<std::uint64_t>(rows->back().seq);
  }
  JsonWriter json;
  json.open().open("items", '[');
  for (const AuditEntry& entry : *rows) {
    const User* who = call->state().users().find(entry.who);
    json.open()
        .number("seq", entry.seq)
        .time("at", entry.at)
        .id("who_id", entry.who)
        .text_or_null("who_name", who == nullptr ? "" : who->name)
        .text("action", entry.action)
        .text("subject_kind", wire::kSubjectKinds[static_cast<std::size_t>(entry.subject_kind)])
        .text_or_null("subject_id", subject_text(entry.subject_kind, entry.subject))
        .id("team_id", entry.team)
        .text("result", entry.result)
        .text("request_id", entry.request_id)
        .close();
  }
  close_list(json, *call, next);
  call->answer(json.take());
}

}  // namespace heddle::api
