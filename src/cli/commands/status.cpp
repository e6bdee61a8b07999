// status: the whole picture in one screen.
#include <nlohmann/json.hpp>

#include "base/units.h"
#include "cli/commands/commands.h"
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

// Everything that the screen shows, as one resource: /v1/status with the other answers beside it.
Result<json> gather_status(Session& session) {
  auto status = session.get("/v1/status");
  if (!status) return status.error();
  const auto who = session.get("/v1/whoami");
  if (!who) return who.error();
  const auto pools = session.list("/v1/pools");
  if (!pools) return pools.error();
  (*status)["user"] = part(*who, "user");
  (*status)["pools"] = part(*pools, "items");
  std::string team = session.team();
  const json& teams = part(*who, "teams");
  if (team.empty() && teams.is_array() && teams.size() == 1) team = text(teams.front(), "name");
  (*status)["team"] = team.empty() ? json(nullptr) : json(team);
  if (team.empty()) return status;
  const auto shares = session.list("/v1/teams/" + client::encode_part(team) + "/shares");
  if (!shares) return shares.error();
  const auto work = session.list("/v1/workloads?team=" + client::encode_part(team));
  if (!work) return work.error();
  (*status)["shares"] = part(*shares, "items");
  json counts = json::object();
  for (const json& item : part(*work, "items")) {
    json& count = counts[text(item, "state")];
    count = count.is_null() ? 1 : count.get<int>() + 1;
  }
  (*status)["work"] = counts;
  return status;
}

const json& share_in(const json& status, const std::string& pool) {
  const json& shares = part(status, "shares");
  if (shares.is_array())
    for (const json& share : shares)
      if (text(share, "pool_name") == pool) return share;
  return part(status, "");
}

std::string pools_table(const json& status, const Look& look) {
  Table table({{"POOL", Align::kLeft, 0, true},
               {"DEVICES", Align::kLeft, 3},
               {"IN USE", Align::kRight},
               {"FREE", Align::kRight},
               {"SICK", Align::kRight, 2},
               {"YOU HOLD", Align::kRight},
               {"GUARANTEE", Align::kRight, 4},
               {"LIMIT", Align::kRight, 5},
               {text(status, "currency") + "/GPU-H", Align::kRight, 6}});
  const bool team = !text(status, "team").empty();
  for (const json& pool : part(status, "pools")) {
    const json& share = share_in(status, text(pool, "name"));
    const auto limit = maybe_number(share, "limit_gpu_milli");
    const std::string model = text(pool, "device_model");
    table.row({text(pool, "name"),
               model.empty() ? "-" : format_count(number(pool, "devices")) + " x " + model,
               gpu_words(number(pool, "used_gpu_milli")), gpu_words(number(pool, "free_gpu_milli")),
               format_count(number(pool, "sick_devices")),
               team ? gpu_words(number(share, "held_gpu_milli")) : "-",
               team ? gpu_words(number(share, "guarantee_gpu_milli")) : "-",
               !team   ? "-"
               : limit ? gpu_words(*limit)
                       : "none",
               money_words(number(pool, "price_micros_per_gpu_hour"))});
  }
  return table.empty() ? "No devices yet.\n" : table.text(look);
}

std::string notes_text(const json& status, const Look& look) {
  std::string out;
  for (const json& site : part(status, "sites"))
    for (const std::string& note : texts(site, "notes"))
      out += paragraph("note     ", text(site, "name") + ": " + note, look);
  if (flag(status, "simulated")) out += "note     some devices are simulated\n";
  return out;
}

std::string status_text(Session& session, const json& status) {
  const Look& look = session.console().look();
  std::string head = safe(text(part(status, "user"), "name"));
  const std::string team = text(status, "team");
  head += (look.ascii ? " - " : " \u00b7 ") + (team.empty() ? "no team" : "team " + safe(team));
  const auto as_of = time(status, "as_of");
  const std::string when = "state of " + screen_time_words(as_of.value_or(reader_now()));
  std::string out = head;
  if (look.plain)
    out += "\n" + when + "\n\n";
  else
    out += std::string(head.size() + when.size() + 3 < 80 ? 80 - when.size() - width_of(head) : 3,
                       ' ') +
           when + "\n\n";
  if (flag(status, "stale"))
    out = "state of " + (as_of ? clock_words(*as_of) : "-") +
          ", the server cannot reach its store; nothing starts or stops\n" + out;
  out += pools_table(status, look) + "\n";
  if (!team.empty()) {
    std::string work;
    for (const auto& [state, count] : part(status, "work").items())
      work += (work.empty() ? "" : ", ") + std::to_string(count.get<int>()) + " " + safe(state);
    out += safe(team) + "   " + (work.empty() ? "nothing runs and nothing waits" : work) + "\n";
  }
  const std::string trouble = text(status, "trouble");
  if (!trouble.empty()) out += paragraph("trouble  ", trouble, look);
  return out + notes_text(status, look);
}

int status(Session& session, const Arguments& arguments) {
  if (arguments.has("follow"))
    return follow_view(session, "", Duration::seconds(10), [&]() -> Result<std::string> {
      const auto status = gather_status(session);
      if (!status) return status.error();
      return status_text(session, *status);
    });
  const auto status = gather_status(session);
  if (!status) return session.fail(status.error());
  return session.show(*status, [&] { return status_text(session, *status); });
}

}  // namespace

Command status_command() {
  return {.path = "status",
          .summary = "pools, what you hold, what is wrong",
          .examples = "heddle status\nheddle status -f",
          .flags = {{"team", "TEAM", "seen from this team", 0, false, Offers::kTeam},
                    {"follow", "", "show it again when it changes", 'f'}},
          .run = &status};
}

}  // namespace heddle::cli
