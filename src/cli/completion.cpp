#include "cli/completion.h"

#include <algorithm>

#include "cli/parse.h"

namespace heddle::cli {
namespace {

constexpr const char* kBash = R"(_heddle() {
  local line
  COMPREPLY=()
  while IFS= read -r line; do
    COMPREPLY+=("$line")
  done < <(heddle __complete -- "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
  if [ "${#COMPREPLY[@]}" -eq 1 ] && [ "${COMPREPLY[0]}" = ":files" ]; then
    COMPREPLY=()
    compopt -o default
  fi
}
complete -F _heddle heddle
)";

constexpr const char* kZsh = R"(#compdef heddle
_heddle() {
  local -a offered
  offered=("${(@f)$(heddle __complete -- "${(@)words[2,CURRENT]}" 2>/dev/null)}")
  if [[ "${offered[1]}" == ":files" ]]; then
    _files
  else
    compadd -- "${(@)offered:#}"
  fi
}
compdef _heddle heddle
)";

constexpr const char* kFish = R"(function __heddle_complete
  set -l words (commandline -opc) (commandline -ct)
  set -l offered (heddle __complete -- $words[2..-1] 2>/dev/null)
  if test "$offered[1]" = ":files"
    __fish_complete_path (commandline -ct)
  else
    printf '%s\n' $offered
  end
end
complete -c heddle -f -a '(__heddle_complete)'
)";

void add_words(std::vector<std::string>& into, std::string_view words) {
  while (!words.empty()) {
    const auto end = words.find(' ');
    into.emplace_back(words.substr(0, end));
    words.remove_prefix(end == std::string_view::npos ? words.size() : end + 1);
  }
}

Offered offered_by(Offers offers, std::string_view words) {
  Offered offered;
  if (offers == Offers::kWords)
    add_words(offered.words, words);
  else
    offered.more = offers;
  return offered;
}

const Flag* flag_of(const Command* command, std::string_view typed) {
  const auto find = [&](std::span<const Flag> flags) -> const Flag* {
    for (const Flag& flag : flags)
      if (typed == "--" + std::string(flag.name) ||
          (flag.letter != 0 && typed == std::string("-") + flag.letter))
        return &flag;
    return nullptr;
  };
  if (command != nullptr)
    if (const Flag* flag = find(command->flags)) return flag;
  return find(global_flags());
}

// The next words of command names that go on from `typed`.
void add_command_words(std::vector<std::string>& into, const std::string& typed) {
  const std::string before = typed.empty() ? "" : typed + " ";
  for (const Command& command : commands()) {
    if (!command.path.starts_with(before)) continue;
    std::string_view rest = command.path.substr(before.size());
    const std::string word(rest.substr(0, rest.find(' ')));
    if (std::ranges::find(into, word) == into.end()) into.push_back(word);
  }
}

}  // namespace

std::string completion_script(std::string_view shell) {
  if (shell == "bash") return kBash;
  if (shell == "zsh") return kZsh;
  if (shell == "fish") return kFish;
  return {};
}

Offered complete(std::span<const std::string> words) {
  const std::string current = words.empty() ? "" : words.back();
  const auto before = words.empty() ? words : words.first(words.size() - 1);
  if (std::ranges::find(before, "--") != before.end()) return offered_by(Offers::kFile, "");

  const Command* command = nullptr;
  std::string typed;
  std::size_t places = 0;
  const Flag* open_flag = nullptr;  // one whose value is being typed
  for (const std::string& word : before) {
    if (open_flag != nullptr) {
      open_flag = nullptr;
    } else if (word.starts_with("-")) {
      const Flag* flag = flag_of(command, word);
      if (flag != nullptr && !flag->value.empty()) open_flag = flag;
    } else {
      const std::string longer = typed.empty() ? word : typed + " " + word;
      const auto known = std::ranges::find(commands(), longer, &Command::path);
      const bool names_more = known != commands().end() || !commands_below(longer).empty();
      if (places == 0 && names_more) {
        typed = longer;
        command = known == commands().end() ? nullptr : &*known;
      } else {
        ++places;
      }
    }
  }

  Offered offered;
  if (open_flag != nullptr) {
    offered = offered_by(open_flag->offers, open_flag->words);
  } else if (current.starts_with("-")) {
    if (command != nullptr)
      for (const Flag& flag : command->flags)
        offered.words.push_back("--" + std::string(flag.name));
    for (const Flag& flag : global_flags()) offered.words.push_back("--" + std::string(flag.name));
  } else {
    if (places == 0) add_command_words(offered.words, typed);
    if (command != nullptr && !command->places.empty()) {
      const Place& place = command->places[std::min(places, command->places.size() - 1)];
      Offered here = offered_by(place.offers, place.words);
      offered.words.insert(offered.words.end(), here.words.begin(), here.words.end());
      offered.more = here.more;
    }
  }
  std::erase_if(offered.words, [&](const std::string& word) { return !word.starts_with(current); });
  return offered;
}

}  // namespace heddle::cli
