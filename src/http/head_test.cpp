#include "http/head.h"

#include <doctest/doctest.h>

#include <string>

namespace heddle::http {
namespace {

int status_of(const std::string& bytes) {
  const auto read = read_head(bytes);
  const auto* refusal = std::get_if<Refusal>(&read);
  return refusal == nullptr ? 200 : refusal->status;
}

Head good(const std::string& bytes) {
  auto read = read_head(bytes);
  REQUIRE(std::holds_alternative<Head>(read));
  return std::get<Head>(std::move(read));
}

}  // namespace

TEST_CASE("a plain head gives method, decoded path, raw query and lower-case headers") {
  const Head head = good(
      "POST /v1/a%20b?x=%41&y HTTP/1.1\r\nHost: h\r\nX-Thing:  two words \r\n"
      "Content-Length: 12\r\nExpect: 100-continue\r\n\r\n");
  CHECK(head.request.method == "POST");
  CHECK(head.request.path == "/v1/a b");
  CHECK(head.request.query == "x=%41&y");
  CHECK(web::header(head.request.headers, "x-thing") == "two words");
  CHECK(head.content_length == 12);
  CHECK(head.expects_continue);
  CHECK(head.keep_alive);
  CHECK_FALSE(head.chunked);
}

TEST_CASE("the connection ends when the client says so, and with HTTP/1.0") {
  CHECK_FALSE(good("GET / HTTP/1.1\r\nHost: h\r\nConnection: te, Close\r\n\r\n").keep_alive);
  CHECK_FALSE(good("GET / HTTP/1.0\r\nHost: h\r\n\r\n").keep_alive);
}

TEST_CASE("a whole target is taken only for the host of the Host header") {
  CHECK(good("GET http://H:1/x?y HTTP/1.1\r\nHost: h:1\r\n\r\n").request.path == "/x");
  CHECK(status_of("GET http://evil/x HTTP/1.1\r\nHost: h\r\n\r\n") == 400);
  CHECK(status_of("GET http://h.evil/x HTTP/1.1\r\nHost: h\r\n\r\n") == 400);
}

TEST_CASE("paths are decoded once and never walk") {
  CHECK(good("GET /a%252e HTTP/1.1\r\nHost: h\r\n\r\n").request.path == "/a%2e");
  for (const char* path : {"/..", "/a/../b", "/%2e%2e/b", "/a/.", "/a%2fb", "/a%5cb", "/a\\b",
                           "/%00", "/%0a", "/%", "/%4", "/%zz", "/a#b", "/\x80"})
    CHECK_MESSAGE(status_of("GET " + std::string{path} + " HTTP/1.1\r\nHost: h\r\n\r\n") == 400,
                  path);
}

TEST_CASE("every prefix of a head is refused without harm") {
  const std::string whole = "GET / HTTP/1.1\r\nHost: h\r\nContent-Length: 1\r\n\r\n";
  for (std::size_t size = 0; size < whole.size(); ++size)
    CHECK(status_of(whole.substr(0, size)) == 400);
}

}  // namespace heddle::http
