// config, completion, help, version: about this program itself.
#include <nlohmann/json.hpp>

#include "cli/commands/commands.h"
#include "cli/completion.h"
#include "cli/help.h"
#include "cli/parse.h"
#include "cli/render/escape.h"
#include "cli/render/json.h"
#include "cli/session/session.h"

#ifndef HEDDLE_VERSION
#define HEDDLE_VERSION "0.0.0"
#endif

namespace heddle::cli {
namespace {

using nlohmann::json;

int config(Session& session, const Arguments& arguments) {
  json result{{"file", session.config_path()}, {"items", json::array()}};
  Table table({{"KEY"}, {"VALUE", Align::kLeft, 0, true}, {"FROM"}});
  for (const std::string& key : Settings::keys()) {
    bool first = true;
    for (const Setting& setting : session.settings().candidates(key)) {
      if (!first && !arguments.has("explain")) break;
      table.row({first ? key : "", setting.value, setting.source + (first ? "" : " (not used)")});
      result["items"].push_back(
          {{"name", key}, {"value", setting.value}, {"from", setting.source}, {"used", first}});
      first = false;
    }
  }
  for (const auto& [server, login] : session.user_config().servers)
    result["servers"].push_back(server);
  return session.show(result, [&] {
    std::string out = table.text(session.console().look());
    out += "file: " + safe(session.config_path()) + "\n";
    return out;
  });
}

int completion(Session& session, const Arguments& arguments) {
  const std::string script = completion_script(arguments.places.front());
  if (script.empty()) {
    Error error{ErrorCode::kInvalidArgument, "'" + arguments.places.front() +
                                                 "' is not a shell that is known here: bash, zsh, "
                                                 "fish are."};
    error.next = "heddle completion bash";
    return session.fail(error);
  }
  session.console().print(script);
  return 0;
}

int help(Session& session, const Arguments& arguments) {
  std::string words;
  for (const std::string& place : arguments.places) words += (words.empty() ? "" : " ") + place;
  if (arguments.has("all") && !session.console().is_text()) {
    session.console().print(help_tree_json());
    return 0;
  }
  if (arguments.has("all")) {
    for (const Command& command : commands())
      session.console().print("== heddle " + std::string(command.path) + "\n" + help_of(command) +
                              "\n");
    return 0;
  }
  if (words.empty()) {
    session.console().print(help_overview());
    return 0;
  }
  if (const std::string topic = help_topic(words); !topic.empty()) {
    session.console().print(topic);
    return 0;
  }
  for (const Command& command : commands())
    if (command.path == words) {
      session.console().print(help_of(command));
      return 0;
    }
  if (!commands_below(words).empty()) {
    session.console().print(help_of_group(words));
    return 0;
  }
  std::vector<std::string> names = help_topics();
  for (const Command& command : commands()) names.emplace_back(command.path);
  const std::string near = nearest(words, names);
  Error error{ErrorCode::kNotFound, "there is no help on '" + words + "'." +
                                        (near.empty() ? "" : " Did you mean '" + near + "'?")};
  error.next = near.empty() ? "heddle help" : "heddle help " + near;
  return session.fail(error);
}

int version(Session& session, const Arguments&) {
  const json result{{"name", "heddle"}, {"version", HEDDLE_VERSION}};
  return session.show(result, [] { return std::string("heddle " HEDDLE_VERSION "\n"); });
}

}  // namespace

Command config_command() {
  return {.path = "config",
          .summary = "what applies here, and where it comes from",
          .examples = "heddle config\nheddle config --explain",
          .flags = {{"explain", "", "also what was set elsewhere and did not win"}},
          .run = &config};
}

Command completion_command() {
  return {.path = "completion",
          .summary = "completion script for bash, zsh or fish",
          .examples =
              "source <(heddle completion bash)\n"
              "heddle completion fish > ~/.config/fish/completions/heddle.fish",
          .places = {{"SHELL", 1, 1, Offers::kWords, "bash zsh fish"}},
          .needs_setup = false,
          .run = &completion};
}

Command help_command() {
  return {.path = "help",
          .summary = "help on a command or a topic",
          .examples = "heddle help exit-codes\nheddle help run\nheddle help --all -o json",
          .flags = {{"all", "", "every command; with -o json the tree for tools"}},
          .places = {{"TOPIC", 0, 3, Offers::kWords, "exit-codes units files flags names"}},
          .needs_setup = false,
          .run = &help};
}

Command version_command() {
  return {.path = "version",
          .summary = "the version of this program",
          .examples = "heddle version",
          .needs_setup = false,
          .run = &version};
}

}  // namespace heddle::cli
