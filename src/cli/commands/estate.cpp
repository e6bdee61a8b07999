// nodes, pools, sites: what there is to share.
#include <algorithm>
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

std::int64_t sick_devices(const json& node) {
  std::int64_t sick = 0;
  for (const json& device : part(node, "devices")) sick += text(device, "health") == "sick" ? 1 : 0;
  return sick;
}

std::string node_state(const json& node) {
  std::string state = text(node, "state");
  if (const auto sick = sick_devices(node); sick > 0) state += ", " + format_count(sick) + " sick";
  return state;
}

std::string nodes_text(const json& list, const Look& look) {
  Table table({{"NODE", Align::kLeft, 0, true},
               {"POOL", Align::kLeft, 2, true},
               {"DEVICES", Align::kRight, 3},
               {"IN USE", Align::kRight},
               {"FREE", Align::kRight},
               {"STATE"},
               {"NOTE", Align::kLeft, 9}});
  std::int64_t devices = 0, used = 0, free = 0;
  for (const json& node : part(list, "items")) {
    devices += static_cast<std::int64_t>(part(node, "devices").size());
    used += number(node, "used_gpu_milli");
    free += number(node, "free_gpu_milli");
    table.row({text(node, "name"), text(node, "pool_name"),
               format_count(static_cast<std::int64_t>(part(node, "devices").size())),
               gpu_words(number(node, "used_gpu_milli")), gpu_words(number(node, "free_gpu_milli")),
               node_state(node), flag(node, "simulated") ? "simulated" : ""});
  }
  if (table.empty()) return "No nodes yet.\n";
  table.row({"all", "", format_count(devices), gpu_words(used), gpu_words(free), "", ""});
  return table.text(look);
}

int nodes(Session& session, const Arguments& arguments) {
  const std::string pool = arguments.value("pool");
  const std::string target =
      "/v1/nodes" + (pool.empty() ? "" : "?pool=" + client::encode_part(pool));
  const Look& look = session.console().look();
  if (arguments.has("follow"))
    return follow_view(session, "", Duration::seconds(10), [&]() -> Result<std::string> {
      const auto list = session.list(target);
      if (!list) return list.error();
      return "state of " + screen_time_words(reader_now()) + "\n" + nodes_text(*list, look);
    });
  const auto list = session.list(target);
  if (!list) return session.fail(list.error());
  return session.show(*list, [&] { return nodes_text(*list, look); });
}

std::string node_text(const json& node, const Look& look) {
  std::string out = safe(text(node, "name")) + "   " + safe(text(node, "id")) + "   " +
                    safe(node_state(node)) + (flag(node, "simulated") ? "   simulated" : "") + "\n";
  out += " pool    " + safe(text(node, "pool_name")) + "\n";
  out += " CPU     " + format_thousandths(number(node, "cpu_used_milli")) + " of " +
         format_thousandths(number(node, "cpu_milli")) + " cores held\n";
  out += " memory  " + format_memory(number(node, "memory_used_bytes")) + " of " +
         format_memory(number(node, "memory_bytes")) + " held\n";
  Table table({{"DEVICE"}, {"MEMORY", Align::kRight, 2}, {"IN USE", Align::kRight}, {"HEALTH"}});
  for (const json& device : part(node, "devices"))
    table.row({text(device, "uuid"), format_memory(number(device, "memory_bytes")),
               gpu_words(number(device, "used_gpu_milli")), text(device, "health")});
  return out + table.text(look);
}

int nodes_show(Session& session, const Arguments& arguments) {
  const auto node = session.get("/v1/nodes/" + client::encode_part(arguments.places.front()));
  if (!node) return session.fail(node.error());
  return session.show(*node, [&] { return node_text(*node, session.console().look()); });
}

int set_node_state(Session& session, const Arguments& arguments, const std::string& state,
                   const std::string& effect) {
  const std::string path = "/v1/nodes/" + client::encode_part(arguments.places.front());
  const auto node = session.get(path);
  if (!node) return session.fail(node.error());
  const std::string name = safe(text(*node, "name"));
  if (arguments.has("dry-run"))
    return session.done(*node, "Would set " + name + " from " + text(*node, "state") + " to " +
                                   state + ": " + effect);
  const json body{{"state", state}};
  const auto changed = session.write(
      {"PATCH", path, Keyed::kNo, "\"" + std::to_string(number(*node, "version")) + "\""}, &body);
  if (!changed) return session.fail(changed.error());
  return session.done(*changed, name + " is " + text(*changed, "state") + ": " + effect);
}

int nodes_drain(Session& session, const Arguments& arguments) {
  return set_node_state(session, arguments, "draining",
                        "it keeps the work that runs there and takes no new work.");
}

int nodes_resume(Session& session, const Arguments& arguments) {
  return set_node_state(session, arguments, "ready", "it takes work again.");
}

std::string pools_text(const json& list, const Look& look) {
  Table table({{"POOL", Align::kLeft, 0, true},
               {"SITE", Align::kLeft, 8, true},
               {"DEVICES", Align::kLeft, 2},
               {"NODES", Align::kRight, 7},
               {"IN USE", Align::kRight},
               {"FREE", Align::kRight},
               {"SICK", Align::kRight, 6},
               {"PER GPU-H", Align::kRight, 1}});
  std::string notes;
  for (const json& pool : part(list, "items")) {
    const std::string model = text(pool, "device_model");
    table.row(
        {text(pool, "name"), text(pool, "site_name"),
         model.empty() ? "-" : format_count(number(pool, "devices")) + " x " + model,
         format_count(number(pool, "nodes")), gpu_words(number(pool, "used_gpu_milli")),
         gpu_words(number(pool, "free_gpu_milli")), format_count(number(pool, "sick_devices")),
         money_words(number(pool, "price_micros_per_gpu_hour")) + " " + text(pool, "currency")});
    const std::string name = text(pool, "name");
    for (const std::string& note : texts(pool, "notes"))
      notes += paragraph("note   ", name + ": " + note, look);
  }
  return table.empty() ? "No pools yet.\n" : table.text(look) + notes;
}

int pools(Session& session, const Arguments&) {
  const auto list = session.list("/v1/pools");
  if (!list) return session.fail(list.error());
  return session.show(*list, [&] { return pools_text(*list, session.console().look()); });
}

int sites(Session& session, const Arguments&) {
  const auto list = session.list("/v1/sites");
  if (!list) return session.fail(list.error());
  return session.show(*list, [&] {
    Table table({{"SITE", Align::kLeft, 0, true}, {"ENGINE"}, {"JOBS ARE"}, {"FRACTIONS"}});
    std::string notes;
    for (const json& site : part(*list, "items")) {
      const json& traits = part(site, "traits");
      table.row({text(site, "name"), text(site, "engine"),
                 flag(traits, "isolates_jobs") ? "isolated" : "not isolated",
                 flag(traits, "fences_device_memory") ? "enforced" : "not enforced"});
      for (const std::string& note : texts(site, "notes"))
        notes += paragraph("note   ", text(site, "name") + ": " + note, session.console().look());
    }
    return table.text(session.console().look()) + notes;
  });
}

}  // namespace

Command nodes_command() {
  return {.path = "nodes",
          .summary = "machines: what is in use, free, sick",
          .examples = "heddle nodes\nheddle nodes --pool h100 -f",
          .flags = {{"pool", "POOL", "only of this pool", 0, false, Offers::kPool},
                    {"follow", "", "show it again when it changes", 'f'}},
          .run = &nodes};
}

Command nodes_show_command() {
  return {.path = "nodes show",
          .summary = "one machine with its devices",
          .examples = "heddle nodes show h3",
          .places = {{"NODE", 1, 1, Offers::kNode}},
          .run = &nodes_show};
}

Command nodes_drain_command() {
  return {.path = "nodes drain",
          .summary = "keep its work, take no new work",
          .examples = "heddle nodes drain h3",
          .flags = {{"dry-run", "", "only say what would happen"}},
          .places = {{"NODE", 1, 1, Offers::kNode}},
          .run = &nodes_drain};
}

Command nodes_resume_command() {
  return {.path = "nodes resume",
          .summary = "take work again",
          .examples = "heddle nodes resume h3",
          .flags = {{"dry-run", "", "only say what would happen"}},
          .places = {{"NODE", 1, 1, Offers::kNode}},
          .run = &nodes_resume};
}

Command pools_command() {
  return {.path = "pools",
          .summary = "kinds of devices: free, in use, price",
          .examples = "heddle pools",
          .run = &pools};
}

Command sites_command() {
  return {.path = "sites",
          .summary = "where work runs, and what is enforced there",
          .examples = "heddle sites",
          .run = &sites};
}

}  // namespace heddle::cli
