// login, logout, whoami: who the reader is, on which server.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "cli/commands/commands.h"
#include "cli/config/files.h"
#include "cli/render/escape.h"
#include "cli/render/json.h"
#include "cli/render/when.h"
#include "cli/session/session.h"

namespace heddle::cli {
namespace {

using nlohmann::json;

std::string stripped(std::string text) {
  const auto blank = [](char c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; };
  while (!text.empty() && blank(text.back())) text.pop_back();
  while (!text.empty() && blank(text.front())) text.erase(0, 1);
  return text;
}

Result<std::string> wanted_token(Session& session, const Arguments& arguments) {
  std::string file = arguments.value("token-file");
  if (file.empty()) file = session.environment()("HEDDLE_TOKEN_FILE");
  if (file.empty() && !session.environment()("HEDDLE_TOKEN").empty())
    return stripped(session.environment()("HEDDLE_TOKEN"));
  if (file.empty() && session.console().can_ask()) {
    const auto typed = session.console().ask_secret("Token (not shown): ");
    if (typed && !stripped(*typed).empty()) return stripped(*typed);
    return Error{ErrorCode::kInvalidArgument, "no token was given."};
  }
  if (file.empty()) file = "-";
  const auto text = read_file(file, 4096);
  if (!text) return text.error();
  std::string token = stripped(*text);
  if (token.empty() || token.find_first_of(" \n\r\t") != std::string::npos) {
    Error error{ErrorCode::kInvalidArgument,
                (file == "-" ? "standard input" : file) + " does not hold a token."};
    error.next = "heddle login --token-file FILE, or type it when asked";
    return error;
  }
  return token;
}

// The team that applies by default: the one asked for, or the only one.
std::string default_team(const json& who, const std::string& wanted) {
  if (!wanted.empty()) return wanted;
  const json& teams = part(who, "teams");
  return teams.is_array() && teams.size() == 1 ? text(teams.front(), "name") : "";
}

int login(Session& session, const Arguments& arguments) {
  client::Origin server = session.server();
  if (!arguments.places.empty()) {
    const auto parsed = client::parse_origin(arguments.places.front());
    if (!parsed) return session.fail(parsed.error());
    server = *parsed;
  }
  if (server.scheme == "http" && !server.is_loopback())
    session.console().warn("note: " + server.text() +
                           " is not encrypted: everyone on the way can read the token.");
  const auto token = wanted_token(session, arguments);
  if (!token) return session.fail(token.error());
  session.use(server, *token);
  const auto who = session.get("/v1/whoami");
  if (!who) return session.fail(who.error());

  UserConfig config = session.user_config();
  ServerLogin& login = config.servers[server.text()];
  login.token = *token;
  login.team = default_team(*who, arguments.value("team"));
  if (arguments.has("ca-file")) login.ca_file = arguments.value("ca-file");
  config.current = server.text();
  if (const auto wrote = write_user_config(session.config_path(), config); !wrote)
    return session.fail(wrote.error());
  std::string words =
      "Logged in to " + server.text() + " as " + safe(text(part(*who, "user"), "name")) + ".";
  words += login.team.empty() ? " Several teams: name one with --team, or heddle login --team TEAM."
                              : " Team " + safe(login.team) + ".";
  if (part(*who, "teams").empty() && login.team.empty())
    words = words.substr(0, words.find(" Several")) + " No team yet.";
  return session.done(*who, words);
}

int logout(Session& session, const Arguments&) {
  UserConfig config = session.user_config();
  const std::string server = session.server().text();
  const auto login = config.servers.find(server);
  if (login == config.servers.end()) {
    session.console().note("Not logged in to " + server + "; nothing to do.");
    return 0;
  }
  config.servers.erase(login);
  if (config.current == server) config.current.clear();
  if (const auto wrote = write_user_config(session.config_path(), config); !wrote)
    return session.fail(wrote.error());
  session.console().note("Logged out of " + server +
                         ". The token works until it expires: heddle tokens revoke ends it.");
  return 0;
}

std::string whoami_text(const Session& session, const json& who) {
  const json& user = part(who, "user");
  const json& token = part(who, "token");
  std::string out = safe(text(user, "name")) + " on " + session.server().text();
  if (flag(user, "admin")) out += ", administrator";
  out += "\n";
  const json& teams = part(who, "teams");
  if (teams.is_array())
    for (const json& team : teams) {
      std::string role = text(team, "role");
      std::ranges::replace(role, '_', ' ');
      out += " team   " + safe(text(team, "name")) + ", " + safe(role) + "\n";
    }
  const Setting team = session.settings().winner("team");
  if (!team.value.empty())
    out += " uses   team " + safe(team.value) + " (from: " + team.source + ")\n";
  out += " token  " + safe(text(token, "id")) + " " + safe(text(token, "name"));
  if (const auto until = time(token, "expires_at")) out += ", until " + screen_time_words(*until);
  return out + "\n";
}

int whoami(Session& session, const Arguments&) {
  const auto who = session.get("/v1/whoami");
  if (!who) return session.fail(who.error());
  return session.show(*who, [&] { return whoami_text(session, *who); });
}

}  // namespace

Command login_command() {
  return {.path = "login",
          .summary = "remember a server and a token",
          .examples =
              "heddle login http://127.0.0.1:7070\n"
              "heddle login https://heddle.example --token-file token.txt\n"
              "cat token.txt | heddle login https://heddle.example",
          .notes =
              "The token is typed when asked, or read from a file or standard input; it is\n"
              "never an argument, where others could see it.",
          .flags = {{"token-file", "FILE", "read the token from this file; - for standard input", 0,
                     false, Offers::kFile},
                    {"team", "TEAM", "the team that applies when none is named", 0, false,
                     Offers::kTeam},
                    {"ca-file", "FILE", "trust these authorities for the server's certificate", 0,
                     false, Offers::kFile}},
          .places = {{"URL", 0}},
          .run = &login};
}

Command logout_command() {
  return {.path = "logout",
          .summary = "forget the token of a server",
          .examples = "heddle logout",
          .run = &logout};
}

Command whoami_command() {
  return {.path = "whoami",
          .summary = "who you are, your teams, your token",
          .examples = "heddle whoami",
          .run = &whoami};
}

}  // namespace heddle::cli
