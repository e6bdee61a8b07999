#include "api/api.h"

#include <doctest/doctest.h>

#include "api/fixture_test.h"
#include "api/route.h"
#include "api/token_check.h"

namespace heddle::api {
namespace {

const std::string kJob = R"({"command":["run","1000","0"],"resources":{"gpu":0.25}})";

// A body without its request id, which differs every time.
std::string plain(const Reply& reply) {
  std::string body = reply.body();
  const std::string id = reply.field("request_id");
  const auto at = body.find(id);
  return id.empty() ? body : body.replace(at, id.size(), "");
}

// Two teams with a developer each; the second one's name is a canary.
struct TwoTeams : ApiFixture {
  TwoTeams()
      : vision{make_team("vision")},
        canary{make_team("canary-team")},
        ana{make_user("ana", vision, "developer")},
        eve{make_user("canary-eve", canary, "team_admin")},
        vera{make_user("vera", vision, "viewer")} {}
  std::string submit(const std::string& token, const std::string& body = kJob) {
    const Reply reply = ask(token, "POST", "/v1/workloads", body);
    REQUIRE_MESSAGE(reply.status() == 201, reply.body());
    return reply.field("id");
  }
  std::string vision, canary, ana, eve, vera;
};

std::string at_path(std::string_view path, const std::string& id) {
  std::string out;
  for (std::size_t i = 0; i < path.size(); ++i) {
    if (path[i] != '{') {
      out.push_back(path[i]);
      continue;
    }
    out += id;
    i = path.find('}', i);
  }
  return out;
}

}  // namespace

TEST_CASE("a job goes in, waits, runs, ends and leaves a receipt") {
  TwoTeams api;
  const std::string id = api.submit(
      api.ana,
      R"({"name":"train","command":["run","60000","0"],"resources":{"gpus":2},"time_limit":"2h"})");
  Reply job = api.ask(api.ana, "GET", "/v1/workloads/" + id);
  CHECK(job.status() == 200);
  CHECK(job.field("class") == "training");
  CHECK(job.field("time_limit_ms") == "7200000");
  CHECK(job.field("gpu_milli") == "2000");
  CHECK(job.header("ETag") == "\"" + job.field("version") + "\"");
  CHECK(job.body().find("\"command\":[\"run\",\"60000\",\"0\"]") != std::string::npos);
  api.settle(Duration::seconds(1));
  job = api.ask(api.ana, "GET", "/v1/workloads/" + id);
  CHECK(job.field("state") == "running");
  CHECK(job.field("held_gpu_milli") == "2000");
  CHECK(job.body().find("\"node_names\":[\"box\"]") != std::string::npos);
  CHECK(api.ask(api.ana, "GET", "/v1/workloads/" + id + "/why").field("sentence") == "It runs.");
  api.settle(Duration::seconds(60));
  api.settle(Duration::seconds(1));
  CHECK(api.ask(api.ana, "GET", "/v1/workloads/" + id).field("state") == "succeeded");
  const Reply receipt = api.ask(api.ana, "GET", "/v1/workloads/" + id + "/receipt");
  CHECK(receipt.field("final") == "true");
  CHECK(std::stoll(receipt.field("charged_gpu_milli_ms")) >= 2000 * 60'000);
  CHECK(api.ask(api.ana, "GET", "/v1/workloads").body().find(id) == std::string::npos);
  CHECK(api.ask(api.ana, "GET", "/v1/workloads?all=true").body().find(id) != std::string::npos);
  CHECK(api.ask(api.ana, "GET", "/v1/allocations?workload=" + id).field("state") == "released");
}

TEST_CASE("what waits says why, in numbers and in words") {
  TwoTeams api;
  api.submit(api.eve, R"({"command":["run"],"resources":{"gpus":6}})");
  api.settle(Duration::seconds(1));
  const std::string id = api.submit(api.ana, R"({"command":["run"],"resources":{"gpus":4}})");
  api.settle();
  const Reply why = api.ask(api.ana, "GET", "/v1/workloads/" + id + "/why");
  CHECK(why.field("code") == "no_free_devices");
  CHECK(why.field("free_gpu_milli") == "2000");
  CHECK(why.field("place_in_team") == "1");
  CHECK(why.field("sentence").find("6 by other teams") != std::string::npos);
  CHECK(why.body().find("canary") == std::string::npos);
}

TEST_CASE("a dry run says what would happen and changes nothing") {
  TwoTeams api;
  const auto before = api.controller->view()->last_feed_seq;
  const Reply plan =
      api.ask(api.ana, "POST", "/v1/workloads?dry_run=true",
              R"({"command":["a"],"kind":"workspace","resources":{"gpu":0.5},"time_limit":"4h"})");
  CHECK(plan.status() == 200);
  CHECK(plan.field("class") == "development");
  CHECK(plan.field("team_name") == "vision");
  CHECK(plan.field("price_micros_per_hour") == "500000");
  CHECK(plan.field("cost_micros_max") == "2000000");
  CHECK(api.ask(api.ana, "POST", "/v1/workloads?dry_run=true",
                R"({"command":["a"],"resources":{"gpus":100}})")
            .status() == 422);
  CHECK(api.controller->view()->last_feed_seq == before);
}

TEST_CASE("nobody gets in without a token, by another name, from another page or by the URL") {
  TwoTeams api;
  const std::string wrong =
      api.ana.substr(0, api.ana.size() - 1) + (api.ana.back() == '0' ? "1" : "0");
  for (const Route& route : routes()) {
    const std::string method{route.method};
    const std::string path = at_path(route.path, "wl_1");
    CAPTURE(path);
    const int none = route.open ? 200 : 401;
    CHECK(api.ask("", method, path).status() == none);
    CHECK(api.ask(wrong, method, path).status() == none);
    CHECK(api.ask("nonsense", method, path).status() == none);
    CHECK(api.ask("", method, path, {}, {{"cookie", "token=" + api.ana}}).status() == none);
    CHECK(api.ask(api.ana, method, path, {}, {{"host", "evil.example"}}).status() == 421);
    CHECK(api.ask(api.ana, method, path, {}, {{"host", ""}}).status() == 421);
    for (const char* origin : {"http://evil.example", "null", "http://localhost:1", ""})
      CHECK(api.ask(api.ana, method, path, {}, {{"origin", origin}}).status() == 403);
    CHECK(api.ask(api.ana, method, path + "?token=" + api.ana).status() == 400);
    if (route.body != Body::kNone && path.find("wl_1") == path.npos)
      CHECK(api.ask(api.admin, method, path, "{}", {{"content-type", "text/plain"}}).status() ==
            415);
  }
  CHECK(api.ask(api.ana, "GET", "/v1/whoami", {}, {{"origin", "http://localhost:7070"}}).status() ==
        200);
  CHECK(api.ask("", "GET", "/v1/nothing").status() == 401);
  CHECK(api.ask("", "OPTIONS", "/v1/teams").status() == 401);
  CHECK(api.ask(api.ana, "OPTIONS", "/v1/teams").header("Allow") == "GET, HEAD, POST, OPTIONS");
  CHECK(api.ask(api.ana, "HEAD", "/v1/teams").status() == 200);
}

TEST_CASE("the work of checking a token does not tell whether its id exists") {
  TwoTeams api;
  const State& state = api.controller->view()->state;
  TokenCheck check;
  const Instant now = api.controller->now();
  const std::string unknown = "heddle_tk_vvvvvv_" + std::string(64, 'a');
  const std::string wrong = api.ana.substr(0, api.ana.size() - 64) + std::string(64, 'a');
  std::uint64_t calls = 0;
  for (const std::string& text : {unknown, wrong, std::string{}, std::string{"heddle_"}}) {
    CHECK_FALSE(check.check(state, "Bearer " + text, now));
    CHECK(check.hashes() == ++calls);
  }
  CHECK(check.check(state, "bearer " + api.ana, now));
  CHECK(check.hashes() == ++calls);
  CHECK_FALSE(check.check(state, "Bearer " + api.ana, now + Duration::hours(24 * 31)));
}

TEST_CASE("what is foreign and what is not there read the same, on every route") {
  TwoTeams api;
  const std::string theirs = api.submit(api.eve);
  api.submit(api.ana);
  api.settle(Duration::seconds(2));
  api.settle(Duration::seconds(2));
  for (const Route& route : routes()) {
    if (route.path.find('{') == route.path.npos) continue;
    const bool team = route.path.find("{team_id}") != route.path.npos;
    if (!team && route.path.find("{workload_id}") == route.path.npos) continue;
    const std::string foreign = at_path(route.path, team ? api.canary : theirs);
    const std::string absent = at_path(route.path, team ? "tm_vvvv" : "wl_vvvv");
    CAPTURE(route.path);
    const Reply one = api.ask(api.ana, std::string{route.method}, foreign);
    const Reply other = api.ask(api.ana, std::string{route.method}, absent);
    CHECK(one.status() == 404);
    CHECK(plain(one) == plain(other));
  }
  CHECK(plain(api.ask(api.ana, "GET", "/v1/workloads?team=canary-team")) ==
        plain(api.ask(api.ana, "GET", "/v1/workloads?team=no-such-team")));
}

TEST_CASE("no answer to a stranger names another team, its people or its work") {
  TwoTeams api;
  api.submit(api.eve, R"({"name":"canary-job","command":["run","9","0"],"resources":{"gpus":8}})");
  const std::string own = api.submit(api.ana);
  api.settle(Duration::seconds(1));
  for (const Route& route : routes()) {
    if (route.method != "GET" || route.path.find("{team_id}") != route.path.npos) continue;
    const bool node = route.path.find("{node_id}") != route.path.npos;
    const Reply reply = api.ask(api.ana, "GET", at_path(route.path, node ? "box" : own));
    CAPTURE(route.path);
    CHECK(reply.body().find("canary") == std::string::npos);
  }
  CHECK(api.ask(api.ana, "GET", "/v1/audit").status() == 403);
  CHECK(api.ask(api.admin, "GET", "/v1/audit").body().find("workload.submit") != std::string::npos);
}

TEST_CASE("a viewer sees state and amounts, but no commands, and runs nothing") {
  TwoTeams api;
  const std::string id = api.submit(api.ana);
  const Reply job = api.ask(api.vera, "GET", "/v1/workloads/" + id);
  CHECK(job.field("command") == "null");
  CHECK(job.field("env") == "null");
  CHECK(api.ask(api.vera, "GET", "/v1/workloads/" + id + "/logs").status() == 403);
  CHECK(api.ask(api.vera, "POST", "/v1/workloads/" + id + "/cancel").status() == 403);
  CHECK(
      api.ask(api.vera, "POST", "/v1/workloads", R"({"team":"vision","command":["a"]})").status() ==
      403);
  CHECK(api.ask(api.ana, "POST", "/v1/users", R"({"name":"x"})").status() == 403);
  CHECK(api.ask(api.ana, "POST", "/v1/tokens", R"({"name":"x","user":"vera"})").status() == 403);
}

TEST_CASE("lists go page by page; a cursor is good for its owner and its list only") {
  TwoTeams api;
  std::vector<std::string> ids;
  for (int i = 0; i < 7; ++i) ids.push_back(api.submit(api.ana));
  std::vector<std::string> seen;
  std::string cursor;
  std::string first_cursor;
  do {
    const std::string more = cursor.empty() ? "" : "&cursor=" + cursor;
    const Reply page = api.ask(api.ana, "GET", "/v1/workloads?limit=3" + more);
    REQUIRE(page.status() == 200);
    for (auto at = page.body().find("{\"id\":\""); at != std::string::npos;
         at = page.body().find("{\"id\":\"wl_", at + 1))
      seen.push_back(page.body().substr(at + 7, page.body().find('"', at + 7) - at - 7));
    cursor = page.field("next_cursor");
    if (first_cursor.empty()) first_cursor = cursor;
  } while (cursor != "null");
  std::reverse(ids.begin(), ids.end());
  CHECK(seen == ids);
  CHECK(api.ask(api.eve, "GET", "/v1/workloads?limit=3&cursor=" + first_cursor).status() == 400);
  CHECK(api.ask(api.ana, "GET", "/v1/workloads?state=waiting&cursor=" + first_cursor).status() ==
        400);
  CHECK(api.ask(api.ana, "GET", "/v1/teams?cursor=" + first_cursor).status() == 400);
  std::string other_key = first_cursor;
  other_key[0] = other_key[0] == 'a' ? 'b' : 'a';
  CHECK(api.ask(api.ana, "GET", "/v1/workloads?cursor=" + other_key).status() == 410);
}

TEST_CASE("a create with a key happens once; the key for something else is refused") {
  TwoTeams api;
  const web::Headers key{{"idempotency-key", "k1"}};
  const Reply first = api.ask(api.ana, "POST", "/v1/workloads", kJob, key);
  const Reply again = api.ask(api.ana, "POST", "/v1/workloads", kJob, key);
  CHECK(first.status() == 201);
  CHECK(again.status() == 201);
  CHECK(first.field("id") == again.field("id"));
  CHECK(api.ask(api.ana, "POST", "/v1/workloads", R"({"command":["b"]})", key).field("code") ==
        "idempotency_conflict");
  CHECK(api.ask(api.eve, "POST", "/v1/workloads", kJob, key).field("id") != first.field("id"));
  const Reply token = api.ask(api.ana, "POST", "/v1/tokens", R"({"name":"ci"})", key);
  CHECK(token.field("secret").starts_with("heddle_tk_"));
  CHECK(api.ask(api.ana, "POST", "/v1/tokens", R"({"name":"ci"})", key).field("secret").empty());
}

TEST_CASE("updates want the version that was seen") {
  TwoTeams api;
  const Reply share = api.ask(api.admin, "GET", "/v1/teams/vision/shares/h100");
  CHECK(share.header("ETag") == "\"0\"");
  const Reply set = api.ask(api.admin, "PUT", "/v1/teams/vision/shares/h100",
                            R"({"guarantee":2.5,"limit":4})", {{"if-match", "\"0\""}});
  CHECK(set.status() == 200);
  CHECK(set.field("guarantee_gpu_milli") == "2500");
  CHECK(api.ask(api.admin, "PUT", "/v1/teams/vision/shares/h100", R"({"guarantee":1})",
                {{"if-match", "\"0\""}})
            .status() == 412);
  CHECK(api.ask(api.admin, "PATCH", "/v1/teams/vision", R"({"display":"Vision"})",
                {{"if-match", "\"1\""}, {"content-type", "application/merge-patch+json"}})
            .field("display") == "Vision");
  CHECK(api.ask(api.admin, "PATCH", "/v1/nodes/box", R"({"state":"draining"})", {{"if-match", "*"}})
            .field("state") == "draining");
}

TEST_CASE("cancelling twice, and what has ended, changes nothing more") {
  TwoTeams api;
  const std::string path = "/v1/workloads/" + api.submit(api.ana) + "/cancel";
  CHECK(api.ask(api.ana, "POST", path).field("cancel_requested") == "true");
  CHECK(api.ask(api.ana, "POST", path, "{}").status() == 200);
  for (int i = 0; i < 4; ++i) api.settle(Duration::minutes(1));
  CHECK(api.ask(api.ana, "POST", path).field("state") == "cancelled");
  CHECK(api.ask(api.ana, "POST", path, R"({"x":1})").status() == 400);
  CHECK(api.ask(api.ana, "POST", path, {}, {{"if-match", "\"99\""}}).status() == 412);
}

TEST_CASE("the feed is followed live, resumes, and shows one's own teams only") {
  TwoTeams api;
  const web::Headers sse{{"accept", "text/event-stream"}};
  auto feed = api.ask(api.ana, "GET", "/v1/events", {}, sse).stream;
  REQUIRE(feed);
  api.submit(api.eve, R"({"name":"canary-job","command":["run"]})");
  const std::string id = api.submit(api.ana);
  CHECK(feed->wait_for("\"subject_id\":\"" + id + "\",\"what\":\"submitted\""));
  CHECK(feed->seen().find("canary") == std::string::npos);
  const std::string seen = feed->seen();
  const auto at = seen.find("id: ");
  const std::string last = seen.substr(at + 4, seen.find('\n', at) - at - 4);
  const std::string next_id = api.submit(api.ana);
  auto resumed = api.ask(api.ana, "GET", "/v1/events", {},
                         {{"accept", "text/event-stream"}, {"last-event-id", last}})
                     .stream;
  REQUIRE(resumed);
  CHECK(resumed->wait_for(next_id));
  CHECK(api.ask(api.eve, "GET", "/v1/events", {},
                {{"accept", "text/event-stream"}, {"last-event-id", last}})
            .status() == 400);
}

TEST_CASE("a token that is revoked closes what it opened") {
  TwoTeams api;
  auto feed = api.ask(api.ana, "GET", "/v1/events", {}, {{"accept", "text/event-stream"}}).stream;
  REQUIRE(feed);
  const std::string token = api.ana.substr(7, api.ana.rfind('_') - 7);
  CHECK(api.ask(api.eve, "DELETE", "/v1/tokens/" + token).status() == 404);
  CHECK(api.ask(api.ana, "DELETE", "/v1/tokens/" + token).status() == 204);
  CHECK(feed->wait_closed());
  CHECK(api.ask(api.ana, "GET", "/v1/whoami").status() == 401);
}

TEST_CASE("logs come as pages and live, and end when the work has ended") {
  TwoTeams api;
  const std::string id = api.submit(api.ana, R"({"command":["run","5000","0"]})");
  const std::string path = "/v1/workloads/" + id + "/logs";
  auto live = api.ask(api.ana, "GET", path, {}, {{"accept", "text/event-stream"}}).stream;
  REQUIRE(live);
  api.settle(Duration::seconds(1));
  api.engine->print("hello \x1b[31m<b>\xff");
  CHECK(live->wait_for("hello \\u001b[31m<b>\xef\xbf\xbd"));
  const Reply page = api.ask(api.ana, "GET", path + "?tail=10");
  CHECK(page.body().find("hello") != std::string::npos);
  const std::string cursor = page.field("next_cursor");
  CHECK(api.ask(api.ana, "GET", path + "?cursor=" + cursor).body().find("hello") ==
        std::string::npos);
  CHECK(api.ask(api.ana, "GET", path + "?replica=1").status() == 400);
  api.settle(Duration::seconds(5));
  api.settle(Duration::seconds(1));
  api.engine->print("last");
  api.engine->finish();
  CHECK(live->wait_for("event: end"));
  CHECK(live->wait_closed());
  CHECK(live->seen().find("last") != std::string::npos);
}

TEST_CASE("who asks too often is told to wait") {
  ApiOptions options;
  options.per_user = {1, 5};
  options.failed_logins = {1, 3};
  ApiFixture api{options};
  int limited = 0;
  for (int i = 0; i < 10; ++i)
    if (api.ask(api.admin, "GET", "/v1/teams").status() == 429) ++limited;
  CHECK(limited == 5);
  for (int i = 0; i < 3; ++i) CHECK(api.ask("x", "GET", "/v1/teams").status() == 401);
  const Reply slow = api.ask("x", "GET", "/v1/teams");
  CHECK(slow.status() == 429);
  CHECK(slow.header("Retry-After") == "1");
}

}  // namespace heddle::api
