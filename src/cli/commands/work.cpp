// ps, show: what a team's work does.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/units.h"
#include "cli/commands/commands.h"
#include "cli/commands/work_words.h"
#include "cli/live.h"
#include "cli/render/amount.h"
#include "cli/render/escape.h"
#include "cli/render/json.h"
#include "cli/render/paragraph.h"
#include "cli/render/when.h"
#include "cli/session/session.h"

namespace heddle::cli {
namespace {

using nlohmann::json;

std::string query_of(Session& session, const Arguments& arguments) {
  std::string query;
  const auto add = [&](const std::string& key, const std::string& value) {
    if (!value.empty())
      query += (query.empty() ? "?" : "&") + key + "=" + client::encode_part(value);
  };
  add("team", session.team());
  add("state", arguments.value("state"));
  add("class", arguments.value("class"));
  add("kind", arguments.value("kind"));
  if (arguments.has("all")) add("all", "true");
  return query;
}

std::string note_of(const json& work) {
  const std::string state = text(work, "state");
  if (state == "waiting") {
    std::string reason = text(part(work, "reason"), "code");
    std::ranges::replace(reason, '_', ' ');
    return reason;
  }
  if (has_ended(work)) return end_words(work);
  if (flag(work, "cancel_requested")) return "being cancelled";
  return text(work, "pool_name");
}

std::string ps_text(const json& list, const Look& look, bool all) {
  const json& items = part(list, "items");
  bool one_team = true;
  for (const json& work : items)
    one_team &= text(work, "team_id") == text(items.front(), "team_id");
  std::vector<Column> columns{{"NAME", Align::kLeft, 0, true},
                              {"KIND", Align::kLeft, 6},
                              {"CLASS", Align::kLeft, 5},
                              {"GPUS", Align::kRight},
                              {"STATE"},
                              {"SINCE", Align::kLeft, 2},
                              {"ENDS BY", Align::kLeft, 4},
                              {"NOTE", Align::kLeft, 3}};
  if (!one_team) columns.insert(columns.begin(), {"TEAM", Align::kLeft, 0, true});
  Table table(std::move(columns));
  const Instant now = reader_now();
  std::int64_t held = 0;
  for (const json& work : items) {
    held += number(work, "held_gpu_milli");
    const auto ends_by = time(work, "ends_by");
    std::vector<std::string> cells{text(work, "name"),
                                   text(work, "kind"),
                                   text(work, "class"),
                                   gpus_words(work),
                                   text(work, "state"),
                                   short_time_words(state_since(work), now),
                                   ends_by ? short_time_words(*ends_by, now) : "-",
                                   note_of(work)};
    if (!one_team) cells.insert(cells.begin(), text(work, "team_name"));
    table.row(std::move(cells));
  }
  if (table.empty())
    return all ? "No work yet. Start some: heddle run --gpus 1 -- PROGRAM\n"
               : "Nothing runs and nothing waits. Ended work: heddle ps --all\n";
  std::string out =
      table.text(look) + gpu_words(held) + (held == 1000 ? " GPU held." : " GPUs held.");
  if (!part(list, "next_cursor").is_null()) out += " There is more: --limit N.";
  if (!all) out += " Ended work: heddle ps --all";
  return out + "\n";
}

int ps(Session& session, const Arguments& arguments) {
  const std::string target = "/v1/workloads" + query_of(session, arguments);
  std::int64_t most = arguments.has("all") ? 100 : 10'000;
  if (arguments.has("limit")) {
    const auto limit = parse_whole(arguments.value("limit"), 1, 1'000'000);
    if (!limit)
      return session.fail({ErrorCode::kInvalidArgument, "--limit " + limit.error().message});
    most = *limit;
  }
  const Look& look = session.console().look();
  if (arguments.has("follow"))
    return follow_view(session, "", Duration::seconds(10), [&]() -> Result<std::string> {
      const auto list = session.list(target, static_cast<std::size_t>(most));
      if (!list) return list.error();
      return "state of " + screen_time_words(reader_now()) + "\n" +
             ps_text(*list, look, arguments.has("all"));
    });
  const auto list = session.list(target, static_cast<std::size_t>(most));
  if (!list) return session.fail(list.error());
  return session.show(*list, [&] { return ps_text(*list, look, arguments.has("all")); });
}

std::string places_words(const json& work) {
  std::string nodes;
  for (const std::string& node : texts(work, "node_names")) {
    if ((", " + nodes + ",").find(", " + node + ",") != std::string::npos) continue;
    nodes += (nodes.empty() ? "" : ", ") + node;
  }
  std::string out = gpu_words(number(work, "held_gpu_milli")) + " GPU" +
                    (number(work, "held_gpu_milli") == 1000 ? "" : "s");
  if (const std::string pool = text(work, "pool_name"); !pool.empty()) out += " of " + safe(pool);
  return out + (nodes.empty() ? "" : " on " + safe(nodes));
}

std::string time_part(const json& work, const Look& look) {
  const Instant now = reader_now();
  std::string out;
  const auto submitted = time(work, "created_at");
  if (submitted) out += " asked    " + short_time_words(*submitted, now) + "\n";
  const auto started = time(work, "running_since");
  if (started && submitted)
    out += " waited   " + duration_words(*started - *submitted) + " until it ran\n";
  if (const auto ended = time(work, "ended_at"); ended && started)
    out += " ran      " + duration_words(*ended - *started) + "\n";
  if (const auto by = time(work, "ends_by"))
    out += " ends     " + short_time_words(*by, now) + " at the latest" +
           (maybe_number(work, "time_limit_ms")
                ? " (--time " + duration_words({number(work, "time_limit_ms")}) + ")"
                : "") +
           "\n";
  (void)look;
  return out;
}

std::string show_text(const json& work, const Look& look) {
  const std::string state = text(work, "state");
  std::string out = safe(text(work, "team_name")) + "/" + safe(text(work, "name")) + "   " +
                    safe(text(work, "id")) + "   " + safe(text(work, "kind")) + ", " +
                    safe(text(work, "class")) + "   " + safe(state) + " since " +
                    short_time_words(state_since(work), reader_now()) + "\n";
  if (part(work, "command").is_array())
    out += " command  " + safe(shell_words(texts(work, "command"))) + "\n";
  out += " by       " + safe(text(work, "owner_name"));
  if (const std::string project = text(work, "project"); !project.empty())
    out += ", project " + safe(project);
  out += "\n asks     " + safe(asks_words(work)) + "\n";
  if (number(work, "held_gpu_milli") > 0) out += " holds    " + places_words(work) + "\n";
  const json& reason = part(work, "reason");
  if (reason.is_object())
    out +=
        paragraph(" waits    ", text(reason, "sentence") + " [" + text(reason, "code") + "]", look);
  if (has_ended(work)) out += " end      " + end_sentence(work) + "\n";
  out += time_part(work, look);
  if (number(work, "attempt") > 1)
    out += " run      the " + format_count(number(work, "attempt")) + "th, up to " +
           plural(number(work, "retries"), "retry") + "\n";
  out += " cost     " + money_words(number(work, "cost_micros")) + " " +
         safe(text(work, "currency")) + (has_ended(work) ? "" : " so far") + "\n";
  for (const std::string& note : texts(work, "notes")) out += paragraph(" note     ", note, look);
  if (reason.is_object()) out += " more     heddle why " + safe(text(work, "name")) + "\n";
  return out;
}

int show(Session& session, const Arguments& arguments) {
  const auto work = find_work(session, arguments.places.front());
  if (!work) return session.fail(work.error());
  return session.show(*work, [&] { return show_text(*work, session.console().look()); });
}

}  // namespace

Command ps_command() {
  return {.path = "ps",
          .summary = "what runs and what waits",
          .examples = "heddle ps\nheddle ps --all --team vision\nheddle ps -f",
          .flags = {{"all", "", "ended work too, the newest 100"},
                    {"team", "TEAM", "only of this team", 0, false, Offers::kTeam},
                    {"state", "STATE", "only in this state", 0, false, Offers::kWords,
                     "waiting starting running stopping succeeded failed cancelled"},
                    {"class", "CLASS", "only of this class", 0, false, Offers::kWords,
                     "production training development batch"},
                    {"kind", "KIND", "only of this kind", 0, false, Offers::kWords,
                     "job workspace service"},
                    {"limit", "N", "at most so many"},
                    {"follow", "", "show it again when it changes", 'f'}},
          .run = &ps};
}

Command show_command() {
  return {.path = "show",
          .summary = "everything about one workload",
          .examples = "heddle show eval-big\nheddle show vision/eval-big -o yaml",
          .flags = {{"team", "TEAM", "in this team", 0, false, Offers::kTeam}},
          .places = {{"NAME", 1, 1, Offers::kWorkload}},
          .run = &show};
}

}  // namespace heddle::cli
