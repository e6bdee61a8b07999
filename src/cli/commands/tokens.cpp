// tokens: what proves who asks.
#include <nlohmann/json.hpp>

#include "base/units.h"
#include "cli/commands/commands.h"
#include "cli/render/escape.h"
#include "cli/render/json.h"
#include "cli/render/when.h"
#include "cli/session/session.h"

namespace heddle::cli {
namespace {

using nlohmann::json;

std::string token_state(const json& token, Instant now) {
  if (time(token, "revoked_at")) return "revoked";
  const auto until = time(token, "expires_at");
  return until && *until <= now ? "expired" : "works";
}

int tokens(Session& session, const Arguments&) {
  const auto list = session.list("/v1/tokens");
  if (!list) return session.fail(list.error());
  return session.show(*list, [&] {
    const Instant now = reader_now();
    Table table({{"TOKEN"},
                 {"NAME", Align::kLeft, 0, true},
                 {"STATE"},
                 {"MADE", Align::kLeft, 3},
                 {"UNTIL", Align::kLeft, 2}});
    for (const json& token : part(*list, "items")) {
      const auto made = time(token, "created_at");
      const auto until = time(token, "expires_at");
      table.row({text(token, "id"), text(token, "name"), token_state(token, now),
                 made ? short_time_words(*made, now) : "-",
                 until ? short_time_words(*until, now) : "never"});
    }
    return table.text(session.console().look());
  });
}

// The secret goes to standard output alone, so that `> token.txt` keeps it and nothing else.
int tokens_create(Session& session, const Arguments& arguments) {
  json body{{"name", arguments.places.front()}};
  if (arguments.has("user")) body["user"] = arguments.value("user");
  if (arguments.has("for")) body["lives"] = arguments.value("for");
  session.name_places(
      [](std::string_view pointer) { return std::string(pointer == "/lives" ? "--for" : ""); });
  const auto token = session.write({"POST", "/v1/tokens", Keyed::kYes}, &body);
  if (!token) return session.fail(token.error());
  if (!session.console().is_text()) return session.show(*token, [] { return std::string(); });
  std::string words = "Token " + safe(text(*token, "id")) + " " + safe(text(*token, "name"));
  if (const auto until = time(*token, "expires_at"))
    words += ", until " + screen_time_words(*until);
  session.console().note(words + ". It is shown this once only:");
  session.console().print(safe(text(*token, "secret")) + "\n");
  return 0;
}

int tokens_revoke(Session& session, const Arguments& arguments) {
  const std::string& id = arguments.places.front();
  const auto gone = session.write({"DELETE", "/v1/tokens/" + client::encode_part(id)}, nullptr);
  if (!gone) return session.fail(gone.error());
  session.console().note("Token " + safe(id) + " does not work any more.");
  return 0;
}

}  // namespace

Command tokens_command() {
  return {.path = "tokens",
          .summary = "your tokens, without their secrets",
          .examples = "heddle tokens",
          .run = &tokens};
}

Command tokens_create_command() {
  return {.path = "tokens create",
          .summary = "make a token; its secret is shown once",
          .examples =
              "heddle tokens create laptop --for 90d > token.txt\n"
              "heddle tokens create laptop --user ana   (administrators)",
          .flags = {{"for", "TIME", "how long it works, such as 90d (default 30d)"},
                    {"user", "USER", "whose it is; others by administrators only", 0, false,
                     Offers::kUser}},
          .places = {{"NAME"}},
          .run = &tokens_create};
}

Command tokens_revoke_command() {
  return {.path = "tokens revoke",
          .summary = "end a token now",
          .examples = "heddle tokens revoke tk_1a",
          .places = {{"TOKEN"}},
          .run = &tokens_revoke};
}

}  // namespace heddle::cli
