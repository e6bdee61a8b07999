#include "cli/session/problem.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "cli/render/escape.h"
#include "cli/render/json.h"

namespace heddle::cli {
namespace {

using nlohmann::json;

ErrorCode code_for(int status) {
  for (int i = 0; i < kErrorCodeCount; ++i) {
    const auto code = static_cast<ErrorCode>(i);
    if (info(code).http_status == status) return code;
  }
  if (status == 502) return ErrorCode::kUnavailable;
  return status >= 500 ? ErrorCode::kInternal : ErrorCode::kInvalidArgument;
}

// `/name must be ...` said to somebody who typed --name: names the place as the reader knows it.
std::string in_words_of_reader(const Error& error, std::string_view place) {
  if (error.fields.empty()) return error.message;
  const std::string& pointer = error.fields.front().pointer;
  if (pointer.size() < 2 || !error.message.starts_with(pointer + " ")) return error.message;
  std::string name = pointer.front() == '?' ? "--" + pointer.substr(1) : pointer.substr(1);
  if (place.starts_with("--")) name = place;
  return name + error.message.substr(pointer.size());
}

}  // namespace

Error with_next(Error error, const std::string& help) {
  if (!error.next.empty()) return error;
  if (error.code == ErrorCode::kInvalidArgument) error.next = help;
  if (error.code == ErrorCode::kPermissionDenied)
    error.next = "heddle whoami shows what you are; a team admin or an administrator may do more";
  return error;
}

Error error_from(int status, const web::Headers& headers, const std::string& body,
                 std::string& request_id) {
  Error error{code_for(status), "the server answered " + std::to_string(status) + "."};
  request_id = web::header(headers, "x-request-id");
  const json problem = json::parse(body, nullptr, false);
  if (!problem.is_object()) return error;
  if (const auto code = error_code_named(text(problem, "code"))) error.code = *code;
  if (std::string detail = text(problem, "detail"); !detail.empty()) {
    error.message = std::move(detail);
  } else if (std::string title = text(problem, "title"); !title.empty()) {
    error.message = std::move(title);
  }
  if (request_id.empty()) request_id = text(problem, "request_id");
  error.next = text(problem, "next");
  if (const auto fields = problem.find("errors"); fields != problem.end() && fields->is_array())
    for (const json& field : *fields)
      if (field.is_object() && error.fields.size() < 64)
        error.fields.push_back({text(field, "pointer"), text(field, "code"), text(field, "given")});
  return error;
}

std::string error_text(const Error& error, const std::string& request_id,
                       const std::function<std::string(std::string_view)>& where) {
  const auto named = [&](const FieldError& field) {
    return where ? where(field.pointer) : std::string();
  };
  const std::string first = error.fields.empty() ? "" : named(error.fields.front());
  std::string message = safe(in_words_of_reader(error, first));
  if (!message.empty() && message.back() != '.' && message.back() != '?') message += '.';
  std::string out = "error: " + message + "\n";
  constexpr std::size_t kMostPlaces = 3;
  for (std::size_t i = 0; i < error.fields.size() && i < kMostPlaces; ++i) {
    const FieldError& field = error.fields[i];
    const std::string place = named(field);
    if (place.empty() && field.pointer.empty()) continue;
    std::string line = "  where: " + safe(place.empty() ? field.pointer : place);
    if (!field.given.empty()) line += ", given " + safe(field.given);
    if (!field.rule.empty()) {
      std::string rule = safe(field.rule);
      std::ranges::replace(rule, '_', ' ');
      line += " (" + rule + ")";
    }
    out += line + "\n";
  }
  if (error.fields.size() > kMostPlaces)
    out += "  and " + std::to_string(error.fields.size() - kMostPlaces) + " more places\n";
  if (!error.next.empty()) out += "  next:  " + safe(error.next) + "\n";
  if (!request_id.empty()) out += "  request " + safe(request_id) + "\n";
  return out;
}

std::string error_json(const Error& error, bool made_by_client_connection) {
  const ErrorCodeInfo& about = info(error.code);
  json problem{{"type", "/problems/" + std::string(about.name)},
               {"title", about.title},
               {"status", about.http_status},
               {"detail", error.message},
               {"code", about.name},
               {"origin", "client"}};
  if (made_by_client_connection) {
    problem["type"] = "/problems/server_unreachable";
    problem["title"] = "Server does not answer";
    problem["code"] = "server_unreachable";
    problem.erase("status");
  }
  if (!error.next.empty()) problem["next"] = error.next;
  for (const FieldError& field : error.fields)
    if (!field.pointer.empty())
      problem["errors"].push_back(
          {{"pointer", field.pointer}, {"code", field.rule}, {"given", field.given}});
  return problem.dump(-1, ' ', false, json::error_handler_t::replace);
}

}  // namespace heddle::cli
