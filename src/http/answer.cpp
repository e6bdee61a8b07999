#include "http/answer.h"

#include <time.h>

#include <array>
#include <atomic>
#include <cstdint>

#include "base/id.h"

namespace heddle::http {
namespace {

// For people who look at the wire only; clients go by the number.
std::string_view reason_phrase(int status) {
  switch (status) {
    case 200:
      return "OK";
    case 201:
      return "Created";
    case 204:
      return "No Content";
    case 400:
      return "Bad Request";
    case 401:
      return "Unauthorized";
    case 403:
      return "Forbidden";
    case 404:
      return "Not Found";
    case 405:
      return "Method Not Allowed";
    case 409:
      return "Conflict";
    case 410:
      return "Gone";
    case 412:
      return "Precondition Failed";
    case 413:
      return "Content Too Large";
    case 415:
      return "Unsupported Media Type";
    case 421:
      return "Misdirected Request";
    case 422:
      return "Unprocessable Content";
    case 428:
      return "Precondition Required";
    case 429:
      return "Too Many Requests";
    case 431:
      return "Request Header Fields Too Large";
    case 500:
      return "Internal Server Error";
    case 503:
      return "Service Unavailable";
    case 504:
      return "Gateway Timeout";
    case 507:
      return "Insufficient Storage";
    default:
      return "Answer";
  }
}

std::string date_now() {
  const time_t now = ::time(nullptr);
  struct tm parts {};
  ::gmtime_r(&now, &parts);
  std::array<char, 40> text{};
  const std::size_t size =
      ::strftime(text.data(), text.size(), "%a, %d %b %Y %H:%M:%S GMT", &parts);
  return {text.data(), size};
}

// Every id of one process differs; the start keeps processes apart.
std::string next_request_id() {
  static const std::uint64_t start = static_cast<std::uint64_t>(::time(nullptr)) << 24;
  static std::atomic<std::uint64_t> count{1};
  return id_text("rq", start + count.fetch_add(1));
}

}  // namespace

std::string start_of_answer(const web::Response& response) {
  std::string out = "HTTP/1.1 " + std::to_string(response.status) + " ";
  out += reason_phrase(response.status);
  out += "\r\nDate: " + date_now() + "\r\n";
  for (const auto& [name, value] : response.headers) out += name + ": " + value + "\r\n";
  return out;
}

web::Response problem_of(const Refusal& refusal) {
  const ErrorCodeInfo& about = info(refusal.code);
  const std::string id = next_request_id();
  // Nothing here comes from the client, so nothing needs escaping.
  std::string body = "{\"type\":\"/problems/" + std::string{about.name} + "\",\"title\":\"" +
                     std::string{about.title} + "\",\"status\":" + std::to_string(refusal.status) +
                     ",\"detail\":\"" + refusal.detail + "\",\"code\":\"" +
                     std::string{about.name} + "\",\"request_id\":\"" + id + "\"}";
  return {refusal.status,
          {{"Content-Type", "application/problem+json"}, {"X-Request-Id", id}},
          std::move(body)};
}

}  // namespace heddle::http
