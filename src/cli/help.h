// Help: texts made from the table of commands, examples first, a screen each.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cli/command.h"

namespace heddle::cli {

// Of `heddle` as a whole: every command with its line.
std::string help_overview();

// Of one command.
std::string help_of(const Command& command);

// Of a group such as `guarantee`, which has no command of its own.
std::string help_of_group(std::string_view group);

// Topics such as `exit-codes`, and their texts; empty for an unknown one.
std::vector<std::string> help_topics();
std::string help_topic(std::string_view topic);

// The command tree for tools: `heddle help --all -o json`.
std::string help_tree_json();

}  // namespace heddle::cli
