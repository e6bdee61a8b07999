#include "cli/session/session.h"

#include <unistd.h>

#include <cstdio>
#include <nlohmann/json.hpp>

#include "base/units.h"
#include "cli/config/files.h"
#include "cli/render/escape.h"
#include "cli/render/json.h"
#include "cli/session/problem.h"

namespace heddle::cli {
namespace {

using nlohmann::json;

constexpr Duration kLongestTimeout = Duration::hours(24 * 366);

std::string stripped(std::string text) {
  while (!text.empty() && (text.back() == '\n' || text.back() == '\r' || text.back() == ' '))
    text.pop_back();
  return text;
}

Result<ConsoleOptions> console_options(const Arguments& arguments) {
  ConsoleOptions options;
  options.quiet = arguments.has("quiet");
  options.yes = arguments.has("yes");
  options.no_input = arguments.has("no-input");
  options.plain = arguments.has("plain");
  options.color = arguments.value("color", "auto");
  if (options.color != "auto" && options.color != "always" && options.color != "never")
    return Error::invalid("", "color", "--color is auto, always or never.", options.color);
  const std::string output = arguments.value("output", "text");
  if (output == "json") {
    options.output = Output::kJson;
  } else if (output == "yaml") {
    options.output = Output::kYaml;
  } else if (output == "jsonl") {
    options.output = Output::kJsonl;
  } else if (output == "name") {
    options.output = Output::kName;
  } else if (output != "text") {
    return Error{ErrorCode::kInvalidArgument,
                 "-o " + output + " is not known; -o takes json, yaml, jsonl, name or text."};
  }
  return options;
}

// HEDDLE_TOKEN_FILE, HEDDLE_TOKEN, then the login for that server.
Result<std::string> find_token(const Environment& environment, const UserConfig& config,
                               const client::Origin& server) {
  if (const std::string file = environment("HEDDLE_TOKEN_FILE"); !file.empty()) {
    const auto text = read_file(file, 4096);
    if (text) return stripped(*text);
    Error error = text.error();
    error.message = "HEDDLE_TOKEN_FILE: " + error.message;
    error.next = "let it name the file of your token; or: unset HEDDLE_TOKEN_FILE, heddle login " +
                 server.text();
    return error;
  }
  if (std::string token = environment("HEDDLE_TOKEN"); !token.empty()) return stripped(token);
  const auto login = config.servers.find(server.text());
  return login == config.servers.end() ? std::string() : login->second.token;
}

// 128 random bits; so that a create that is tried again is done once.
std::string fresh_key() {
  unsigned char bytes[16];
  if (getentropy(bytes, sizeof bytes) != 0) return {};
  std::string key;
  for (const unsigned char byte : bytes) {
    static constexpr char kHex[] = "0123456789abcdef";
    key += kHex[byte >> 4];
    key += kHex[byte & 15];
  }
  return key;
}

std::string name_of(const json& item) {
  const std::string name = text(item, "name");
  return name.empty() ? text(item, "id") : name;
}

}  // namespace

Session::~Session() = default;

Result<std::unique_ptr<Session>> Session::start(const Arguments& arguments, Environment environment,
                                                Needs needs) {
  std::unique_ptr<Session> session(new Session);
  const auto options = console_options(arguments);
  if (!options) return options.error();
  session->environment_ = std::move(environment);
  session->console_ = std::make_unique<Console>(*options, session->environment_);
  if (needs == Needs::kNothing) return session;
  session->config_path_ = user_config_path(session->environment_);
  auto config = read_user_config(session->config_path_);
  if (!config) return config.error();
  session->user_config_ = std::move(*config);
  std::vector<std::pair<std::string, std::string>> flags;
  for (const std::string& key : Settings::keys())
    flags.emplace_back(key, arguments.value(key == "ca_file" ? "ca-file" : key));
  auto settings = gather(flags, session->environment_, "heddle.toml", session->user_config_);
  if (!settings) return settings.error();
  session->settings_ = std::move(*settings);
  if (arguments.has("timeout")) {
    const auto timeout =
        parse_duration(arguments.value("timeout"), Duration::millis(1), kLongestTimeout);
    if (!timeout) return Error{ErrorCode::kInvalidArgument, "--timeout " + timeout.error().message};
    session->timeout_ = *timeout;
    session->options_.answer_within = *timeout;
  }
  session->options_.server = *client::parse_origin(session->settings_.winner("server").value);
  session->options_.ca_file = session->settings_.winner("ca_file").value;
  session->options_.interrupt_fd = session->console_->interrupt_fd();
  auto token = find_token(session->environment_, session->user_config_, session->options_.server);
  if (!token) return token.error();
  for (const char* variable : {"HEDDLE_TOKEN", "HEDDLE_TOKEN_FILE"})
    if (!session->environment_(variable).empty()) session->token_from_ = variable;
  session->options_.token = std::move(*token);
  return session;
}

void Session::use(client::Origin server, std::string token) {
  options_.server = std::move(server);
  options_.token = std::move(token);
  token_from_.clear();
  http_.reset();
}

client::HttpClient& Session::http() {
  if (!http_) http_ = std::make_unique<client::HttpClient>(options_);
  return *http_;
}

std::unique_ptr<client::Streams> Session::streams() const {
  return std::make_unique<client::Streams>(options_);
}

Error Session::error_of(const client::Answer& answer) {
  Error error = error_from(answer.status, answer.headers, answer.body, request_id_);
  problem_ = json::accept(answer.body) ? answer.body : "";
  return error.code == ErrorCode::kUnauthenticated ? not_logged_in() : error;
}

// The server does not say more than that a valid token is needed; here is known which one it saw.
Error Session::not_logged_in() const {
  const std::string login = "heddle login " + options_.server.text();
  Error error{ErrorCode::kUnauthenticated, "you are not logged in to " + options_.server.text()};
  error.next = login;
  if (options_.token.empty() && token_from_.empty()) return error;
  error.message =
      options_.server.text() + " does not take " +
      (token_from_.empty() ? std::string("this token") : "the token of " + token_from_) +
      ": it is wrong, over or revoked";
  error.next = token_from_.empty() ? login + ", with a new token"
                                   : "put a new one there; or: unset " + token_from_ + ", " + login;
  return error;
}

Error Session::error_of(const client::Failure& failure) {
  const std::string where = options_.server.text();
  problem_.clear();
  request_id_.clear();
  switch (failure.fault) {
    case client::Fault::kInterrupted:
      interrupted_ = true;
      return {ErrorCode::kUnavailable, "interrupted"};
    case client::Fault::kTimeout:
      return {ErrorCode::kDeadlineExceeded,
              "no answer from " + where + " in " + format_duration(options_.answer_within) + "."};
    case client::Fault::kRedirected: {
      Error error{ErrorCode::kUnavailable,
                  where + " sends us to " + failure.why + ". Nothing was sent there."};
      error.next = "heddle login " + failure.why + "   (only if you trust it)";
      return error;
    }
    case client::Fault::kBadAnswer:
      return {ErrorCode::kInternal,
              where + " does not answer like a Heddle server: " + failure.why + "."};
    case client::Fault::kUnreachable:
      break;
  }
  const std::string tries =
      failure.tries == 1 ? "tried once" : "tried " + std::to_string(failure.tries) + " times";
  Error error{ErrorCode::kUnavailable, "no answer from " + where + " (" + tries + " in " +
                                           format_duration(failure.took) + ": " + failure.why +
                                           "). Running work is not touched by this."};
  error.next = "heddle status, once the server is up; or heddle config --explain";
  return error;
}

Result<json> Session::exchange(const client::Call& call) {
  auto sent = http().send(call);
  if (const auto* failure = std::get_if<client::Failure>(&sent)) return error_of(*failure);
  const auto& answer = std::get<client::Answer>(sent);
  if (answer.status < 200 || answer.status > 299) return error_of(answer);
  if (answer.body.empty()) return json::object();
  json value = json::parse(answer.body, nullptr, false);
  if (value.is_discarded()) {
    problem_.clear();
    request_id_ = web::header(answer.headers, "x-request-id");
    return Error{ErrorCode::kInternal,
                 options_.server.text() + " does not answer like a Heddle server."};
  }
  return value;
}

Result<json> Session::get(const std::string& target) {
  return exchange({"GET", target, {{"Accept", "application/json"}}, {}});
}

Result<json> Session::write(const Write& write, const json* body) {
  client::Call call{write.method, write.target, {{"Accept", "application/json"}}, {}};
  if (body != nullptr) {
    call.headers.emplace_back("Content-Type", "application/json");
    call.body = body->dump(-1, ' ', false, json::error_handler_t::replace);
  }
  if (write.keyed == Keyed::kYes) call.headers.emplace_back("Idempotency-Key", fresh_key());
  if (!write.if_match.empty()) call.headers.emplace_back("If-Match", write.if_match);
  return exchange(call);
}

Result<json> Session::list(const std::string& target, std::size_t most) {
  json all{{"items", json::array()}, {"next_cursor", nullptr}};
  const std::string join = target.find('?') == std::string::npos ? "?" : "&";
  std::string cursor;
  do {
    const std::string page_target =
        target + join + "limit=" + std::to_string(std::min<std::size_t>(most, 1000)) +
        (cursor.empty() ? "" : "&cursor=" + client::encode_part(cursor));
    auto page = get(page_target);
    if (!page) return page.error();
    for (json& item : (*page)["items"]) all["items"].push_back(std::move(item));
    cursor = text(*page, "next_cursor");
  } while (!cursor.empty() && all["items"].size() < most);
  if (!cursor.empty()) all["next_cursor"] = cursor;
  return all;
}

void Session::name_places(std::function<std::string(std::string_view)> where) {
  where_ = std::move(where);
}

Result<std::string> Session::one_team(const Arguments& arguments) {
  if (!arguments.places.empty()) return arguments.places.front();
  if (!team().empty()) return team();
  const auto teams = list("/v1/teams", 2);
  if (!teams) return teams.error();
  const json& items = part(*teams, "items");
  if (items.is_array() && items.size() == 1) return text(items.front(), "name");
  Error error{ErrorCode::kInvalidArgument, "which team? None is set and none is named."};
  error.next = "heddle teams";
  return error;
}

int Session::fail(const Error& raw) {
  if (interrupted_) {
    console_->take_interrupt();
    return 130;
  }
  const Error error = with_next(raw, help_);
  if (console_->is_text() || console_->options().output == Output::kName) {
    std::string lines = error_text(error, request_id_, where_);
    lines.pop_back();
    console_->warn(lines);
  } else if (!problem_.empty()) {
    console_->warn(json_line(json::parse(problem_), console_->err_is_terminal()));
  } else {
    console_->warn(error_json(error, error.code == ErrorCode::kUnavailable));
  }
  return info(error.code).exit_code;
}

int Session::show(const json& result, const std::function<std::string()>& text_of) {
  const bool terminal = console_->out_is_terminal();
  const bool is_list = part(result, "items").is_array();
  const json& items = is_list ? part(result, "items") : result;
  const auto each = [&](const auto& line_of) {
    std::string out;
    if (items.is_array())
      for (const json& item : items) out += line_of(item);
    else
      out = line_of(items);
    console_->print(out);
  };
  switch (console_->options().output) {
    case Output::kJson:
      console_->print(json_text(result, terminal));
      break;
    case Output::kYaml:
      console_->print(yaml_text(result, terminal));
      break;
    case Output::kJsonl:
      each([&](const json& item) { return json_line(item, terminal); });
      break;
    case Output::kName:
      each([&](const json& item) { return safe(name_of(item)) + "\n"; });
      break;
    case Output::kText:
      if (!console_->options().quiet)
        console_->print(text_of());
      else
        each([&](const json& item) {
          const std::string id = text(item, "id");
          return safe(id.empty() ? name_of(item) : id) + "\n";
        });
  }
  return 0;
}

int Session::done(const json& result, const std::string& sentence) {
  return show(result, [&] { return sentence + "\n"; });
}

}  // namespace heddle::cli
