#include <doctest/doctest.h>
#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>

#include "cli/config/settings.h"
#include "cli/config/user_config.h"

namespace heddle::cli {
namespace {

class Folder {
 public:
  Folder() {
    std::string name = std::filesystem::temp_directory_path() / "heddle-cli-XXXXXX";
    REQUIRE(mkdtemp(name.data()) != nullptr);
    path_ = name;
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  std::string at(const std::string& name) const { return path_ / name; }
  std::string put(const std::string& name, const std::string& content) const {
    std::ofstream(path_ / name) << content;
    return at(name);
  }

 private:
  std::filesystem::path path_;
};

Environment environment(std::map<std::string, std::string> values) {
  return [values = std::move(values)](const char* name) {
    const auto it = values.find(name);
    return it == values.end() ? std::string() : it->second;
  };
}

UserConfig logged_in() {
  UserConfig user;
  user.current = "https://a.example";
  user.servers["https://a.example"] = {"heddle_tk_1_ff", "vision", ""};
  return user;
}

}  // namespace

TEST_CASE("a flag wins over the environment, that over the project, that over the login") {
  const Folder folder;
  const std::string project = folder.put("heddle.toml", "team = 'project'\npool = \"h100\"\n");
  const auto env = environment({{"HEDDLE_TEAM", "env"}});
  const auto all = gather({{"team", "flag"}}, env, project, logged_in());
  REQUIRE(all.has_value());
  CHECK(all->winner("team").value == "flag");
  CHECK(all->winner("team").source == "--team");
  const auto candidates = all->candidates("team");
  REQUIRE(candidates.size() == 4);
  CHECK(candidates[1].source == "HEDDLE_TEAM");
  CHECK(candidates[2].source == project);
  CHECK(candidates[3].source == "login");
  CHECK(all->winner("pool").value == "h100");
  CHECK(all->winner("server").value == "https://a.example");
  CHECK(gather({}, environment({}), folder.at("none"), {})->winner("server").source == "default");
}

TEST_CASE("a project folder cannot choose who gets the token") {
  const Folder folder;
  const std::string project = folder.put("heddle.toml", "server = 'https://evil.example'\n");
  const auto refused = gather({}, environment({}), project, logged_in());
  REQUIRE_FALSE(refused.has_value());
  CHECK(refused.error().message.find("not logged in") != std::string::npos);
  const auto chosen =
      gather({{"server", "https://a.example"}}, environment({}), project, logged_in());
  REQUIRE(chosen.has_value());
  CHECK(chosen->winner("server").value == "https://a.example");
  const std::string known = folder.put("heddle.toml", "server = 'https://a.example'\n");
  CHECK(gather({}, environment({}), known, logged_in()).has_value());
}

TEST_CASE("a mistake in a project file is named with its line") {
  const Folder folder;
  const auto error = [&](const std::string& text) {
    const auto all = gather({}, environment({}), folder.put("heddle.toml", text), logged_in());
    REQUIRE_FALSE(all.has_value());
    return all.error().message;
  };
  CHECK(error("team = 'a'\ntaem = 'b'\n").find("line 2: 'taem' is not known") != std::string::npos);
  CHECK(error("team = 4\n").find("line 1: team must be a text") != std::string::npos);
  CHECK(error("team = \n").find("line 1") != std::string::npos);
  CHECK(error("token = 'x'\n").find("'token' is not known") != std::string::npos);
}

TEST_CASE("a login is written for its owner alone and read back whole") {
  const Folder folder;
  const std::string path = folder.at("heddle/config");
  UserConfig config = logged_in();
  config.servers["http://127.0.0.1:7070"] = {"t\"\\\x01", "", "/ca.pem"};
  REQUIRE(write_user_config(path, config).has_value());
  struct stat about {};
  REQUIRE(stat(path.c_str(), &about) == 0);
  CHECK((about.st_mode & 0777) == 0600);
  const auto read = read_user_config(path);
  REQUIRE(read.has_value());
  CHECK(read->current == config.current);
  CHECK(read->servers.at("http://127.0.0.1:7070").token == "t\"\\\x01");
  CHECK(read->servers.at("http://127.0.0.1:7070").ca_file == "/ca.pem");
  CHECK(read->servers.at("https://a.example").team == "vision");
}

TEST_CASE("a file of tokens that others can read is not used") {
  const Folder folder;
  const std::string path = folder.put("config", "current = 'https://a.example'\n");
  chmod(path.c_str(), 0644);
  const auto read = read_user_config(path);
  REQUIRE_FALSE(read.has_value());
  CHECK(read.error().next == "chmod 600 " + path);
  CHECK(read_user_config(folder.at("none"))->servers.empty());
}

}  // namespace heddle::cli
