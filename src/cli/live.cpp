#include "cli/live.h"

#include "base/units.h"
#include "cli/render/when.h"

namespace heddle::cli {
namespace {

constexpr Duration kRedraw = Duration::seconds(1);

}  // namespace

bool FeedSink::on_event(const client::SseEvent&) {
  changed = true;
  return true;
}

void FeedSink::on_lost(const std::string& why, Duration next_try) {
  lost_ = true;
  tell_lost(session_, why, next_try);
}

void FeedSink::on_open() {
  if (lost_) tell_back(session_);
  lost_ = false;
  changed = true;
}

void FeedSink::on_refused(const client::Answer& answer) { refused = answer; }

void tell_lost(Session& session, const std::string&, Duration next_try) {
  session.console().warn("connection lost, trying again (" + format_duration(next_try) + ")");
}

void tell_back(Session& session) { session.console().warn("connected again"); }

int follow_view(Session& session, const std::string& query, Duration every, const View& view) {
  Console& console = session.console();
  const bool redraw = console.out_is_terminal() && !console.look().plain;
  const auto streams = session.streams();
  FeedSink sink(session);
  streams->open("/v1/events" + query, "", sink);
  std::string shown;
  Instant looked;
  for (;;) {
    const bool due = every.ms > 0 && reader_now() - looked >= every;
    if ((sink.changed && reader_now() - looked >= kRedraw) || due) {
      sink.changed = false;
      looked = reader_now();
      const auto text = view();
      // A server that is away comes back; what was shown stays until then.
      const bool away = !text && text.error().code == ErrorCode::kUnavailable && !shown.empty();
      if (!text && !away) return session.fail(text.error());
      sink.changed = away;
      if (!away && *text != shown) console.print((redraw ? "\x1b[H\x1b[2J" : "") + *text);
      if (!away) shown = *text;
    }
    // A burst of changes is drawn once a second.
    const Duration since = reader_now() - looked;
    const client::Pumped pumped = streams->pump(sink.changed ? kRedraw - since : kRedraw);
    if (pumped == client::Pumped::kInterrupted) {
      console.take_interrupt();
      return 0;
    }
    // A place in the feed that is no longer kept: from now on will do, since the view is whole.
    if (sink.refused && sink.refused->status == 410) {
      sink.refused.reset();
      sink.changed = true;
      streams->open("/v1/events" + query, "", sink);
    } else if (sink.refused) {
      return session.fail(session.error_of(*sink.refused));
    }
  }
}

}  // namespace heddle::cli
