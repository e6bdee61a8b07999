#include "api/problem.h"

#include "api/json_writer.h"

namespace heddle::api {
namespace {

// How long a client should wait before it tries again; 0: trying again does not help.
std::int64_t retry_after_s(ErrorCode code) {
  switch (code) {
    case ErrorCode::kRateLimited:
      return 1;
    case ErrorCode::kUnavailable:
      return 2;
    case ErrorCode::kStorageFull:
      return 30;
    default:
      return 0;
  }
}

}  // namespace

web::Response problem(const Error& error, const std::string& request_id) {
  const ErrorCodeInfo& about = info(error.code);
  const std::int64_t retry_s = retry_after_s(error.code);
  JsonWriter json;
  json.open()
      .text("type", "/problems/" + std::string{about.name})
      .text("title", about.title)
      .number("status", about.http_status)
      .text("detail", error.message)
      .text("code", about.name)
      .text("request_id", request_id);
  if (!error.next.empty()) json.text("next", error.next);
  if (retry_s > 0) json.number("retry_after_s", retry_s);
  for (const ErrorNumber& number : error.numbers) json.number(number.name, number.value);
  if (!error.fields.empty()) {
    json.open("errors", '[');
    for (const FieldError& field : error.fields) {
      json.open().text("pointer", field.pointer).text("code", field.rule);
      if (!field.given.empty()) json.text("given", field.given);
      json.close();
    }
    json.close(']');
  }
  json.close();
  web::Response response{about.http_status,
                         {{"Content-Type", "application/problem+json"},
                          {"X-Request-Id", request_id},
                          {"Cache-Control", "no-store"},
                          {"X-Content-Type-Options", "nosniff"}},
                         json.take()};
  if (retry_s > 0) response.headers.emplace_back("Retry-After", std::to_string(retry_s));
  if (error.code == ErrorCode::kUnauthenticated)
    response.headers.emplace_back("WWW-Authenticate", "Bearer");
  return response;
}

}  // namespace heddle::api
