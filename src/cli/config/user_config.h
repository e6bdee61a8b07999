// UserConfig: the file that `heddle login` writes; several servers, each with its token.
#pragma once

#include <map>
#include <string>

#include "base/result.h"

namespace heddle::cli {

struct ServerLogin {
  std::string token;
  std::string team;     // default team there, may be empty
  std::string ca_file;  // trusted authorities for it, may be empty
};

struct UserConfig {
  std::string current;                         // the server used when nothing else names one
  std::map<std::string, ServerLogin> servers;  // by origin, such as https://heddle.example
};

// A missing file is an empty configuration. A file that others can read or write is an error,
// because it holds tokens; so is what cannot be understood.
Result<UserConfig> read_user_config(const std::string& path);

// Replaces the file in one step, readable by its owner only; makes the folder.
Result<Done> write_user_config(const std::string& path, const UserConfig& config);

}  // namespace heddle::cli
