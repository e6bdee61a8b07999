#include "api/feed.h"

#include <algorithm>
#include <charconv>

#include "api/json_writer.h"
#include "api/wire/names.h"
#include "core/access/access.h"

namespace heddle::api {

std::string subject_text(SubjectKind kind, std::uint64_t subject) {
  constexpr std::string_view kPrefixes[] = {"tm", "us", "us", "tk", "st",
                                            "pl", "nd", "tm", "wl", ""};
  const std::string_view prefix = kPrefixes[static_cast<std::size_t>(kind)];
  return prefix.empty() || subject == 0 ? "" : id_text(prefix, subject);
}

bool may_see(const State& state, UserId user, const FeedEvent& event) {
  const auto may_here = [&](Action action) { return may(state, user, action, event.team); };
  if (event.team.is_set())
    return may_here(event.subject_kind == SubjectKind::kWorkload ? Action::kWorkloadRead
                                                                 : Action::kTeamRead);
  if (event.subject_kind == SubjectKind::kUser)
    return event.subject == user.value || may_here(Action::kUserManage);
  if (event.subject_kind == SubjectKind::kToken) {
    const Token* token = state.tokens().find(TokenId{event.subject});
    return (token != nullptr && token->user == user) || may_here(Action::kUserManage);
  }
  return may_here(Action::kEstateRead);
}

bool wants(const FeedFilter& filter, const FeedEvent& event) {
  if (filter.team && event.team != *filter.team) return false;
  return !filter.workload ||
         (event.subject_kind == SubjectKind::kWorkload && event.subject == filter.workload->value);
}

std::string event_json(const FeedEvent& event) {
  JsonWriter json;
  json.open()
      .number("seq", event.seq)
      .time("at", event.at)
      .id("team_id", event.team)
      .text("subject_kind", wire::kSubjectKinds[static_cast<std::size_t>(event.subject_kind)])
      .text_or_null("subject_id", subject_text(event.subject_kind, event.subject))
      .text("what", event.what)
      .text("note", event.note)
      .close();
  return json.take();
}

std::string text_of(const LogPlace& place) {
  return std::to_string(place.attempt) + "." + std::to_string(place.at.segment) + "." +
         std::to_string(place.at.offset);
}

std::optional<LogPlace> parse_log_place(std::string_view text) {
  LogPlace place;
  std::int64_t* const fields[] = {&place.attempt, &place.at.segment, &place.at.offset};
  for (int i = 0; i < 3; ++i) {
    const auto end = i == 2 ? text.size() : text.find('.');
    if (end == 0 || end > 15 || end > text.size()) return std::nullopt;
    if (text.substr(0, end).find_first_not_of("0123456789") != text.npos) return std::nullopt;
    std::from_chars(text.data(), text.data() + end, *fields[i]);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return place;
}

std::string line_json(const LogLine& line) {
  JsonWriter json;
  json.open()
      .time("at", line.at)
      .text("stream", wire::kLogStreams[static_cast<std::size_t>(line.stream)])
      .text("text", line.text)
      .flag("partial", line.partial)
      .close();
  return json.take();
}

}  // namespace heddle::api
