#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "client/http_client.h"
#include "client/origin.h"
#include "client/sse.h"

namespace heddle::client {
namespace {

std::vector<SseEvent> events_of(SseParser& parser, std::string_view bytes) {
  std::vector<SseEvent> events;
  CHECK(parser.feed(bytes, [&](const SseEvent& e) {
    events.push_back(e);
    return true;
  }));
  return events;
}

}  // namespace

TEST_CASE("an origin is read from what people type") {
  CHECK(parse_origin("https://Heddle.Example")->text() == "https://heddle.example");
  CHECK(parse_origin("heddle.example/")->text() == "https://heddle.example");
  CHECK(parse_origin("127.0.0.1:7070")->text() == "http://127.0.0.1:7070");
  CHECK(parse_origin("http://[::1]:80")->text() == "http://[::1]");
  CHECK(*parse_origin("https://a:443") == *parse_origin("https://a"));
  CHECK(*parse_origin("https://a") != *parse_origin("http://a"));
  CHECK(*parse_origin("https://a") != *parse_origin("https://a:8443"));
}

TEST_CASE("what is no origin is refused with the reason") {
  for (const char* bad :
       {"", "file:///etc/passwd", "javascript://a", "https://", "https://user:pw@a", "https://a/b",
        "https://a?token=1", "https://a#x", "https://a:0", "https://a:70000", "https://a:x",
        "https://-o", "https://a b", "https://a\r\nX: y", "ftp://a", "https://[::1",
        "https://[]"}) {
    CAPTURE(bad);
    CHECK_FALSE(parse_origin(bad).has_value());
  }
}

TEST_CASE("a redirect keeps its origin only for a path") {
  const Origin here = *parse_origin("http://127.0.0.1:7070");
  std::string target;
  CHECK(*follow_location(here, "/v1/teams?x=1", target) == here);
  CHECK(target == "/v1/teams?x=1");
  CHECK(*follow_location(here, "http://127.0.0.1:7071/a", target) != here);
  CHECK(target == "/a");
  CHECK_FALSE(follow_location(here, "//evil.example/a", target).has_value());
  CHECK_FALSE(follow_location(here, "file:///etc/passwd", target).has_value());
}

TEST_CASE("events are found however the bytes are cut") {
  const std::string text =
      "\xEF\xBB\xBFretry: 250\n: hello\n\nid: 7\nevent: log\ndata: one\ndata:two\n\n"
      "data: three\r\n\r\nevent: none\n\nid: 9\rdata:  four\r\r";
  for (std::size_t cut = 1; cut <= text.size(); ++cut) {
    SseParser parser;
    std::vector<SseEvent> events;
    for (std::size_t at = 0; at < text.size(); at += cut)
      for (SseEvent& e : events_of(parser, std::string_view(text).substr(at, cut)))
        events.push_back(std::move(e));
    REQUIRE(events.size() == 3);
    CHECK(events[0].type == "log");
    CHECK(events[0].data == "one\ntwo");
    CHECK(events[0].id == "7");
    CHECK(events[1].type == "message");
    CHECK(events[1].data == "three");
    CHECK(events[2].data == " four");
    CHECK(parser.last_id() == "9");
    CHECK(parser.retry_ms() == 250);
  }
}

TEST_CASE("a half event does not move the resume point") {
  SseParser parser;
  CHECK(events_of(parser, "id: 1\ndata: a\n\nid: 2\ndata: b\n").size() == 1);
  CHECK(parser.last_id() == "1");
}

TEST_CASE("an endless line or event is not kept in memory") {
  SseParser parser;
  const std::string chunk(1024 * 1024, 'x');
  bool fine = true;
  for (int i = 0; i < 5 && fine; ++i)
    fine = parser.feed(chunk, [](const SseEvent&) { return true; });
  CHECK_FALSE(fine);
}

TEST_CASE("a part of a path cannot leave its place") {
  CHECK(encode_part("../a b?c#d/\n") == "..%2Fa%20b%3Fc%23d%2F%0A");
  CHECK(encode_part("team-1_x.y~z") == "team-1_x.y~z");
}

TEST_CASE("a server that is not there is tried three times, then named") {
  Options options;
  options.server = *parse_origin("http://127.0.0.1:1");
  options.pauses[0] = options.pauses[1] = Duration::millis(1);
  HttpClient client(options);
  const auto result = client.send({"POST", "/v1/x", {}, "{}"});
  const auto* failure = std::get_if<Failure>(&result);
  REQUIRE(failure != nullptr);
  CHECK(failure->fault == Fault::kUnreachable);
  CHECK(failure->tries == 3);
  CHECK(failure->why == "connection refused");
}

}  // namespace heddle::client
