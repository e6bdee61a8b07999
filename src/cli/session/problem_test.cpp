#include "cli/session/problem.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "cli/render/json.h"

namespace heddle::cli {

using nlohmann::json;

TEST_CASE("a problem becomes four parts and its request id") {
  std::string id;
  const Error error = error_from(422, {},
                                 R"({"code":"over_limit",
        "detail":"24 GPUs can never start for team vision: its limit on pool h100 is 20",
        "next":"heddle run --gpus 20","request_id":"rq_82a",
        "errors":[{"pointer":"/resources/gpus","code":"above_team_limit","given":"24"}]})",
                                 id);
  CHECK(error.code == ErrorCode::kOverLimit);
  CHECK(error_text(error, id, [](std::string_view) { return std::string("--gpus"); }) ==
        "error: 24 GPUs can never start for team vision: its limit on pool h100 is 20.\n"
        "  where: --gpus, given 24 (above team limit)\n"
        "  next:  heddle run --gpus 20\n"
        "  request rq_82a\n");
}

TEST_CASE("an error speaks of the flag that was typed, and has a next step") {
  Error error{ErrorCode::kInvalidArgument, "/name must be short; 'Foo' was given."};
  error.fields.push_back({"/name", "bad_name", "Foo"});
  const auto flag = [](std::string_view) { return std::string("--name"); };
  CHECK(error_text(with_next(error, "heddle run --help"), "", flag) ==
        "error: --name must be short; 'Foo' was given.\n"
        "  where: --name, given Foo (bad name)\n"
        "  next:  heddle run --help\n");
  CHECK(error_text(error, "", {}).starts_with("error: name must be short"));
  error.next = "kept";
  CHECK(with_next(error, "heddle run --help").next == "kept");
  CHECK(with_next({ErrorCode::kPermissionDenied, "no."}, "").next.starts_with("heddle whoami"));
  CHECK(with_next({ErrorCode::kInternal, "no."}, "heddle x --help").next.empty());
}

TEST_CASE("an error has at most six lines before its request id, and is inert") {
  Error error{ErrorCode::kInvalidArgument, "bad\n\x1b[2J\nnews"};
  for (int i = 0; i < 10; ++i)
    error.fields.push_back({"/a" + std::to_string(i), "not_\x07known", "\r\n\x1b]0;x\x07"});
  error.next = "\x1b[1A";
  const std::string text = error_text(error, "rq_1", {});
  CHECK(std::ranges::count(text, '\n') == 7);
  CHECK(text.find('\x1b') == std::string::npos);
  CHECK(text.find('\r') == std::string::npos);
  CHECK(text.find("and 7 more places") != std::string::npos);
}

TEST_CASE("what is no problem becomes one by its status") {
  std::string id;
  CHECK(error_from(404, {{"x-request-id", "rq_1"}}, "<html>", id).code == ErrorCode::kNotFound);
  CHECK(id == "rq_1");
  CHECK(error_from(502, {}, "", id).code == ErrorCode::kUnavailable);
  CHECK(error_from(500, {}, "[1]", id).code == ErrorCode::kInternal);
  CHECK(error_from(418, {}, "{}", id).code == ErrorCode::kInvalidArgument);
  CHECK(error_from(403, {}, R"({"code":"brand_new","detail":7})", id).code ==
        ErrorCode::kPermissionDenied);
}

TEST_CASE("every code has its exit code, and errors made here are problem+json too") {
  for (int i = 0; i < kErrorCodeCount; ++i) {
    const auto code = static_cast<ErrorCode>(i);
    const json problem = json::parse(error_json({code, "x\xff"}, false));
    CHECK(problem["code"] == info(code).name);
    CHECK(problem["status"] == info(code).http_status);
    CHECK(info(code).exit_code >= 2);
    CHECK(info(code).exit_code <= 10);
  }
  const json away = json::parse(error_json({ErrorCode::kUnavailable, "x"}, true));
  CHECK(away["code"] == "server_unreachable");
  CHECK_FALSE(away.contains("status"));
}

TEST_CASE("answers of another version are read without surprises") {
  const json odd = json::parse(R"({"a":1,"b":null,"c":"9007199254740993","d":"x","e":["p",2]})");
  CHECK(text(odd, "a") == "");
  CHECK(number(odd, "b") == 0);
  CHECK(number(odd, "c") == 9007199254740993);
  CHECK(number(odd, "d") == 0);
  CHECK(texts(odd, "e") == std::vector<std::string>{"p"});
  CHECK(part(odd, "zz").is_null());
  CHECK(text(json::array(), "a") == "");
}

TEST_CASE("YAML says the same as JSON, and nothing in it is read as something else") {
  const json value = json::parse(
      R"({"name":"train-1","yes":"no","n":null,"empty":[],"list":[{"a":1,"b":"x: y"},[1,2]],
         "e":"","t":"1e3"})");
  CHECK(yaml_text(value, false) ==
        "e: \"\"\nempty: []\nlist:\n  - a: 1\n    b: \"x: y\"\n  - - 1\n    - 2\n"
        "\"n\": null\nname: train-1\nt: \"1e3\"\n\"yes\": \"no\"\n");
  CHECK(yaml_text(json{{"x", "\xe2\x80\xae"}}, true) == "x: \"\\u202e\"\n");
  CHECK(json_line(json{{"x", "\xc2\x9b"}}, true) == "{\"x\":\"\\u009b\"}\n");
}

}  // namespace heddle::cli
