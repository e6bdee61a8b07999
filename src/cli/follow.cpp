#include "cli/follow.h"

#include <cstdio>
#include <nlohmann/json.hpp>

#include "cli/commands/work_words.h"
#include "cli/live.h"
#include "cli/render/escape.h"
#include "cli/render/json.h"
#include "cli/render/when.h"

namespace heddle::cli {
namespace {

using nlohmann::json;

constexpr std::int64_t kMostReplicas = 64;  // log streams at once
// Another team's work may free what this one waits for; its feed does not tell us, so we look.
constexpr Duration kLookAgain = Duration::seconds(10);
constexpr Duration kLogsWithin = Duration::seconds(15);  // for the last lines after the end

class LogSink : public client::StreamSink {
 public:
  LogSink(LogPrinter& printer, std::int64_t replica) : printer_{printer}, replica_{replica} {}
  bool on_event(const client::SseEvent& event) override {
    if (event.type == "end") return false;
    if (event.type == "skipped") {
      printer_.line(replica_,
                    json{{"stream", "heddle"}, {"text", "older lines are no longer kept"}});
      return true;
    }
    const json line = json::parse(event.data, nullptr, false);
    if (event.type == "line" && line.is_object()) printer_.line(replica_, line);
    return true;
  }
  // The event stream of the same server tells the reader; once is enough.
  void on_lost(const std::string&, Duration) override {}
  void on_open() override {}
  void on_refused(const client::Answer& answer) override { refused = answer; }

  std::optional<client::Answer> refused;

 private:
  LogPrinter& printer_;
  std::int64_t replica_;
};

}  // namespace

void LogPrinter::line(std::int64_t replica, const json& line) {
  const std::string stream = text(line, "stream");
  const bool to_out = stream != "err" && stream != "heddle" && console_.is_text();
  const bool terminal = to_out ? console_.out_is_terminal() : console_.err_is_terminal();
  const Look& look = to_out ? console_.look() : console_.err_look();
  std::string prefix = prefixed_ ? "[" + std::to_string(replica) + "] " : "";
  if (stream == "heddle") prefix += "heddle: ";
  std::string content = text(line, "text");
  std::string out;
  if (bytes_ == Bytes::kRaw || !terminal) {
    out = prefix + content + "\n";
  } else {
    // A carriage return would write over what stands there: it begins a new line instead.
    while (!content.empty() && content.back() == '\r') content.pop_back();
    std::size_t from = 0;
    while (from <= content.size()) {
      const auto end = std::min(content.find('\r', from), content.size());
      out += prefix +
             safe_log_line(std::string_view(content).substr(from, end - from),
                           look.colour ? Colours::kKeep : Colours::kDrop) +
             "\n";
      from = end + 1;
    }
  }
  if (to_out) {
    console_.print(out);
  } else {
    out.pop_back();
    console_.warn(out);
  }
}

struct Follower::State {
  Session& session;
  FollowOptions options;
  json workload;
  std::string id;
  LogPrinter printer;
  std::unique_ptr<client::Streams> streams;
  FeedSink events;
  std::vector<std::unique_ptr<LogSink>> logs;
  std::int64_t attempt_open = 0;
  std::string told;  // the last state line, without its time
  Instant looked;
  Instant began = reader_now();
  Instant ended;

  State(Session& s, const json& w, FollowOptions o)
      : session{s},
        options{std::move(o)},
        workload(w),
        id{text(w, "id")},
        printer{s.console(), options.bytes, number(w, "nodes") > 1 && !options.replica},
        streams{s.streams()},
        events{s} {
    if (!heddle::cli::has_ended(w))
      streams->open("/v1/events?workload=" + client::encode_part(id), "", events);
  }

  void open_logs(std::int64_t attempt) {
    const std::int64_t replicas = std::max<std::int64_t>(1, number(workload, "nodes"));
    const std::int64_t first = options.replica.value_or(0);
    std::int64_t count = options.replica ? 1 : replicas;
    if (count > kMostReplicas) {
      session.console().warn("note: following the first " + std::to_string(kMostReplicas) + " of " +
                             std::to_string(count) + " replicas; one alone with --replica");
      count = kMostReplicas;
    }
    for (std::int64_t replica = first; replica < first + count; ++replica) {
      std::string target = work_path(id, "logs") + "?replica=" + std::to_string(replica) +
                           "&attempt=" + std::to_string(attempt);
      if (options.tail && attempt_open == 0) target += "&tail=" + std::to_string(*options.tail);
      logs.push_back(std::make_unique<LogSink>(printer, replica));
      streams->open(target, "", *logs.back());
    }
    attempt_open = attempt;
  }

  std::string state_words() const {
    const std::string state = text(workload, "state");
    std::string words = state;
    words.resize(std::max<std::size_t>(words.size(), 9), ' ');
    if (state == "waiting") {
      const json& reason = part(workload, "reason");
      words += " " + (reason.is_object() ? text(reason, "sentence") : "");
    } else if (state == "starting" || state == "running") {
      std::string nodes;
      for (const std::string& name : texts(workload, "node_names")) {
        if (nodes.find(name) != std::string::npos) continue;
        nodes += (nodes.empty() ? "" : ", ") + name;
      }
      words += nodes.empty() ? "" : " on " + nodes;
      if (state == "running" && options.logs) words += "; logs follow";
    } else if (heddle::cli::has_ended(workload)) {
      if (const std::string end = end_words(workload); end != state) words += " " + end;
      const std::string message = text(part(workload, "end"), "message");
      if (!message.empty()) words += ": " + message;
    }
    words.erase(words.find_last_not_of(' ') + 1);
    return safe(words);
  }

  void tell_state() {
    const std::string words = state_words();
    const bool too_new = text(part(workload, "reason"), "code") == "not_planned_yet";
    if (!options.tell_states || too_new || words == told) return;
    told = words;
    session.console().note(clock_words(state_since(workload)) + "  " + words);
  }

  std::optional<Error> look() {
    looked = reader_now();
    events.changed = false;
    auto fresh = read_work(session, id);
    if (!fresh) return fresh.error();
    workload = std::move(*fresh);
    tell_state();
    const std::int64_t attempt = options.attempt.value_or(number(workload, "attempt"));
    if (options.logs && attempt > attempt_open) open_logs(attempt);
    if (heddle::cli::has_ended(workload) && !ended.is_set()) ended = looked;
    return std::nullopt;
  }

  bool logs_are_whole() const {
    const bool still_open = streams->count() > (events_are_open() ? 1U : 0U);
    return !still_open || reader_now() - ended > kLogsWithin;
  }
  bool events_are_open() const { return !events.refused && event_stream_wanted; }
  bool event_stream_wanted = true;

  std::optional<Error> refused() {
    if (events.refused && events.refused->status == 410) {
      events.refused.reset();
      events.changed = true;
      streams->open("/v1/events?workload=" + client::encode_part(id), "", events);
    }
    if (events.refused) return session.error_of(*events.refused);
    for (const auto& log : logs)
      if (log->refused) return session.error_of(*log->refused);
    return std::nullopt;
  }

  Duration pump_for() const {
    Duration most = text(workload, "state") == "waiting" ? kLookAgain : Duration::seconds(30);
    if (ended.is_set()) most = Duration::seconds(1);
    if (options.within)
      most =
          std::min(most, std::max(Duration::millis(1), *options.within - (reader_now() - began)));
    return most;
  }
};

Follower::Follower(Session& session, const json& workload, FollowOptions options)
    : state_{std::make_unique<State>(session, workload, std::move(options))} {
  state_->event_stream_wanted = !heddle::cli::has_ended(workload);
}
Follower::~Follower() = default;

const json& Follower::workload() const { return state_->workload; }

Result<FollowEnd> Follower::follow() {
  State& s = *state_;
  for (;;) {
    const bool waiting = text(s.workload, "state") == "waiting";
    if (s.events.changed || (waiting && reader_now() - s.looked >= kLookAgain))
      if (auto error = s.look()) return *error;
    if (auto error = s.refused()) return *error;
    if (s.options.until_started && !waiting && text(s.workload, "state") != "starting")
      return FollowEnd::kStarted;
    if (s.ended.is_set() && (!s.options.logs || s.logs_are_whole())) return FollowEnd::kEnded;
    if (s.options.within && reader_now() - s.began >= *s.options.within) return FollowEnd::kTime;
    if (s.streams->pump(s.pump_for()) == client::Pumped::kInterrupted) {
      s.session.console().take_interrupt();
      return FollowEnd::kInterrupted;
    }
  }
}

}  // namespace heddle::cli
