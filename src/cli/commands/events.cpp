// events, audit: what happened, and who did it.
#include <nlohmann/json.hpp>
#include <optional>

#include "base/units.h"
#include "cli/commands/commands.h"
#include "cli/commands/work_words.h"
#include "cli/live.h"
#include "cli/render/escape.h"
#include "cli/render/json.h"
#include "cli/render/when.h"
#include "cli/session/session.h"

namespace heddle::cli {
namespace {

using nlohmann::json;

std::string event_line(const json& event) {
  const auto at = time(event, "at");
  const std::string subject = text(event, "subject_id");
  std::string what = text(event, "what");
  what.resize(std::max<std::size_t>(what.size(), 12), ' ');
  std::string line = (at ? clock_words(*at) : "--------") + "  " + safe(what) + "  " +
                     safe(subject.empty() ? text(event, "subject_kind") : subject);
  if (const std::string note = text(event, "note"); !note.empty()) line += "  " + safe(note);
  return line + "\n";
}

class EventPrinter : public client::StreamSink {
 public:
  explicit EventPrinter(Session& session) : session_{session} {}

  bool on_event(const client::SseEvent& sse) override {
    const json event = json::parse(sse.data, nullptr, false);
    if (!event.is_object()) return true;
    Console& console = session_.console();
    if (console.is_text())
      console.print(event_line(event));
    else
      console.print(json_line(event, console.out_is_terminal()));
    return true;
  }
  void on_lost(const std::string& why, Duration next_try) override {
    lost_ = true;
    tell_lost(session_, why, next_try);
  }
  void on_open() override {
    if (lost_) tell_back(session_);
    lost_ = false;
  }
  void on_refused(const client::Answer& answer) override { refused = answer; }

  std::optional<client::Answer> refused;

 private:
  Session& session_;
  bool lost_ = false;
};

int follow_events(Session& session, const std::string& query) {
  const auto streams = session.streams();
  EventPrinter printer(session);
  streams->open("/v1/events" + query, "", printer);
  for (;;) {
    const auto pumped = streams->pump(Duration::minutes(1));
    if (pumped == client::Pumped::kInterrupted) {
      session.console().take_interrupt();
      return 0;
    }
    if (printer.refused) return session.fail(session.error_of(*printer.refused));
  }
}

int events(Session& session, const Arguments& arguments) {
  std::string query;
  if (!arguments.places.empty()) {
    const auto work = find_work(session, arguments.places.front());
    if (!work) return session.fail(work.error());
    query = "?workload=" + client::encode_part(text(*work, "id"));
  } else if (!session.team().empty()) {
    query = "?team=" + client::encode_part(session.team());
  }
  if (arguments.has("follow")) return follow_events(session, query);
  json all{{"items", json::array()}, {"next_cursor", nullptr}};
  std::string cursor;
  // The feed always says where to go on later, so its end is a page that is not full.
  for (std::size_t got = 1000; got == 1000;) {
    const auto page =
        session.get("/v1/events" + query + (query.empty() ? "?" : "&") + "limit=1000" +
                    (cursor.empty() ? "" : "&cursor=" + client::encode_part(cursor)));
    if (!page) return session.fail(page.error());
    const json& items = part(*page, "items");
    got = items.size();
    for (const json& item : items) all["items"].push_back(item);
    cursor = text(*page, "next_cursor");
    if (cursor.empty()) break;
  }
  all["next_cursor"] = cursor.empty() ? json(nullptr) : json(cursor);
  return session.show(all, [&] {
    std::string out;
    for (const json& event : part(all, "items")) out += event_line(event);
    return out.empty() ? std::string("Nothing happened yet that is still kept.\n") : out;
  });
}

int audit(Session& session, const Arguments& arguments) {
  std::int64_t most = 50;
  if (arguments.has("limit")) {
    const auto limit = parse_whole(arguments.value("limit"), 1, 1'000'000);
    if (!limit)
      return session.fail({ErrorCode::kInvalidArgument, "--limit " + limit.error().message});
    most = *limit;
  }
  const auto list = session.list("/v1/audit", static_cast<std::size_t>(most));
  if (!list) return session.fail(list.error());
  return session.show(*list, [&] {
    Table table(
        {{"TIME"}, {"WHO", Align::kLeft, 0, true}, {"DID"}, {"WHAT", Align::kLeft, 2}, {"RESULT"}});
    const json& items = part(*list, "items");
    const Instant now = reader_now();
    for (auto it = items.rbegin(); it != items.rend(); ++it) {
      const json& entry = *it;
      const auto at = time(entry, "at");
      const std::string who = text(entry, "who_name");
      const std::string result = text(entry, "result");
      const std::string subject = text(entry, "subject_id");
      table.row({at ? short_time_words(*at, now) : "-", who.empty() ? "heddle" : who,
                 text(entry, "action"), subject.empty() ? text(entry, "subject_kind") : subject,
                 result == "done" ? result : "refused: " + result});
    }
    return table.empty() ? std::string("No entries.\n") : table.text(session.console().look());
  });
}

}  // namespace

Command events_command() {
  return {.path = "events",
          .summary = "what happened; -f to follow",
          .examples = "heddle events -f\nheddle events eval-big\nheddle events -f -o jsonl",
          .flags = {{"follow", "", "from now on, as it happens", 'f'},
                    {"team", "TEAM", "only of this team", 0, false, Offers::kTeam}},
          .places = {{"NAME", 0, 1, Offers::kWorkload}},
          .run = &events};
}

Command audit_command() {
  return {.path = "audit",
          .summary = "who did what, done or refused",
          .examples = "heddle audit\nheddle audit --limit 500 -o jsonl",
          .flags = {{"limit", "N", "the newest N (default 50)"}},
          .run = &audit};
}

}  // namespace heddle::cli
