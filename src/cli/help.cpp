#include "cli/help.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "cli/parse.h"
#include "cli/render/escape.h"

namespace heddle::cli {
namespace {

constexpr std::size_t kWidth = 80;

// Two columns: the term, then its words, wrapped below themselves.
std::string two_columns(const std::string& term, std::string_view words, std::size_t indent) {
  std::string out = "  " + term;
  std::size_t at = out.size();
  if (at + 2 > indent) {
    out += "\n";
    at = 0;
  }
  out += std::string(indent - at, ' ');
  at = indent;
  while (!words.empty()) {
    const auto end = words.find(' ');
    const std::string_view word = words.substr(0, end);
    if (at + word.size() > kWidth && at > indent) {
      out += "\n" + std::string(indent, ' ');
      at = indent;
    }
    if (at > indent) {
      out += ' ';
      ++at;
    }
    out += word;
    at += word.size();
    words.remove_prefix(end == std::string_view::npos ? words.size() : end + 1);
    if (at + 1 > kWidth) {
      out += "\n" + std::string(indent, ' ');
      at = indent;
    }
  }
  out.erase(out.find_last_not_of(" \n") + 1);
  return out + "\n";
}

std::string term_of(const Flag& flag) {
  std::string term = flag.letter != 0 ? std::string("-") + flag.letter + ", " : "";
  term += "--" + std::string(flag.name);
  if (!flag.value.empty()) term += " " + std::string(flag.value);
  return term;
}

std::string usage_of(const Command& command) {
  std::string out = "heddle " + std::string(command.path);
  if (!command.flags.empty()) out += " [flags]";
  for (const Place& place : command.places) {
    const std::string name(place.name);
    out += place.least == 0 ? " [" + name + "]" : " " + name;
    if (place.most > 1) out += "...";
  }
  if (command.takes_program) out += " -- PROGRAM [ARGUMENT...]";
  return out;
}

std::string indented(std::string_view lines) {
  std::string out;
  while (!lines.empty()) {
    const auto end = lines.find('\n');
    out += "  " + std::string(lines.substr(0, end)) + "\n";
    lines.remove_prefix(end == std::string_view::npos ? lines.size() : end + 1);
  }
  return out;
}

std::size_t indent_for(const std::vector<std::string>& terms) {
  std::size_t widest = 0;
  for (const std::string& term : terms) widest = std::max(widest, term.size());
  return std::min<std::size_t>(widest + 4, 28);
}

}  // namespace

std::string help_overview() {
  std::string out =
      "heddle: GPUs for teams, from the command line\n\n"
      "  heddle login http://127.0.0.1:7070         once; asks for the token\n"
      "  heddle run --gpus 1 -- python3 train.py    run, watch, get its exit code\n"
      "  heddle ps                                  what runs and what waits\n"
      "  heddle why NAME                            why it waits\n\n"
      "Commands:\n";
  std::vector<std::string> terms;
  for (const Command& command : commands()) terms.emplace_back(command.path);
  const std::size_t indent = indent_for(terms);
  for (const Command& command : commands())
    out += two_columns(std::string(command.path), command.summary, indent);
  out += "\nMore: heddle COMMAND --help, heddle help TOPIC (";
  const auto topics = help_topics();
  for (std::size_t i = 0; i < topics.size(); ++i) out += (i == 0 ? "" : ", ") + topics[i];
  return out + ")\n";
}

std::string help_of(const Command& command) {
  std::string out = std::string(command.summary) + "\n\n" + indented(command.examples);
  out += "\nUsage: " + usage_of(command) + "\n";
  if (!command.notes.empty()) out += "\n" + std::string(command.notes) + "\n";
  const auto section = [&](const char* title, std::span<const Flag> flags) {
    std::vector<std::string> terms;
    for (const Flag& flag : flags) terms.push_back(term_of(flag));
    const std::size_t indent = indent_for(terms);
    out += std::string("\n") + title + "\n";
    for (std::size_t i = 0; i < flags.size(); ++i)
      out += two_columns(terms[i], flags[i].help, indent);
  };
  if (!command.flags.empty()) section("Flags:", command.flags);
  if (const auto below = commands_below(command.path); !below.empty()) {
    out += "\nAlso:\n";
    for (const Command* other : below)
      out += two_columns("heddle " + std::string(other->path), other->summary, 28);
  }
  out += "\nFlags of every command: heddle help flags\n";
  return out;
}

std::string help_of_group(std::string_view group) {
  std::string out = "heddle " + std::string(group) + "\n\n";
  for (const Command* command : commands_below(group))
    out += two_columns("heddle " + std::string(command->path), command->summary, 28);
  return out;
}

std::string help_tree_json() {
  using nlohmann::json;
  const auto flag_json = [](const Flag& flag) {
    json out{{"name", flag.name}, {"help", flag.help}, {"many", flag.many}};
    if (!flag.value.empty()) out["value"] = flag.value;
    if (flag.letter != 0) out["letter"] = std::string(1, flag.letter);
    return out;
  };
  json tree{{"commands", json::array()}, {"flags", json::array()}, {"topics", help_topics()}};
  for (const Flag& flag : global_flags()) tree["flags"].push_back(flag_json(flag));
  for (const Command& command : commands()) {
    json out{{"path", command.path},
             {"summary", command.summary},
             {"usage", usage_of(command)},
             {"examples", command.examples},
             {"takes_program", command.takes_program},
             {"flags", json::array()},
             {"places", json::array()}};
    for (const Flag& flag : command.flags) out["flags"].push_back(flag_json(flag));
    for (const Place& place : command.places)
      out["places"].push_back({{"name", place.name}, {"least", place.least}, {"most", place.most}});
    tree["commands"].push_back(std::move(out));
  }
  return tree.dump(2) + "\n";
}

}  // namespace heddle::cli
