#include "cli/command.h"

namespace heddle::cli {

bool Arguments::has(std::string_view flag) const { return flags.find(flag) != flags.end(); }

std::string Arguments::value(std::string_view flag, std::string_view otherwise) const {
  const auto it = flags.find(flag);
  if (it == flags.end() || it->second.empty()) return std::string(otherwise);
  return it->second.back();
}

std::vector<std::string> Arguments::values(std::string_view flag) const {
  const auto it = flags.find(flag);
  return it == flags.end() ? std::vector<std::string>{} : it->second;
}

std::span<const Flag> global_flags() {
  static const std::vector<Flag> kFlags{
      {"output", "FORMAT", "json, yaml, jsonl or name instead of text for people", 'o', false,
       Offers::kWords, "json yaml jsonl name text"},
      {"quiet", "", "ids only; never hides a program's own output", 'q'},
      {"yes", "", "yes to every question", 'y'},
      {"no-input", "", "never ask; without --yes nothing of value is lost"},
      {"plain", "", "no redrawing, no glyphs, tables as `field: value` (also HEDDLE_PLAIN=1)"},
      {"color", "WHEN", "auto, always or never (also NO_COLOR)", 0, false, Offers::kWords,
       "auto always never"},
      {"server", "URL", "another server than the configured one (also HEDDLE_SERVER)"},
      {"timeout", "TIME", "give up after this long, such as 30s (exit 8)"},
      {"help", "", "this text", 'h'},
  };
  return kFlags;
}

}  // namespace heddle::cli
