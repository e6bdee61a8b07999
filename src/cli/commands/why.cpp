// why, receipt: the server's own answers about one workload, with their numbers.
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

std::string reason_numbers(const json& reason) {
  const json& n = part(reason, "numbers");
  const auto gpus = [&](const char* key) { return gpu_words(number(n, key)); };
  std::string out;
  const std::string pool = text(reason, "pool_name");
  if (!pool.empty() && number(n, "usable_gpu_milli") > 0) {
    const std::int64_t in_use = number(n, "usable_gpu_milli") - number(n, "free_gpu_milli");
    out += "  pool " + safe(pool) + "  " + gpus("usable_gpu_milli") +
           " usable: " + gpu_words(in_use) + " in use, " + gpus("free_gpu_milli") + " free\n";
  }
  out += "  your team  holds " + gpus("held_by_team_gpu_milli") + ", guarantee " +
         gpus("guarantee_gpu_milli");
  const bool limited = maybe_number(n, "limit_gpu_milli").has_value();
  out += limited ? ", limit " + gpus("limit_gpu_milli") : ", no limit";
  if (number(n, "asked_gpu_milli") > 0) out += "; this asks for " + gpus("asked_gpu_milli");
  return out + "\n";
}

std::string why_text(const json& why, bool all, const Look& look) {
  const json& reasons = part(why, "reasons");
  const bool waits = reasons.is_array() && !reasons.empty();
  const std::string code = waits ? "  [" + text(reasons.front(), "code") + "]" : "";
  std::string out = paragraph("", text(why, "sentence") + code, look);
  if (!waits) return out;
  out += reason_numbers(reasons.front());
  if (const auto place = maybe_number(why, "place_in_team"))
    out += "  queue      place " + format_count(*place) + " in your team\n";
  if (const std::string next = text(reasons.front(), "next"); !next.empty())
    out += paragraph("  next       ", next, look);
  for (std::size_t i = 1; all && i < reasons.size(); ++i)
    out += "also: " + safe(text(reasons[i], "sentence")) + "   [" + safe(text(reasons[i], "code")) +
           "]\n" + reason_numbers(reasons[i]);
  if (!all && reasons.size() > 1)
    out +=
        "  " + plural(static_cast<std::int64_t>(reasons.size()) - 1, "more reason") + ": --all\n";
  return out;
}

int why(Session& session, const Arguments& arguments) {
  const auto work = find_work(session, arguments.places.front());
  if (!work) return session.fail(work.error());
  const std::string id = text(*work, "id");
  const bool all = arguments.has("all");
  if (arguments.has("follow"))
    return follow_view(session, "", Duration::seconds(10), [&]() -> Result<std::string> {
      const auto why = session.get(work_path(id, "why"));
      if (!why) return why.error();
      return clock_words(reader_now()) + "  " + why_text(*why, all, session.console().look());
    });
  const auto why = session.get(work_path(id, "why"));
  if (!why) return session.fail(why.error());
  return session.show(*why, [&] { return why_text(*why, all, session.console().look()); });
}

std::string receipt_text(const json& receipt, const Look& look) {
  const std::string currency = safe(text(receipt, "currency"));
  std::string out = safe(text(receipt, "name")) + "   " + safe(text(receipt, "workload_id")) +
                    "   " + safe(text(receipt, "state")) + "   price " +
                    money_words(number(receipt, "price_micros_per_gpu_hour")) + " " + currency +
                    "/GPU-h\n";
  const auto span = [&](const char* key) { return duration_words({number(receipt, key)}); };
  const std::string dot = look.ascii ? " - " : " \u00b7 ";
  out += " waited " + span("waited_ms") + dot + "starting " + span("starting_ms") + dot + "ran " +
         span("ran_ms") + dot + "releasing " + span("releasing_ms") + "\n";
  Table table({{""}, {"GPU-SECONDS", Align::kRight}, {currency, Align::kRight}, {""}});
  const auto use = [&](const char* key) { return gpu_seconds_words(number(receipt, key)); };
  table.row(
      {" charged", use("charged_gpu_milli_ms"), money_words(number(receipt, "cost_micros")), ""});
  table.row({" starting and releasing", use("not_charged_gpu_milli_ms"), "-", "not charged"});
  table.row({" lease", use("lease_gpu_milli_ms"), "", ""});
  out += table.text(look);
  out += " CPU " + span("cpu_ms") + dot + "memory at most " +
         format_memory(number(receipt, "peak_memory_bytes")) + " a replica\n";
  if (!flag(receipt, "final")) out += " so far: it has not ended\n";
  return out;
}

int receipt(Session& session, const Arguments& arguments) {
  const auto work = find_work(session, arguments.places.front());
  if (!work) return session.fail(work.error());
  const auto receipt = session.get(work_path(text(*work, "id"), "receipt"));
  if (!receipt) return session.fail(receipt.error());
  return session.show(*receipt, [&] { return receipt_text(*receipt, session.console().look()); });
}

}  // namespace

Command why_command() {
  return {.path = "why",
          .summary = "why it waits, with numbers, and what would help",
          .examples = "heddle why eval-big\nheddle why eval-big --all\nheddle why -f eval-big",
          .flags = {{"all", "", "every reason, not only the one that counts"},
                    {"team", "TEAM", "in this team", 0, false, Offers::kTeam},
                    {"follow", "", "show it again when it changes", 'f'}},
          .places = {{"NAME", 1, 1, Offers::kWorkload}},
          .run = &why};
}

Command receipt_command() {
  return {.path = "receipt",
          .summary = "what it used and what it cost",
          .examples = "heddle receipt eval-big\nheddle receipt eval-big -o json",
          .flags = {{"team", "TEAM", "in this team", 0, false, Offers::kTeam}},
          .places = {{"NAME", 1, 1, Offers::kWorkload}},
          .run = &receipt};
}

}  // namespace heddle::cli
