// run: from a command line to its exit code.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/units.h"
#include "cli/commands/commands.h"
#include "cli/commands/submitting.h"
#include "cli/commands/work_words.h"
#include "cli/follow.h"
#include "cli/manifest.h"
#include "cli/render/amount.h"
#include "cli/render/escape.h"
#include "cli/render/json.h"
#include "cli/session/session.h"

namespace heddle::cli {
namespace {

using nlohmann::json;

Error bad_flag(const std::string& flag_name, const std::string& why, std::string next = "") {
  Error error{ErrorCode::kInvalidArgument, "--" + flag_name + " " + why};
  error.next = std::move(next);
  return error;
}

// Which flag set what a pointer names.
std::string flag_of(std::string_view pointer) {
  static const std::pair<std::string_view, const char*> kFlags[] = {
      {"/resources/gpus", "--gpus"},
      {"/resources/gpu_memory", "--gpu-memory"},
      {"/resources/gpu", "--gpu"},
      {"/resources/devices", "--devices"},
      {"/resources/cpus", "--cpus"},
      {"/resources/memory", "--memory"},
      {"/nodes", "--nodes"},
      {"/name", "--name"},
      {"/team", "--team"},
      {"/project", "--project"},
      {"/class", "--class"},
      {"/kind", "--kind"},
      {"/priority", "--priority"},
      {"/pools", "--pool"},
      {"/time_limit", "--time"},
      {"/grace", "--grace"},
      {"/retries", "--retries"},
      {"/procs_per_node", "--procs-per-node"},
      {"/env", "--env"},
      {"/files", "--file"},
      {"/command", "the command behind --"},
  };
  for (const auto& [prefix, name] : kFlags)
    if (pointer == prefix || pointer.starts_with(std::string(prefix) + "/")) return name;
  return {};
}

std::optional<Error> add_whole(json& into, const char* field, const Arguments& arguments,
                               const char* flag_name, std::int64_t low, std::int64_t high) {
  if (!arguments.has(flag_name)) return std::nullopt;
  const std::string value = arguments.value(flag_name);
  const auto number = parse_whole(value, low, high);
  if (number) {
    into[field] = *number;
    return std::nullopt;
  }
  std::string next;
  if (std::string_view(flag_name) == "gpus" && parse_thousandths(value, 1, 999'000))
    next = "--gpus " + value.substr(0, value.find('.')) + ", or --gpu 0.5 for a part of one device";
  return bad_flag(flag_name,
                  value + " is not a whole number from " + std::to_string(low) + " to " +
                      std::to_string(high) + ".",
                  next);
}

json decimal(std::int64_t thousandths) {
  if (thousandths % 1000 == 0) return thousandths / 1000;
  return static_cast<double>(thousandths) / 1000.0;
}

std::string without_blanks(std::string text) {
  std::erase(text, ' ');
  return text;
}

std::optional<Error> add_resources(json& body, const Arguments& arguments) {
  json resources = json::object();
  int forms = 0;
  for (const char* form : {"gpus", "gpu", "gpu-memory"}) forms += arguments.has(form) ? 1 : 0;
  if (forms > 1) return bad_flag("gpus", "or --gpu or --gpu-memory: only one of them.");
  if (auto e = add_whole(resources, "gpus", arguments, "gpus", 0, 512)) return e;
  if (auto e = add_whole(resources, "devices", arguments, "devices", 1, 512)) return e;
  if (arguments.has("gpu")) {
    const std::string value = arguments.value("gpu");
    const auto milli = parse_thousandths(value, 1, 999);
    if (!milli)
      return bad_flag("gpu", value + " is not a part of one device, 0.001 to 0.999.",
                      "--gpu 0.25, or --gpus 1 for whole devices");
    resources["gpu"] = decimal(*milli);
  }
  if (arguments.has("cpus")) {
    const auto milli = parse_thousandths(arguments.value("cpus"), 1, 1'000'000'000);
    if (!milli) return bad_flag("cpus", milli.error().message);
    resources["cpus"] = decimal(*milli);
  }
  const std::pair<const char*, const char*> kMemories[] = {{"gpu-memory", "gpu_memory"},
                                                           {"memory", "memory"}};
  for (const auto& [flag_name, field] : kMemories) {
    if (!arguments.has(flag_name)) continue;
    const std::string value = arguments.value(flag_name);
    if (const auto bytes = parse_memory(value, std::int64_t{1} << 50); !bytes)
      return bad_flag(flag_name, bytes.error().message, "--" + std::string(flag_name) + " 20GiB");
    resources[field] = without_blanks(value);
  }
  if (!resources.empty()) body["resources"] = std::move(resources);
  return std::nullopt;
}

std::optional<Error> add_env(json& body, const Arguments& arguments) {
  for (const std::string& pair : arguments.values("env")) {
    const auto equals = pair.find('=');
    if (equals == std::string::npos || equals == 0)
      return bad_flag("env", "takes NAME=VALUE, and '" + pair + "' is not that.");
    body["env"][pair.substr(0, equals)] = pair.substr(equals + 1);
  }
  return std::nullopt;
}

std::optional<Error> add_files(json& body, const Arguments& arguments) {
  for (const std::string& pair : arguments.values("file")) {
    const auto colon = pair.rfind(':');
    const std::string source = pair.substr(0, colon);
    const std::string path =
        colon == std::string::npos ? source.substr(source.rfind('/') + 1) : pair.substr(colon + 1);
    const auto embedded = embedded_file(source, path);
    if (!embedded) return bad_flag("file", embedded.error().message);
    body["files"].push_back(json::parse(*embedded));
  }
  return std::nullopt;
}

std::optional<Error> build(Session& session, const Arguments& arguments, json& body) {
  body = json{{"command", arguments.program}};
  if (arguments.program.empty()) {
    Error error{ErrorCode::kInvalidArgument, "what is to run? The program comes behind `--`."};
    error.next = "heddle run --gpus 1 -- python3 train.py";
    return error;
  }
  if (auto e = add_resources(body, arguments)) return e;
  if (auto e = add_whole(body, "nodes", arguments, "nodes", 1, 4096)) return e;
  if (auto e = add_whole(body, "procs_per_node", arguments, "procs-per-node", 1, 512)) return e;
  if (auto e = add_whole(body, "retries", arguments, "retries", 0, 100)) return e;
  if (auto e = add_whole(body, "priority", arguments, "priority", -1'000'000, 1'000'000)) return e;
  const std::pair<const char*, const char*> kTimes[] = {{"time", "time_limit"}, {"grace", "grace"}};
  for (const auto& [flag_name, field] : kTimes) {
    if (!arguments.has(flag_name)) continue;
    const std::string value = arguments.value(flag_name);
    if (const auto span = parse_duration(value, Duration::seconds(1), Duration::hours(366 * 24));
        !span)
      return bad_flag(flag_name, span.error().message, "--" + std::string(flag_name) + " 2h");
    body[field] = value;
  }
  for (const char* field : {"name", "kind"})
    if (arguments.has(field)) body[field] = arguments.value(field);
  for (const std::string& pool : arguments.values("pool")) body["pools"].push_back(pool);
  if (auto e = add_env(body, arguments)) return e;
  if (auto e = add_files(body, arguments)) return e;
  add_defaults(session, body);
  return std::nullopt;
}

// Ctrl-C while watching: what becomes of the work. True: go on watching.
bool keep_watching(Session& session, const json& work) {
  Console& console = session.console();
  const std::string name = safe(text(work, "name"));
  if (console.can_ask()) {
    const auto answer =
        console.ask(name + " runs on.  d detach (default) / c cancel / k keep watching >  ");
    if (answer && *answer == "k") return true;
    if (answer && *answer == "c") {
      const json body = json::object();
      const auto cancelled = session.write({"POST", work_path(text(work, "id"), "cancel")}, &body);
      if (cancelled) return true;  // and see it end
      session.fail(cancelled.error());
    }
    console.take_interrupt();
  }
  console.warn(name + " runs on. Back with: heddle logs -f " + name);
  return false;
}

int watch(Session& session, const json& work) {
  FollowOptions options;
  options.within = session.timeout();
  Follower follower(session, work, options);
  for (;;) {
    const auto end = follower.follow();
    if (!end) {
      const int code = session.fail(end.error());
      return code == 130 ? code : 200 + code;
    }
    if (*end == FollowEnd::kTime) {
      session.console().warn("it still goes on. Back with: heddle logs -f " +
                             safe(text(work, "name")));
      return 200 + info(ErrorCode::kDeadlineExceeded).exit_code;
    }
    if (*end == FollowEnd::kEnded) {
      if (!session.console().is_text())
        session.show(follower.workload(), [] { return std::string(); });
      return end_exit_code(follower.workload());
    }
    if (!keep_watching(session, follower.workload())) return 130;
  }
}

int failed(Session& session, const Error& error) {
  const int code = session.fail(error);
  return code == 130 ? code : 200 + code;
}

int run(Session& session, const Arguments& arguments) {
  session.name_places(&flag_of);
  json body;
  if (auto error = build(session, arguments, body)) return failed(session, *error);
  const auto preview = preview_of(session, body);
  if (!preview) {
    const int code = session.fail(preview.error());
    if (arguments.has("dry-run")) return 1;
    return code == 130 ? code : 200 + code;
  }
  if (arguments.has("dry-run"))
    return session.show(*preview, [&] { return preview_text(session, *preview); });
  Console& console = session.console();
  if (console.is_text()) {
    std::string lines = preview_text(session, *preview);
    lines.pop_back();
    console.note(lines);
    if (console.can_ask() && !console.options().yes && !console.options().quiet) {
      const auto answer = console.ask("Enter go / n leave > ");
      if (!answer || (!answer->empty() && *answer != "y")) return 130;
    }
  }
  // The name that was made up and shown is the name it gets.
  if (!body.contains("name")) body["name"] = text(*preview, "name");
  const auto work = submit_work(session, body);
  if (!work) return failed(session, work.error());
  const std::string name = safe(text(*work, "name"));
  const std::string id = safe(text(*work, "id"));
  if (arguments.has("detach"))
    return session.done(*work,
                        name + " (" + id + ") is submitted. Follow it: heddle logs -f " + name);
  console.note(name + " (" + id + ") is submitted. Ctrl-C stops watching, not the job.");
  return watch(session, *work);
}

}  // namespace

Command run_command() {
  return {
      .path = "run",
      .summary = "run a program on GPUs, watch it, get its exit code",
      .examples =
          "heddle run --gpus 1 -- python3 train.py --epochs 5\n"
          "heddle run --gpu 0.25 --time 90m --file train.py -- python3 train.py\n"
          "heddle run --nodes 2 --gpus 4 --name gang -- ./train.sh\n"
          "heddle run --detach -q -- python3 train.py     (prints the id)",
      .flags = {{"gpus", "N", "whole devices of one node (default 1; 0 for none)"},
                {"gpu", "PART", "a part of one device, such as 0.25"},
                {"gpu-memory", "SIZE", "a device with that much memory free, such as 20GiB"},
                {"devices", "N", "with --gpu or --gpu-memory: from how many devices"},
                {"nodes", "N", "so many replicas, each on its part of a node; all or none start"},
                {"procs-per-node", "N", "processes started for each replica (default 1)"},
                {"cpus", "N", "cores; in proportion to the GPUs when left out"},
                {"memory", "SIZE", "main memory; in proportion to the GPUs when left out"},
                {"name", "NAME", "its name among the team's live work; made up when left out"},
                {"team", "TEAM", "whose work it is", 0, false, Offers::kTeam},
                {"project", "TEXT", "a label of your own"},
                {"class", "CLASS", "production, training, development or batch", 0, false,
                 Offers::kWords, "production training development batch"},
                {"kind", "KIND", "job (default), workspace or service", 0, false, Offers::kWords,
                 "job workspace service"},
                {"pool", "POOL", "only in this pool; again for more, in your order", 0, true,
                 Offers::kPool},
                {"priority", "N", "order within the team, higher first"},
                {"time", "TIME", "the longest it may run, such as 2h"},
                {"grace", "TIME", "between asking it to stop and ending it (default 30s)"},
                {"retries", "N", "run it again so often after a failure of its own"},
                {"env", "NAME=VALUE", "set a variable; again for more", 0, true},
                {"file", "SRC[:DEST]", "put a local file into its folder; again for more", 0, true,
                 Offers::kFile},
                {"detach", "", "submit it and do not watch"},
                {"dry-run", "", "only show the plan"}},
      .takes_program = true,
      .run = &run};
}

}  // namespace heddle::cli
