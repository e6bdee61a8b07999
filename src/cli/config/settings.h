// Settings: what applies to this call, and where each value came from.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "cli/config/user_config.h"

namespace heddle::cli {

// One value of one key, from one place.
struct Setting {
  std::string value;
  std::string source;  // `--team`, `HEDDLE_TEAM`, `heddle.toml`, `login`, `default`
};

// The keys are `server`, `team`, `project`, `pool`, `class`, `ca_file`. Precedence: flag,
// environment, project file, login (the user's configuration), default.
class Settings {
 public:
  // The value that counts; empty value and source when nothing sets it.
  Setting winner(std::string_view key) const;
  // All values that were found for a key, the winner first.
  std::vector<Setting> candidates(std::string_view key) const;

  // Adds a candidate behind those already there; empty values are ignored.
  void add(std::string_view key, std::string value, std::string source);

  static const std::vector<std::string>& keys();

 private:
  std::vector<std::pair<std::string, Setting>> candidates_;
};

using Environment = std::function<std::string(const char*)>;  // empty when not set

// The user's own: $XDG_CONFIG_HOME/heddle/config, else ~/.config/heddle/config.
std::string user_config_path(const Environment& environment);

// Gathers everything; `flags` are (key, value) pairs as given, `project_file` is heddle.toml in the
// current folder. It may name a server only if the user is logged in there: a folder that came from
// elsewhere must not choose who gets the token. Unknown keys are errors that name file and key.
Result<Settings> gather(const std::vector<std::pair<std::string, std::string>>& flags,
                        const Environment& environment, const std::string& project_file,
                        const UserConfig& user);

}  // namespace heddle::cli
