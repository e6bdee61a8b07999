// Malformed requests: each gets the right 4xx naming the field, and nothing changes.
#include <doctest/doctest.h>

#include "api/fixture_test.h"
#include "api/json.h"

namespace heddle::api {
namespace {

struct Bad {
  std::string target;  // "METHOD /path"
  std::string body;
  int status = 400;
  std::string pointer;  // of the first error; empty: not asked for
  web::Headers headers = {};
};

std::string nested(int depth) {
  return std::string(static_cast<std::size_t>(depth), '[') +
         std::string(static_cast<std::size_t>(depth), ']');
}

std::string numbers(int count) {
  std::string out = "[0";
  for (int i = 1; i < count; ++i) out += ",0";
  return out + "]";
}

const std::string kSubmit = "POST /v1/workloads";

// A workload with one more or one other field.
Bad with(const std::string& field, const std::string& pointer) {
  return {kSubmit, "{\"team\":\"vision\",\"command\":[\"true\"]," + field + "}", 400, pointer};
}

Bad asks(const std::string& resources, const std::string& pointer) {
  return with("\"resources\":" + resources, "/resources" + pointer);
}

const std::vector<Bad> kFields = {
    with(R"("name":"")", "/name"),
    with(R"("name":"UPPER")", "/name"),
    with(R"("name":"-a")", "/name"),
    with(R"("name":"a_b")", "/name"),
    with(R"("name":"a\u0000b")", "/name"),
    with(R"("name":"a\nb")", "/name"),
    with(R"("name":"<img src=x>")", "/name"),
    with("\"name\":\"" + std::string(64, 'a') + "\"", "/name"),
    with(R"("name":7)", "/name"),
    with(R"("name":null)", "/name"),
    with(R"("name":["a"])", "/name"),
    with(R"("project":"a\u001b[31m")", "/project"),
    with(R"("project":"\u0000")", "/project"),
    with(R"("project":"\u009b")", "/project"),
    with("\"project\":\"" + std::string(257, 'p') + "\"", "/project"),
    with(R"("project":{})", "/project"),
    with(R"("kind":"function")", "/kind"),
    with(R"("kind":1)", "/kind"),
    with(R"("kind":"Job")", "/kind"),
    with(R"("class":"gold")", "/class"),
    with(R"("class":true)", "/class"),
    with(R"("priority":1000001)", "/priority"),
    with(R"("priority":-1000001)", "/priority"),
    with(R"("priority":1.5)", "/priority"),
    with(R"("priority":"1")", "/priority"),
    with(R"("priority":4611686018427387904)", "/priority"),
    with(R"("priority":1e400)", ""),
    with(R"("env":[])", "/env"),
    with(R"("env":{"A":1})", "/env/A"),
    with(R"("env":{"1A":"x"})", "/env/1A"),
    with(R"("env":{"A=B":"x"})", "/env/A=B"),
    with(R"("env":{"":"x"})", "/env/"),
    with(R"("env":{"A/B":"x"})", "/env/A~1B"),
    with(R"("env":{"HEDDLE_RANK":"x"})", "/env/HEDDLE_RANK"),
    with(R"("env":{"A":"\u0000"})", "/env/A"),
    with(R"("env":{"A":"\u001b"})", "/env/A"),
    with("\"env\":{\"A\":\"" + std::string(70'000, 'x') + "\"}", "/env/A"),
    with(R"("files":{})", "/files"),
    with(R"("files":[1])", "/files/0"),
    with(R"("files":[{}])", "/files/0/path"),
    with(R"("files":[{"path":"a"}])", "/files/0/content"),
    with(R"("files":[{"path":"/etc/passwd","content":""}])", "/files/0/path"),
    with(R"("files":[{"path":"../a","content":""}])", "/files/0/path"),
    with(R"("files":[{"path":"a/../b","content":""}])", "/files/0/path"),
    with(R"("files":[{"path":"a//b","content":""}])", "/files/0/path"),
    with(R"("files":[{"path":"a/","content":""}])", "/files/0/path"),
    with(R"("files":[{"path":".","content":""}])", "/files/0/path"),
    with(R"("files":[{"path":"","content":""}])", "/files/0/path"),
    with(R"("files":[{"path":"a\u0000","content":""}])", "/files/0/path"),
    with(R"("files":[{"path":"a\\b","content":""}])", "/files/0/path"),
    with(R"("files":[{"path":"a","content":1}])", "/files/0/content"),
    with(R"("files":[{"path":"a","content":"\u0000"}])", "/files/0/content"),
    with(R"("files":[{"path":"a","content_base64":"???"}])", "/files/0/content_base64"),
    with(R"("files":[{"path":"a","content_base64":"YQ"}])", "/files/0/content_base64"),
    with(R"("files":[{"path":"a","content":"","content_base64":""}])", "/files/0/content_base64"),
    with(R"("files":[{"path":"a","content":"","executable":1}])", "/files/0/executable"),
    with(R"("files":[{"path":"a","content":"","mode":"0777"}])", "/files/0/mode"),
    with(R"("files":[{"path":"a","content":""},{"path":"a","content":""}])", "/files/1/path"),
    with(R"("files":[{"path":"a","content":""},{"path":"a/b","content":""}])", "/files/1/path"),
    with(R"("files":[{"path":"a/b","content":""},{"path":"a","content":""}])", "/files/1/path"),
    with("\"files\":[{\"path\":\"a\",\"content\":\"" + std::string(524'289, 'x') + "\"}]",
         "/files/0/content"),
    with(R"("nodes":0)", "/nodes"),
    with(R"("nodes":4097)", "/nodes"),
    with(R"("nodes":-1)", "/nodes"),
    with(R"("nodes":1.5)", "/nodes"),
    with(R"("nodes":"2")", "/nodes"),
    with(R"("procs_per_node":0)", "/procs_per_node"),
    with(R"("procs_per_node":513)", "/procs_per_node"),
    with(R"("pools":"h100")", "/pools"),
    with(R"("pools":[1])", "/pools/0"),
    with(R"("pools":["no-such-pool"])", "/pools/0"),
    with(R"("pools":["A B"])", "/pools/0"),
    with(R"("pools":["a","a"])", "/pools/1"),
    with(R"("time_limit":90)", "/time_limit"),
    with(R"("time_limit":"90")", "/time_limit"),
    with(R"("time_limit":"-1s")", "/time_limit"),
    with(R"("time_limit":"0s")", "/time_limit"),
    with(R"("time_limit":"1y")", "/time_limit"),
    with(R"("time_limit":"367d")", "/time_limit"),
    with(R"("time_limit":"99999999999999999999s")", "/time_limit"),
    with(R"("time_limit":"NaN")", "/time_limit"),
    with(R"("time_limit":"1 h")", "/time_limit"),
    with(R"("grace":"61m")", "/grace"),
    with(R"("grace":30)", "/grace"),
    with(R"("grace":"")", "/grace"),
    with(R"("retries":-1)", "/retries"),
    with(R"("retries":101)", "/retries"),
    with(R"("retries":true)", "/retries"),
    with(R"("team":"language")", "/team"),
    with(R"("id":"wl_1")", "/id"),
    with(R"("state":"running")", "/state"),
    with(R"("owner":"root")", "/owner"),
    with(R"("cost_micros":0)", "/cost_micros"),
    with(R"("version":3)", "/version"),
    with(R"("can":[])", "/can"),
    with(R"("gpus":4)", "/gpus"),
    with(R"("privileged":true)", "/privileged"),
    with(R"("command":["true"])", "/command"),
    with(R"("priority":1,"priority":2)", "/priority"),
};

const std::vector<Bad> kResources = {
    asks("[]", ""),
    asks("4", ""),
    asks(R"({"gpus":-1})", "/gpus"),
    asks(R"({"gpus":4.5})", "/gpus"),
    asks(R"({"gpus":513})", "/gpus"),
    asks(R"({"gpus":4611686018427387904})", "/gpus"),
    asks(R"({"gpus":1e30})", "/gpus"),
    asks(R"({"gpus":"4"})", "/gpus"),
    asks(R"({"gpus":null})", "/gpus"),
    asks(R"({"gpus":[4]})", "/gpus"),
    asks(R"({"gpu":0})", "/gpu"),
    asks(R"({"gpu":1})", "/gpu"),
    asks(R"({"gpu":-0.5})", "/gpu"),
    asks(R"({"gpu":0.0001})", "/gpu"),
    asks(R"({"gpu":0.12345})", "/gpu"),
    asks(R"({"gpu":"0.25"})", "/gpu"),
    asks(R"({"gpus":1,"gpu":0.5})", "/gpu"),
    asks(R"({"gpus":1,"gpu_memory":"1GiB"})", "/gpu_memory"),
    asks(R"({"gpu_memory":20})", "/gpu_memory"),
    asks(R"({"gpu_memory":"20"})", "/gpu_memory"),
    asks(R"({"gpu_memory":"20gb"})", "/gpu_memory"),
    asks(R"({"gpu_memory":"0GiB"})", "/gpu_memory"),
    asks(R"({"gpu_memory":"17TiB"})", "/gpu_memory"),
    asks(R"({"gpu_memory":"-1GiB"})", "/gpu_memory"),
    asks(R"({"gpus":1,"devices":2})", "/devices"),
    asks(R"({"devices":2})", "/devices"),
    asks(R"({"gpu":0.5,"devices":0})", "/devices"),
    asks(R"({"gpu":0.5,"devices":513})", "/devices"),
    asks(R"({"cpus":0})", "/cpus"),
    asks(R"({"cpus":-1})", "/cpus"),
    asks(R"({"cpus":0.0005})", "/cpus"),
    asks(R"({"cpus":1000001})", "/cpus"),
    asks(R"({"cpus":"4"})", "/cpus"),
    asks(R"({"memory":1073741824})", "/memory"),
    asks(R"({"memory":"1024TiB1"})", "/memory"),
    asks(R"({"memory":"2PiB"})", "/memory"),
    asks(R"({"memory":"NaN GB"})", "/memory"),
    asks(R"({"memory":""})", "/memory"),
    asks(R"({"disk":"1GB"})", "/disk"),
};

Bad submit(std::string body, std::string pointer = {}) {
  return {kSubmit, std::move(body), 400, std::move(pointer)};
}

const std::vector<Bad> kBodies = {
    submit("", ""),
    submit("{"),
    submit("nonsense"),
    submit("NaN"),
    submit("{\"command\":[\"a\"],}"),
    submit("{'command':['a']}"),
    submit("{\"command\":[\"a\"]} x"),
    submit("{\"priority\":NaN}", ""),
    submit("{\"priority\":Infinity}"),
    submit("{\"priority\":0x10}"),
    submit("{\"priority\":01}"),
    submit("null"),
    submit("[]"),
    submit("7"),
    submit("\"text\""),
    submit("{}", "/command"),
    submit(R"({"command":[]})", "/command"),
    submit(R"({"command":"true"})", "/command"),
    submit(R"({"command":[""]})", "/command/0"),
    submit(R"({"command":["a",7]})", "/command/1"),
    submit(R"({"command":["a","b\u0000c"]})", "/command/1"),
    submit(R"({"command":["a","b\u0007c"]})", "/command/1"),
    submit("{\"command\":[\"a\xff\"]}", "/command"),
    submit("{\"command\":[\"\xc0\xaf\"]}", "/command"),
    submit("{\"command\":[\"\xed\xa0\x80\"]}", "/command"),
    submit("{\"command\":[\"\\ud800\"]}"),
    submit("\xef\xbb\xbf{"),
    submit("{\"command\":" + nested(40) + "}"),
    submit("{\"command\":" + numbers(10'001) + "}"),
    submit(R"({"command":["a"],"team":"vision","team":"language"})", "/team"),
    submit(R"({"command":["a"],"resources":{"gpus":1,"gpus":2}})", "/resources/gpus"),
    {kSubmit, "{}", 415, "", {{"content-type", "text/plain"}}},
    {kSubmit, "{}", 415, "", {{"content-type", "application/x-www-form-urlencoded"}}},
    {kSubmit, "{}", 415, "", {{"content-type", "multipart/form-data"}}},
    {kSubmit, "{}", 415, "", {{"content-type", "application/json; charset=utf-16"}}},
    {kSubmit, "{}", 415, "", {{"content-type", "application/merge-patch+json"}}},
    {kSubmit, "{}", 415, "", {{"content-type", ""}}},
    {kSubmit, "{}", 415, "", {{"content-encoding", "gzip"}}},
    {kSubmit, "{}", 415, "", {{"content-encoding", "br"}}},
    {kSubmit, "{}", 400, "Idempotency-Key:", {{"idempotency-key", ""}}},
    {kSubmit, "{}", 400, "Idempotency-Key:", {{"idempotency-key", "a b"}}},
    {kSubmit, "{}", 400, "Idempotency-Key:", {{"idempotency-key", std::string(129, 'k')}}},
};

const std::vector<Bad> kOthers = {
    {"GET /v1/workloads?limit=0", "", 400, "?limit"},
    {"GET /v1/workloads?limit=1001", "", 400, "?limit"},
    {"GET /v1/workloads?limit=x", "", 400, "?limit"},
    {"GET /v1/workloads?limit=1&limit=2", "", 400, "?limit"},
    {"GET /v1/workloads?cursor=abc", "", 400, "?cursor"},
    {"GET /v1/workloads?cursor=", "", 400, "?cursor"},
    {"GET /v1/workloads?state=done", "", 400, "?state"},
    {"GET /v1/workloads?class=x", "", 400, "?class"},
    {"GET /v1/workloads?kind=x", "", 400, "?kind"},
    {"GET /v1/workloads?all=yes", "", 400, "?all"},
    {"GET /v1/workloads?name=A", "", 400, "?name"},
    {"GET /v1/workloads?team=A%20B", "", 400, "?team"},
    {"GET /v1/workloads?team=%00", "", 400, "?team"},
    {"GET /v1/workloads?team=%ff", "", 400, "?team"},
    {"GET /v1/workloads?team=%zz", "", 400, "?"},
    {"GET /v1/workloads?colour=red", "", 400, "?colour"},
    {"GET /v1/workloads?team=no-such-team", "", 404, ""},
    {"GET /v1/workloads?token=x", "", 400, "?token"},
    {"GET /v1/workloads?access_token=x", "", 400, "?access_token"},
    {"GET /v1/workloads/wl_zzzz", "", 404, ""},
    {"GET /v1/workloads/wl_0", "", 404, ""},
    {"GET /v1/workloads/nonsense", "", 404, ""},
    {"GET /v1/nothing", "", 404, ""},
    {"GET /v1/workloads/", "", 404, ""},
    {"GET //v1/workloads", "", 404, ""},
    {"PUT /v1/workloads", "{}", 405, ""},
    {"DELETE /v1/teams", "", 405, ""},
    {"TRACE /v1/teams", "", 405, ""},
    {"PATCH /v1/users", "{}", 405, ""},
    {"POST /v1/workloads?dry_run=maybe", "{\"command\":[\"a\"]}", 400, "?dry_run"},
    {"GET /v1/teams", "{}", 400, ""},
    {"POST /v1/teams", "{}", 400, "/name"},
    {"POST /v1/teams", R"({"name":"a","id":"tm_1"})", 400, "/id"},
    {"POST /v1/teams", R"({"name":"a","extra":1})", 400, "/extra"},
    {"POST /v1/teams", R"({"name":"a","display":"\u0007"})", 400, "/display"},
    {"POST /v1/teams", R"({"name":"a","parent":"no-such-team"})", 404, ""},
    {"POST /v1/teams", R"({"name":"vision"})", 409, "/name"},
    {"PATCH /v1/teams/vision", R"({"display":"x"})", 428, "If-Match:"},
    {"PATCH /v1/teams/vision", R"({"display":"x"})", 412, "", {{"if-match", "\"7\""}}},
    {"PATCH /v1/teams/vision", R"({"display":"x"})", 400, "If-Match:", {{"if-match", "x"}}},
    {"PATCH /v1/teams/vision", R"({"display":"x"})", 400, "If-Match:", {{"if-match", "-1"}}},
    {"PATCH /v1/teams/vision", "{}", 400, "", {{"if-match", "*"}}},
    {"PATCH /v1/teams/vision", R"({"name":null})", 400, "/name", {{"if-match", "*"}}},
    {"PUT /v1/teams/vision/members/ana", R"({"role":"king"})", 400, "/role"},
    {"PUT /v1/teams/vision/members/ana", "{}", 400, "/role"},
    {"PUT /v1/teams/vision/members/nobody", R"({"role":"viewer"})", 404, ""},
    {"PUT /v1/teams/vision/shares/h100", "{}", 428, "If-Match:"},
    {"PUT /v1/teams/vision/shares/h100", "{}", 400, "/guarantee", {{"if-match", "*"}}},
    {"PUT /v1/teams/vision/shares/h100",
     R"({"guarantee":-1})",
     400,
     "/guarantee",
     {{"if-match", "*"}}},
    {"PUT /v1/teams/vision/shares/h100",
     R"({"guarantee":0.0001})",
     400,
     "/guarantee",
     {{"if-match", "*"}}},
    {"PUT /v1/teams/vision/shares/h100",
     R"({"guarantee":2,"limit":1})",
     400,
     "/limit",
     {{"if-match", "*"}}},
    {"PUT /v1/teams/vision/shares/h100",
     R"({"guarantee":9})",
     422,
     "/guarantee",
     {{"if-match", "*"}}},
    {"PUT /v1/teams/vision/shares/h100",
     R"({"guarantee":1,"weight":0})",
     400,
     "/weight",
     {{"if-match", "*"}}},
    {"PUT /v1/teams/vision/shares/h100", R"({"guarantee":1})", 412, "", {{"if-match", "\"5\""}}},
    {"POST /v1/users", R"({"name":"a","admin":"yes"})", 400, "/admin"},
    {"POST /v1/users", R"({"name":"ana"})", 409, "/name"},
    {"POST /v1/tokens", "{}", 400, "/name"},
    {"POST /v1/tokens", R"({"name":"a","lives":"500d"})", 400, "/lives"},
    {"POST /v1/tokens", R"({"name":"a","lives":3})", 400, "/lives"},
    {"POST /v1/tokens", R"({"name":"a","secret":"x"})", 400, "/secret"},
    {"DELETE /v1/tokens/tk_vvvv", "", 404, ""},
    {"PATCH /v1/nodes/box", R"({"state":"lost"})", 400, "/state", {{"if-match", "*"}}},
    {"PATCH /v1/nodes/box", R"({"state":"ready","name":"x"})", 400, "/name", {{"if-match", "*"}}},
    {"PATCH /v1/nodes/nothing", R"({"state":"ready"})", 404, "", {{"if-match", "*"}}},
    {"GET /v1/events?cursor=zz", "", 400, "?cursor"},
    {"GET /v1/events?workload=zz", "", 400, "?workload"},
    {"GET /v1/allocations?workload=zz", "", 400, "?workload"},
    {"GET /v1/audit?limit=-1", "", 400, "?limit"},
};

std::string first_pointer(const std::string& problem) {
  const auto value = parse_json(problem);
  if (!value) return "not JSON";
  for (const JsonMember& member : value->members)
    if (member.name == "errors") return member.value.items.at(0).members.at(0).value.text;
  return "";
}

}  // namespace

TEST_CASE("every malformed request is refused by name and changes nothing") {
  ApiFixture api;
  api.make_team("vision");
  api.make_user("ana", "vision", "developer");
  api.settle();
  const auto before = api.controller->view();
  std::size_t count = 0;
  for (const auto& table : {kFields, kResources, kBodies, kOthers}) {
    for (const Bad& bad : table) {
      CAPTURE(bad.target);
      CAPTURE(bad.body.substr(0, 200));
      const auto space = bad.target.find(' ');
      const Reply reply = api.ask(api.admin, bad.target.substr(0, space),
                                  bad.target.substr(space + 1), bad.body, bad.headers);
      CHECK_MESSAGE(reply.status() == bad.status, reply.body());
      CHECK(reply.header("Content-Type") == "application/problem+json");
      CHECK(reply.field("request_id").starts_with("rq_"));
      if (!bad.pointer.empty()) CHECK(first_pointer(reply.body()) == bad.pointer);
      ++count;
    }
  }
  CHECK(count >= 150);
  api.settle();
  CHECK(State::same_facts(before->state, api.controller->view()->state));
  CHECK(before->last_feed_seq == api.controller->view()->last_feed_seq);
}

TEST_CASE("numbers are taken as programs print them") {
  ApiFixture api;
  api.make_team("vision");
  api.settle();
  for (const char* asked :
       {R"({"gpus":4.0})", R"({"gpus":40e-1})", R"({"gpus":0.4E+1})",
        R"({"gpu":0.30000000000000004})", R"({"gpu":2.5e-1})", R"({"gpus":1,"cpus":0.1000})"}) {
    CAPTURE(asked);
    const std::string body = R"({"team":"vision","command":["a"],"resources":)";
    CHECK(api.ask(api.admin, "POST", "/v1/workloads?dry_run=true", body + asked + "}").status() ==
          200);
  }
}

}  // namespace heddle::api
