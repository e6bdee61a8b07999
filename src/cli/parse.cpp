#include "cli/parse.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <optional>

namespace heddle::cli {
namespace {

Error wrong(std::string message, std::string next) {
  Error error{ErrorCode::kInvalidArgument, std::move(message)};
  error.next = std::move(next);
  return error;
}

const Flag* flag_named(std::span<const Flag> flags, std::string_view typed) {
  for (const Flag& flag : flags) {
    if (typed == "--" + std::string(flag.name)) return &flag;
    if (flag.letter != 0 && typed == std::string("-") + flag.letter) return &flag;
  }
  return nullptr;
}

// `team` also finds `teams`.
bool same_word(std::string_view typed, std::string_view word) {
  return typed == word || (word.size() == typed.size() + 1 && word.back() == 's' &&
                           word.starts_with(typed) && typed.size() > 2);
}

std::vector<std::string> split_words(std::string_view path) {
  std::vector<std::string> words;
  while (!path.empty()) {
    const auto end = path.find(' ');
    words.emplace_back(path.substr(0, end));
    path.remove_prefix(end == std::string_view::npos ? path.size() : end + 1);
  }
  return words;
}

struct Found {
  const Command* command = nullptr;
  std::vector<std::size_t> used;  // places in `words` that are the command's name
  std::string group;
  bool is_prefix = false;  // a group without a command of its own
};

// The longest command whose name is spelled by the first words that are no flags.
Found find_command(std::span<const std::string> words) {
  std::vector<std::size_t> plain;
  for (std::size_t i = 0; i < words.size() && words[i] != "--" && plain.size() < 3; ++i) {
    if (words[i].starts_with("-")) {
      const Flag* flag = flag_named(global_flags(), words[i]);
      if (flag != nullptr && !flag->value.empty()) ++i;
      if (flag == nullptr && !plain.empty()) break;
    } else {
      plain.push_back(i);
    }
  }
  Found best;
  for (const Command& command : commands()) {
    const auto path = split_words(command.path);
    std::size_t matched = 0;
    while (matched < path.size() && matched < plain.size() &&
           same_word(words[plain[matched]], path[matched]))
      ++matched;
    const bool whole = matched == path.size();
    if (matched == 0 || matched < best.used.size()) continue;
    if (matched == best.used.size() && (best.command != nullptr || !whole)) continue;
    best = {whole ? &command : nullptr,
            {plain.begin(), plain.begin() + static_cast<long>(matched)},
            "",
            !whole};
    for (std::size_t i = 0; i < matched; ++i) best.group += (i == 0 ? "" : " ") + path[i];
  }
  return best;
}

Error unknown_command(std::span<const std::string> words) {
  std::string typed;
  for (const std::string& word : words)
    if (typed.empty() && !word.starts_with("-")) typed = word;
  if (typed.empty())
    return wrong("'" + words.front() + "' is not a flag of heddle.", "heddle help");
  std::vector<std::string> names;
  for (const Command& command : commands()) names.push_back(split_words(command.path).front());
  const std::string near = nearest(typed, names);
  return wrong("'" + typed + "' is not a command of heddle." +
                   (near.empty() ? "" : " Did you mean '" + near + "'?"),
               near.empty() ? "heddle help" : "heddle help " + near);
}

Error unknown_word(const Command& command, const std::string& typed) {
  const std::string name = "heddle " + std::string(command.path);
  if (!typed.starts_with("-") || typed == "-") {
    if (command.takes_program)
      return wrong("'" + typed + "' stands where no word is expected. The program and its " +
                       "arguments come behind `--`.",
                   name + " [flags] -- " + typed + " ...");
    return wrong("'" + typed + "' is one word too many for '" + name + "'.", name + " --help");
  }
  const std::string flag = typed.substr(0, typed.find('='));
  std::vector<std::string> names;
  for (const Flag& f : command.flags) names.push_back("--" + std::string(f.name));
  for (const Flag& f : global_flags()) names.push_back("--" + std::string(f.name));
  const std::string near = nearest(flag, names);
  return wrong("'" + flag + "' is not a flag of '" + name + "'." +
                   (near.empty() ? "" : " Did you mean '" + near + "'?"),
               name + " --help");
}

std::string spelled(const Flag& flag) {
  std::string out = "--" + std::string(flag.name);
  if (flag.letter != 0) out = std::string("-") + flag.letter + "," + out;
  return out;
}

// The table's flags as CLI11 options; runs it over `words` (without the program behind `--`).
std::optional<Error> read_flags(const Command& command, std::vector<std::string> words,
                                Arguments& into) {
  CLI::App app;
  app.set_help_flag();
  app.allow_extras();
  std::map<std::string_view, std::vector<std::string>> values;
  std::map<std::string_view, bool> switches;
  std::vector<std::pair<CLI::Option*, const Flag*>> options;
  const auto add = [&](const Flag& flag) {
    CLI::Option* option =
        flag.value.empty()
            ? app.add_flag(spelled(flag), switches[flag.name])
            : app.add_option(spelled(flag), values[flag.name])->allow_extra_args(false)->take_all();
    options.emplace_back(option, &flag);
  };
  for (const Flag& flag : command.flags) add(flag);
  for (const Flag& flag : global_flags()) add(flag);
  std::ranges::reverse(words);
  try {
    app.parse(std::vector<std::string>(words));
  } catch (const CLI::ParseError&) {
    for (const std::string& word : words)
      if (const Flag* flag = flag_named(command.flags, word.substr(0, word.find('='))))
        return wrong(
            "--" + std::string(flag->name) +
                (flag->value.empty() ? " takes no value."
                                     : " needs a value: " + std::string(flag->value) + "."),
            "heddle " + std::string(command.path) + " --help");
    return wrong("a flag lacks its value.", "heddle " + std::string(command.path) + " --help");
  }
  for (const auto& [option, flag] : options)
    if (option->count() > 0) into.flags[std::string(flag->name)] = values[flag->name];
  for (const std::string& word : app.remaining()) {
    if (word.starts_with("-") && word != "-") return unknown_word(command, word);
    into.places.push_back(word);
  }
  return std::nullopt;
}

std::optional<Error> check_places(const Command& command, const Arguments& arguments) {
  std::size_t least = 0;
  std::size_t most = 0;
  for (const Place& place : command.places) {
    least += static_cast<std::size_t>(place.least);
    most += static_cast<std::size_t>(place.most);
  }
  const std::string name = "heddle " + std::string(command.path);
  if (arguments.places.size() > most) return unknown_word(command, arguments.places[most]);
  if (arguments.places.size() < least)
    return wrong(
        "'" + name + "' needs " + std::string(command.places[arguments.places.size()].name) + ".",
        name + " --help");
  return std::nullopt;
}

}  // namespace

std::string nearest(std::string_view word, std::span<const std::string> candidates) {
  std::string best;
  std::size_t best_distance = word.size() < 4 ? 2 : 3;  // one or two slips
  for (const std::string& candidate : candidates) {
    // Rows of the table of edits: two swapped letters are one slip.
    std::vector<std::size_t> row(candidate.size() + 1);
    for (std::size_t i = 0; i < row.size(); ++i) row[i] = i;
    std::vector<std::size_t> above, two_above;
    for (std::size_t i = 0; i < word.size(); ++i) {
      two_above = above;
      above = row;
      row[0] = i + 1;
      for (std::size_t j = 0; j < candidate.size(); ++j) {
        const std::size_t changed = above[j] + (word[i] == candidate[j] ? 0 : 1);
        row[j + 1] = std::min({changed, row[j] + 1, above[j + 1] + 1});
        if (i > 0 && j > 0 && word[i] == candidate[j - 1] && word[i - 1] == candidate[j])
          row[j + 1] = std::min(row[j + 1], two_above[j - 1] + 1);
      }
    }
    if (row.back() < best_distance && row.back() < word.size()) {
      best_distance = row.back();
      best = candidate;
    }
  }
  return best;
}

std::vector<const Command*> commands_below(std::string_view group) {
  std::vector<const Command*> below;
  for (const Command& command : commands())
    if (command.path.starts_with(std::string(group) + " ")) below.push_back(&command);
  return below;
}

Result<Parsed> parse(std::span<const std::string> words) {
  Parsed parsed;
  if (words.empty()) return parsed;
  const auto dashes = std::ranges::find(words, "--");
  const Found found = find_command(words);
  std::vector<std::string> rest;
  for (std::size_t i = 0; i < static_cast<std::size_t>(dashes - words.begin()); ++i)
    if (std::ranges::find(found.used, i) == found.used.end()) rest.push_back(words[i]);
  const bool asks_help = std::ranges::find(rest, "--help") != rest.end() ||
                         std::ranges::find(rest, "-h") != rest.end();
  parsed.help = asks_help;
  parsed.group = found.group;
  if (found.command == nullptr) {
    const bool only_help = found.used.empty() && asks_help && rest.size() == 1;
    if (only_help || (found.is_prefix && (rest.empty() || asks_help))) {
      parsed.help = true;
      return parsed;
    }
    return unknown_command(words);
  }
  parsed.command = found.command;
  if (asks_help) return parsed;
  if (auto error = read_flags(*found.command, rest, parsed.arguments)) return *error;
  if (dashes != words.end()) {
    auto& into = found.command->takes_program ? parsed.arguments.program : parsed.arguments.places;
    into.insert(into.end(), dashes + 1, words.end());
  }
  if (auto error = check_places(*found.command, parsed.arguments)) return *error;
  return parsed;
}

}  // namespace heddle::cli
