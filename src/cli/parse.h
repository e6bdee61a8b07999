// parse(): from what was typed to a command and its checked arguments.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "cli/command.h"

namespace heddle::cli {

struct Parsed {
  const Command* command = nullptr;  // null: bare `heddle`, or help for a group of commands
  std::string group;                 // the words that were understood
  Arguments arguments;
  bool help = false;  // --help was given
};

// `words` is argv without the program's name. Global flags may stand anywhere before `--`.
// A singular stands for its plural (`team create`). Errors name the flag or word, say what it could
// have been, and carry the next command to type.
Result<Parsed> parse(std::span<const std::string> words);

// The best of `candidates` for a mistyped word, or empty when none is near.
std::string nearest(std::string_view word, std::span<const std::string> candidates);

// Every command below a group, such as `teams create` for `teams`.
std::vector<const Command*> commands_below(std::string_view group);

}  // namespace heddle::cli
