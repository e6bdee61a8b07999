#include "cli/commands/work_words.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/units.h"
#include "cli/parse.h"
#include "cli/render/amount.h"
#include "cli/render/escape.h"
#include "cli/render/json.h"

namespace heddle::cli {
namespace {

using nlohmann::json;

Error no_such_work(Session& session, const std::string& name, const std::string& team) {
  Error error{ErrorCode::kNotFound,
              "no workload '" + name + "'" + (team.empty() ? "" : " in team " + team) + "."};
  std::vector<std::string> names;
  const std::string query = team.empty() ? "" : "?team=" + client::encode_part(team);
  if (const auto list = session.list("/v1/workloads" + query, 1000))
    for (const json& item : part(*list, "items")) names.push_back(text(item, "name"));
  const std::string near = nearest(name, names);
  if (!near.empty()) error.message += " Did you mean " + near + "?";
  error.next = near.empty() ? "heddle ps --all" : "heddle show " + near;
  return error;
}

Error ambiguous(const std::string& name, const json& matches) {
  Error error{ErrorCode::kInvalidArgument, "'" + name + "' is the name of work in several teams:"};
  for (const json& item : matches)
    error.message += " " + text(item, "team_name") + "/" + text(item, "name");
  error.next = "the same with TEAM/NAME";
  return error;
}

}  // namespace

std::string work_path(const std::string& id, const std::string& part_name) {
  return "/v1/workloads/" + client::encode_part(id) + (part_name.empty() ? "" : "/" + part_name);
}

Result<json> read_work(Session& session, const std::string& id) {
  return session.get(work_path(id));
}

Result<json> find_work(Session& session, const std::string& typed) {
  if (typed.starts_with("wl_")) return read_work(session, typed);
  std::string team = session.team();
  std::string name = typed;
  if (const auto slash = typed.find('/'); slash != std::string::npos) {
    team = typed.substr(0, slash);
    name = typed.substr(slash + 1);
  }
  const std::string query = "/v1/workloads?name=" + client::encode_part(name) +
                            (team.empty() ? "" : "&team=" + client::encode_part(team));
  for (const char* reach : {"", "&all=true"}) {
    auto list = session.list(query + reach, 100);
    if (!list) {
      // A word that cannot be a name is told like one that is not there.
      if (list.error().code == ErrorCode::kInvalidArgument)
        return no_such_work(session, name, team);
      return list.error();
    }
    json& items = (*list)["items"];
    if (items.empty()) continue;
    for (const json& item : items)
      if (text(item, "team_id") != text(items.front(), "team_id")) return ambiguous(name, items);
    return std::move(items.front());
  }
  return no_such_work(session, name, team);
}

std::string gpus_words(const json& workload) {
  if (const auto milli = maybe_number(workload, "gpu_milli")) return gpu_words(*milli);
  const json& resources = part(workload, "resources");
  const std::string each = format_memory(number(resources, "gpu_memory_bytes_per_device"));
  const std::int64_t count =
      number(resources, "devices") * std::max<std::int64_t>(1, number(workload, "nodes"));
  return count > 1 ? std::to_string(count) + " x " + each : each;
}

std::string asks_words(const json& workload) {
  const auto milli = maybe_number(workload, "gpu_milli");
  const json& resources = part(workload, "resources");
  const std::int64_t nodes = number(workload, "nodes");
  const std::int64_t devices = number(resources, "devices");
  std::string each;
  if (devices == 0) {
    each = "no GPU";
  } else if (const auto bytes = number(resources, "gpu_memory_bytes_per_device"); bytes > 0) {
    each = format_memory(bytes) + " of " +
           (devices == 1 ? "a GPU" : std::to_string(devices) + " GPUs each");
  } else if (milli) {
    const std::int64_t one = nodes > 0 ? *milli / nodes : *milli;
    each = gpu_words(one) + (one == 1000 || one < 1000 ? " GPU" : " GPUs");
  }
  if (nodes > 1) each = plural(nodes, "replica") + " x " + each + ", together";
  return each;
}

bool has_ended(const json& workload) {
  const std::string state = text(workload, "state");
  return state == "succeeded" || state == "failed" || state == "cancelled";
}

Instant state_since(const json& workload) {
  const std::string state = text(workload, "state");
  const std::string key = has_ended(workload) ? "ended_at" : state + "_since";
  return time(workload, key).value_or(time(workload, "updated_at").value_or(Instant{}));
}

std::string end_words(const json& workload) {
  const json& end = part(workload, "end");
  const std::string cause = text(end, "cause");
  if (cause == "exited") return "exit " + std::to_string(number(end, "exit_code"));
  if (cause == "signalled") return "signal " + std::to_string(number(end, "signal"));
  if (cause == "out_of_memory") return "memory ceiling";
  if (cause == "start_failed") return "could not start";
  if (cause == "peer_failed") return "another replica failed";
  if (cause == "lost") return "node lost";
  if (cause == "evicted") return "had to give way";
  std::string words = cause;
  std::ranges::replace(words, '_', ' ');
  return words;
}

std::string end_sentence(const json& workload) {
  std::string out = text(workload, "name") + " " + text(workload, "state");
  if (const std::string words = end_words(workload); !words.empty() && words != "cancelled")
    out += ", " + words;
  if (const std::string message = text(part(workload, "end"), "message"); !message.empty())
    out += ": " + message;
  return safe(out);
}

int end_exit_code(const json& workload) {
  if (text(workload, "state") == "succeeded") return 0;
  const json& end = part(workload, "end");
  const std::string cause = text(end, "cause");
  const auto code = static_cast<int>(number(end, "exit_code"));
  if (cause == "exited") return code == 0 ? 1 : code & 255;
  if (cause == "signalled") return 128 + (static_cast<int>(number(end, "signal")) & 127);
  if (cause == "out_of_memory") return 137;
  if (cause == "cancelled") return 130;
  if (cause == "start_failed") return 200 + info(ErrorCode::kInvalidArgument).exit_code;
  if (cause == "evicted") return 200 + info(ErrorCode::kPolicyRefused).exit_code;
  if (cause == "lost") return 200 + info(ErrorCode::kUnavailable).exit_code;
  return 143;  // Heddle ended it: SIGTERM
}

std::string shell_words(const std::vector<std::string>& command) {
  std::string out;
  for (const std::string& word : command) {
    if (!out.empty()) out += ' ';
    const bool plain = !word.empty() && std::ranges::all_of(word, [](char c) {
      return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
             std::string_view("-_./=:,@%+").find(c) != std::string_view::npos;
    });
    if (plain) {
      out += word;
      continue;
    }
    out += '\'';
    for (const char c : word) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
    out += '\'';
  }
  return out;
}

}  // namespace heddle::cli
