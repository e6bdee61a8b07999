// Session: one call of `heddle`: its flags and settings, its console, its server.
#pragma once

#include <functional>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "cli/command.h"
#include "cli/config/settings.h"
#include "cli/session/console.h"
#include "client/http_client.h"
#include "client/streams.h"

namespace heddle::cli {

// Whether a write carries an Idempotency-Key, so that it may be tried again.
enum class Keyed : std::uint8_t { kNo, kYes };

struct Write {
  std::string method;  // POST, PUT, PATCH, DELETE
  std::string target;
  Keyed keyed = Keyed::kNo;
  std::string if_match = {};
};

// What a command needs before it can begin.
enum class Needs : std::uint8_t { kNothing, kSetup };

class Session {
 public:
  // Reads configuration and environment; with Needs::kNothing only how to print, so that help
  // works where nothing else does.
  static Result<std::unique_ptr<Session>> start(const Arguments& arguments, Environment environment,
                                                Needs needs = Needs::kSetup);
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  Console& console() { return *console_; }
  const Settings& settings() const { return settings_; }
  const Environment& environment() const { return environment_; }
  const UserConfig& user_config() const { return user_config_; }
  const std::string& config_path() const { return config_path_; }
  const client::Origin& server() const { return options_.server; }
  // The team that applies, or empty: the server then takes the user's only one.
  std::string team() const { return settings_.winner("team").value; }
  // The team of a command about one team: its first word, the one that applies, the only one that
  // the user may see, or an error.
  Result<std::string> one_team(const Arguments& arguments);
  // --timeout, if given.
  std::optional<Duration> timeout() const { return timeout_; }

  // Talks to another server, or with another token, from now on (login).
  void use(client::Origin server, std::string token);

  // The parsed answer; a problem of the server becomes an Error with the same code. Interrupted:
  // see was_interrupted().
  Result<nlohmann::json> get(const std::string& target);
  Result<nlohmann::json> write(const Write& write, const nlohmann::json* body);
  // All pages of a list as one {"items": [...], "next_cursor": null}, at most `most` items.
  Result<nlohmann::json> list(const std::string& target, std::size_t most = 10'000);

  // Streams with the same server, token and Ctrl-C.
  std::unique_ptr<client::Streams> streams() const;
  // A refused stream's answer as an Error.
  Error error_of(const client::Answer& answer);

  // Prints an error and gives the exit code. Under -o json it is problem+json.
  int fail(const Error& error);
  // How a pointer into what was sent is named to the reader: a flag, or a line of a file.
  void name_places(std::function<std::string(std::string_view pointer)> where);

  // What to type for help on this command: the next step of bad input that has no better one.
  void name_help(std::string command_line) { help_ = std::move(command_line); }

  // Prints a result in the chosen form; `text` makes the form for people. A list has `items`.
  // Gives exit code 0.
  int show(const nlohmann::json& result, const std::function<std::string()>& text);
  // For a change that was made: with --quiet only the id, else as show().
  int done(const nlohmann::json& result, const std::string& sentence);

 private:
  Session() = default;
  Result<nlohmann::json> exchange(const client::Call& call);
  Error error_of(const client::Failure& failure);
  Error not_logged_in() const;
  client::HttpClient& http();

  Environment environment_;
  std::unique_ptr<Console> console_;
  UserConfig user_config_;
  std::string config_path_;
  Settings settings_;
  client::Options options_;
  std::unique_ptr<client::HttpClient> http_;
  std::optional<Duration> timeout_;
  std::function<std::string(std::string_view)> where_;
  std::string help_;
  std::string token_from_;  // a variable, or empty for the login
  bool interrupted_ = false;
  std::string problem_;     // the server's own, of the last failed answer
  std::string request_id_;  // likewise
};

}  // namespace heddle::cli
