#include "cli/config/settings.h"

#include <sys/stat.h>

#include <algorithm>

#define TOML_EXCEPTIONS 0
#include <toml++/toml.h>

#include "cli/config/files.h"
#include "client/origin.h"

namespace heddle::cli {
namespace {

constexpr const char* kDefaultServer = "http://127.0.0.1:7070";

std::string variable_of(std::string key) {
  for (char& c : key)
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  return "HEDDLE_" + key;
}

Error in_file(const std::string& path, const std::string& why) {
  return Error::invalid("", "config", path + ": " + why + ".");
}

// A server that a project file names counts only where the user is logged in.
Result<Done> check_server(const std::string& path, const std::string& value,
                          const UserConfig& user) {
  const auto origin = client::parse_origin(value);
  if (!origin) return in_file(path, origin.error().message);
  if (user.servers.contains(origin->text())) return Done{};
  Error error =
      in_file(path, "it names the server " + origin->text() + ", where you are not logged in");
  error.next = "heddle login " + origin->text() + "   (only if you trust it)";
  return error;
}

Result<Done> read_project_file(const std::string& path, const UserConfig& user, Settings& into) {
  struct stat about {};
  if (stat(path.c_str(), &about) != 0) return Done{};
  const auto text = read_file(path, 64 * 1024);
  if (!text) return text.error();
  const toml::parse_result parsed = toml::parse(*text);
  if (!parsed)
    return in_file(path, "line " + std::to_string(parsed.error().source().begin.line) + ": " +
                             std::string(parsed.error().description()));
  const bool server_is_chosen = !into.winner("server").value.empty();
  for (const auto& [key, node] : parsed.table()) {
    const std::string name(key.str());
    const std::string line = "line " + std::to_string(node.source().begin.line) + ": ";
    if (std::ranges::find(Settings::keys(), name) == Settings::keys().end() || name == "ca_file")
      return in_file(path, line + "'" + name +
                               "' is not known here; known are server, team, project, pool, class");
    const auto value = node.value<std::string>();
    if (!node.is_string() || !value)
      return in_file(path, line + name + " must be a text in quotes");
    if (name == "server" && !server_is_chosen)
      if (const auto fine = check_server(path, *value, user); !fine) return fine.error();
    into.add(name, *value, path);
  }
  return Done{};
}

}  // namespace

const std::vector<std::string>& Settings::keys() {
  static const std::vector<std::string> kKeys{"server", "team",  "project",
                                              "pool",   "class", "ca_file"};
  return kKeys;
}

void Settings::add(std::string_view key, std::string value, std::string source) {
  if (!value.empty())
    candidates_.emplace_back(std::string(key), Setting{std::move(value), std::move(source)});
}

std::vector<Setting> Settings::candidates(std::string_view key) const {
  std::vector<Setting> found;
  for (const auto& [name, setting] : candidates_)
    if (name == key) found.push_back(setting);
  return found;
}

Setting Settings::winner(std::string_view key) const {
  const auto found = candidates(key);
  return found.empty() ? Setting{} : found.front();
}

std::string user_config_path(const Environment& environment) {
  std::string base = environment("XDG_CONFIG_HOME");
  if (base.empty()) base = environment("HOME") + "/.config";
  return base + "/heddle/config";
}

Result<Settings> gather(const std::vector<std::pair<std::string, std::string>>& flags,
                        const Environment& environment, const std::string& project_file,
                        const UserConfig& user) {
  Settings settings;
  for (const auto& [key, value] : flags) settings.add(key, value, "--" + key);
  for (const std::string& key : Settings::keys())
    settings.add(key, environment(variable_of(key).c_str()), variable_of(key));
  if (const auto read = read_project_file(project_file, user, settings); !read) return read.error();
  settings.add("server", user.current, "login");
  settings.add("server", kDefaultServer, "default");
  const auto origin = client::parse_origin(settings.winner("server").value);
  if (!origin) return origin.error();
  if (const auto login = user.servers.find(origin->text()); login != user.servers.end()) {
    settings.add("team", login->second.team, "login");
    settings.add("ca_file", login->second.ca_file, "login");
  }
  return settings;
}

}  // namespace heddle::cli
