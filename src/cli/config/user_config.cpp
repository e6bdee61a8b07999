#include "cli/config/user_config.h"

#include <sys/stat.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#define TOML_EXCEPTIONS 0
#include <toml++/toml.h>

#include "cli/config/files.h"

namespace heddle::cli {
namespace {

Error broken(const std::string& path, const std::string& why) {
  return Error::invalid("", "config", path + ": " + why + ".");
}

std::string in_quotes(std::string_view text) {
  static constexpr char kHex[] = "0123456789abcdef";
  std::string out = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (byte < 0x20 || byte == 0x7F) {
      out += "\\u00";
      out += kHex[byte >> 4];
      out += kHex[byte & 15];
    } else {
      out += c;
    }
  }
  return out + "\"";
}

std::string text_at(const toml::table& table, std::string_view key) {
  return table[key].value<std::string>().value_or("");
}

}  // namespace

Result<UserConfig> read_user_config(const std::string& path) {
  UserConfig config;
  struct stat about {};
  if (stat(path.c_str(), &about) != 0) {
    if (errno == ENOENT || errno == ENOTDIR) return config;
    return broken(path, std::strerror(errno));
  }
  if ((about.st_mode & 077) != 0) {
    Error error = broken(path, "others may read this file, and it holds tokens");
    error.next = "chmod 600 " + path;
    return error;
  }
  const auto text = read_file(path, 1 << 20);
  if (!text) return text.error();
  const toml::parse_result parsed = toml::parse(*text);
  if (!parsed)
    return broken(path, "line " + std::to_string(parsed.error().source().begin.line) + ": " +
                            std::string(parsed.error().description()));
  const toml::table& table = parsed.table();
  config.current = text_at(table, "current");
  if (const toml::table* servers = table["servers"].as_table())
    for (const auto& [name, node] : *servers)
      if (const toml::table* server = node.as_table())
        config.servers[std::string(name.str())] = {
            text_at(*server, "token"), text_at(*server, "team"), text_at(*server, "ca_file")};
  return config;
}

Result<Done> write_user_config(const std::string& path, const UserConfig& config) {
  std::string text = "# Written by heddle login. It holds tokens: keep it to yourself.\n";
  if (!config.current.empty()) text += "current = " + in_quotes(config.current) + "\n";
  for (const auto& [name, server] : config.servers) {
    text += "\n[servers." + in_quotes(name) + "]\n";
    if (!server.token.empty()) text += "token = " + in_quotes(server.token) + "\n";
    if (!server.team.empty()) text += "team = " + in_quotes(server.team) + "\n";
    if (!server.ca_file.empty()) text += "ca_file = " + in_quotes(server.ca_file) + "\n";
  }
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  std::error_code failed;
  if (std::filesystem::create_directories(folder, failed))
    std::filesystem::permissions(folder, std::filesystem::perms::owner_all, failed);
  return replace_file(path, text);
}

}  // namespace heddle::cli
