// submit: job files; and the plan that `run` shows, too.
#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/units.h"
#include "cli/commands/commands.h"
#include "cli/commands/submitting.h"
#include "cli/commands/work_words.h"
#include "cli/manifest.h"
#include "cli/render/amount.h"
#include "cli/render/escape.h"
#include "cli/render/json.h"
#include "cli/render/paragraph.h"
#include "cli/render/when.h"
#include "cli/session/session.h"

namespace heddle::cli {
namespace {

using nlohmann::json;

std::string source_of(Session& session, const char* key, const std::string& told) {
  const Setting setting = session.settings().winner(key);
  if (told == "request" && !setting.source.empty()) return setting.source;
  return told == "kind" ? "its kind" : told;
}

Result<json> naming_team(Result<json> answer, const json& body) {
  if (answer || answer.error().code != ErrorCode::kNotFound) return answer;
  Error error = answer.error();
  if (error.fields.empty() && body.contains("team"))
    error.fields.push_back({"/team", "", text(body, "team")});
  return error;
}

std::string price_words(const json& preview) {
  const std::string currency = safe(text(preview, "currency"));
  const auto hourly = maybe_number(preview, "price_micros_per_hour");
  const auto most = maybe_number(preview, "cost_micros_max");
  if (!hourly) return "depends on the device it gets";
  std::string out = money_words(*hourly) + " " + currency + " per hour";
  out += most ? ", at most " + money_words(*most) + " " + currency : ", no end set";
  return out;
}

// Of several jobs none is submitted if one would be refused.
std::optional<Error> refusal(Session& session, const std::vector<Manifest>& manifests,
                             const std::vector<json>& bodies) {
  for (std::size_t i = 0; bodies.size() > 1 && i < bodies.size(); ++i) {
    session.name_places([&](std::string_view pointer) { return manifests[i].where(pointer); });
    if (const auto preview = preview_of(session, bodies[i]); !preview) return preview.error();
  }
  return std::nullopt;
}

int submit_dry(Session& session, const std::vector<Manifest>& manifests,
               const std::vector<json>& bodies) {
  json all{{"items", json::array()}};
  std::string shown;
  for (std::size_t i = 0; i < bodies.size(); ++i) {
    session.name_places([&](std::string_view pointer) { return manifests[i].where(pointer); });
    const auto preview = preview_of(session, bodies[i]);
    if (!preview) {
      session.fail(preview.error());
      return 1;
    }
    shown += preview_text(session, *preview);
    all["items"].push_back(*preview);
  }
  const json& result = bodies.size() == 1 ? all["items"].front() : all;
  return session.show(result, [&] { return shown; });
}

// Nothing is submitted unless every file could be read.
Result<std::vector<Manifest>> read_all(const std::vector<std::string>& files) {
  std::vector<Manifest> all;
  for (const std::string& file : files) {
    auto manifests = read_manifests(file);
    if (!manifests) return manifests.error();
    std::ranges::move(*manifests, std::back_inserter(all));
  }
  return all;
}

int submit(Session& session, const Arguments& arguments) {
  const auto manifests = read_all(arguments.places);
  if (!manifests) return session.fail(manifests.error());
  std::vector<json> bodies;
  for (const Manifest& manifest : *manifests) {
    bodies.push_back(json::parse(manifest.body));
    // A flag wins over the file, the file over everything else that is set.
    for (const char* key : {"team", "project", "class"})
      if (arguments.has(key)) bodies.back()[key] = arguments.value(key);
    add_defaults(session, bodies.back());
  }
  if (arguments.has("dry-run")) return submit_dry(session, *manifests, bodies);
  if (const auto error = refusal(session, *manifests, bodies)) return session.fail(*error);
  json all{{"items", json::array()}};
  std::string sentences;
  for (std::size_t i = 0; i < bodies.size(); ++i) {
    const Manifest& manifest = (*manifests)[i];
    session.name_places([&](std::string_view pointer) { return manifest.where(pointer); });
    const auto work = submit_work(session, bodies[i]);
    if (!work) {
      if (!all["items"].empty()) session.done(all, sentences);
      return session.fail(work.error());
    }
    const std::string name = safe(text(*work, "name"));
    sentences += (sentences.empty() ? "" : "\n") + name + " (" + safe(text(*work, "id")) +
                 ") is submitted for team " + safe(text(*work, "team_name")) +
                 ". Follow it: heddle logs -f " + name;
    all["items"].push_back(*work);
  }
  return session.done(bodies.size() == 1 ? all["items"].front() : all, sentences);
}

}  // namespace

void add_defaults(Session& session, json& body) {
  for (const char* key : {"team", "project", "class"})
    if (const std::string value = session.settings().winner(key).value;
        !value.empty() && !body.contains(key))
      body[key] = value;
  if (const std::string pool = session.settings().winner("pool").value;
      !pool.empty() && !body.contains("pools"))
    body["pools"] = json::array({pool});
}

Result<json> preview_of(Session& session, const json& body) {
  return naming_team(session.write({"POST", "/v1/workloads?dry_run=true"}, &body), body);
}

Result<json> submit_work(Session& session, const json& body) {
  return naming_team(session.write({"POST", "/v1/workloads", Keyed::kYes}, &body), body);
}

std::string preview_text(Session& session, const json& preview) {
  std::string pools;
  for (const std::string& pool : texts(preview, "pools"))
    pools += (pools.empty() ? "" : ", ") + pool;
  const std::string team = source_of(session, "team", text(preview, "team_from"));
  const std::string work_class = source_of(session, "class", text(preview, "class_from"));
  std::string out = " name     " + safe(text(preview, "name")) + "\n";
  out += " team     " + safe(text(preview, "team_name")) + " (from: " + safe(team) + ")\n";
  out += " asks     " + safe(asks_words(preview)) + ", " +
         (pools.empty() ? "any pool that fits" : "pool " + safe(pools)) + "\n";
  out += " class    " + safe(text(preview, "class")) + " (from: " + safe(work_class) + ")\n";
  out += " price    " + price_words(preview) + "\n";
  const auto limit = maybe_number(preview, "time_limit_ms");
  out += " may end  early: " +
         (limit ? "at its time limit of " + duration_words({*limit})
                : std::string("only by you; it has no time limit (--time)")) +
         "\n";
  for (const std::string& note : texts(preview, "notes"))
    out += paragraph(" note     ", note, session.console().err_look());
  return out;
}

Command submit_command() {
  return {
      .path = "submit",
      .summary = "submit job files (YAML)",
      .examples =
          "heddle submit train.yaml\nheddle submit a.yaml b.yaml --dry-run\n"
          "cat train.yaml | heddle submit -",
      .notes =
          "The fields are those of the API; see heddle help files. Several documents may\n"
          "stand in one file. `from` embeds a local file, seen from the YAML file.",
      .flags = {{"team", "TEAM", "for this team, whatever the file says", 0, false, Offers::kTeam},
                {"project", "TEXT", "with this label"},
                {"class", "CLASS", "in this class", 0, false, Offers::kWords,
                 "production training development batch"},
                {"dry-run", "", "only show the plan"}},
      .places = {{"FILE", 1, 100, Offers::kFile}},
      .run = &submit};
}

}  // namespace heddle::cli
