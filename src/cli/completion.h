// Completion: what a shell may offer next.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cli/command.h"

namespace heddle::cli {

// The script for bash, zsh or fish; empty for another shell. It calls `heddle __complete WORDS...`
// and never evaluates what it prints.
std::string completion_script(std::string_view shell);

struct Offered {
  std::vector<std::string> words;
  Offers more = Offers::kNothing;  // names that only the server knows, or files
};

// What may stand in place of the last of `words` (the one being typed, maybe empty). Knows no
// server.
Offered complete(std::span<const std::string> words);

}  // namespace heddle::cli
