#include "api/fixture_test.h"

#include <algorithm>
#include <chrono>

namespace heddle::api {
namespace {

class Recorder : public web::Responder {
 public:
  void respond(web::Response response) override {
    HEDDLE_CHECK(!answered);
    answered = true;
    reply.response = std::move(response);
  }
  std::shared_ptr<web::Stream> stream(web::Response head) override {
    respond(std::move(head));
    reply.stream = std::make_shared<StreamProbe>();
    return reply.stream;
  }
  Reply reply;
  bool answered = false;
};

}  // namespace

Result<LogPage> LoggingEngine::read_log(const LogQuery& query) {
  const std::lock_guard lock{mutex_};
  LogPage page;
  std::int64_t at = query.from.offset;
  const auto size = static_cast<std::int64_t>(lines_.size());
  if (query.tail > 0) at = std::max<std::int64_t>(0, size - query.tail);
  for (; at < size; ++at)
    page.lines.push_back({{}, LogStream::kOut, false, lines_[static_cast<std::size_t>(at)]});
  page.next = {0, at};
  page.at_end = true;
  page.finished = finished_;
  return page;
}

std::unique_ptr<Engine::LogWatch> LoggingEngine::watch_log(const LogQuery&,
                                                           std::function<void()> grown) {
  const std::lock_guard lock{mutex_};
  grown_ = std::move(grown);
  return std::make_unique<LogWatch>();
}

void LoggingEngine::print(const std::string& line) {
  std::function<void()> grown;
  {
    const std::lock_guard lock{mutex_};
    lines_.push_back(line);
    grown = grown_;
  }
  grown();
}

void LoggingEngine::finish() {
  std::function<void()> grown;
  {
    const std::lock_guard lock{mutex_};
    finished_ = true;
    grown = grown_;
  }
  grown();
}

bool StreamProbe::write(std::string bytes) {
  const std::lock_guard lock{mutex_};
  if (closed_) return false;
  seen_ += bytes;
  changed_.notify_all();
  return true;
}

void StreamProbe::close() {
  std::function<void()> closed;
  {
    const std::lock_guard lock{mutex_};
    closed_ = true;
    closed.swap(on_closed_);
    changed_.notify_all();
  }
  if (closed) closed();
}

void StreamProbe::on_closed(std::function<void()> closed) {
  const std::lock_guard lock{mutex_};
  on_closed_ = std::move(closed);
}

bool StreamProbe::wait_for(const std::string& text) {
  std::unique_lock lock{mutex_};
  return changed_.wait_for(lock, std::chrono::seconds{5},
                           [&] { return seen_.find(text) != seen_.npos; });
}

bool StreamProbe::wait_closed() {
  std::unique_lock lock{mutex_};
  return changed_.wait_for(lock, std::chrono::seconds{5}, [&] { return closed_; });
}

std::string StreamProbe::seen() {
  const std::lock_guard lock{mutex_};
  return seen_;
}

std::string Reply::header(const std::string& name) const {
  for (const auto& [n, value] : response.headers)
    if (n == name) return value;
  return {};
}

std::string Reply::field(const std::string& name) const {
  const std::string key = "\"" + name + "\":";
  const auto at = body().find(key);
  if (at == std::string::npos) return {};
  const bool text = body()[at + key.size()] == '"';
  const auto start = at + key.size() + (text ? 1 : 0);
  return body().substr(start, body().find_first_of(text ? "\"" : ",]}", start) - start);
}

ApiFixture::ApiFixture(ApiOptions options) : store{make_memory_store()} {
  FoundNode node{"box", "H100-80GB", true, 64'000, 512LL << 30, {}};
  for (int d = 0; d < 8; ++d)
    node.devices.push_back({"GPU-" + std::to_string(d), 80LL << 30, DeviceHealth::kHealthy});
  world.nodes.push_back(node);
  world.advance(clock.read().wall);
  engine = std::make_unique<LoggingEngine>(world);
  const std::vector<SiteEngine> engines{{"box", engine.get()}};
  controller = std::make_unique<Controller>(*store, engines, clock, ids, ControllerOptions{});
  controller->on_change([this] {
    if (api) api->state_changed();
  });
  auto token = controller->open();
  HEDDLE_CHECK(token.has_value() && !token->empty());
  admin = *token;
  api = std::make_unique<Api>(*controller, *store, engines, std::move(options));
  handler = api->handler();
  settle();
}

void ApiFixture::settle(Duration by) {
  clock.boot_ms += by.ms;
  world.advance(clock.read().wall);
  for (int i = 0; i < 20; ++i) (void)controller->step();
}

Reply ApiFixture::send(web::Request request) {
  auto recorder = std::make_shared<Recorder>();
  handler(std::move(request), recorder);
  for (int i = 0; i < 3 && !recorder->answered; ++i) (void)controller->step();
  HEDDLE_CHECK(recorder->answered);
  return recorder->reply;
}

Reply ApiFixture::ask(const std::string& token, const std::string& method,
                      const std::string& target, const std::string& body, web::Headers headers) {
  web::Request request;
  request.method = method;
  const auto mark = std::min(target.find('?'), target.size());
  request.path = target.substr(0, mark);
  request.query = target.substr(std::min(mark + 1, target.size()));
  request.headers = std::move(headers);
  const auto add = [&](const char* name, const std::string& value) {
    for (const auto& [n, v] : request.headers)
      if (n == name) return;
    request.headers.emplace_back(name, value);
  };
  add("host", "localhost:7070");
  if (!token.empty()) add("authorization", "Bearer " + token);
  if (!body.empty()) add("content-type", "application/json");
  request.body = body;
  request.peer = "127.0.0.1";
  return send(std::move(request));
}

std::string ApiFixture::make_team(const std::string& name) {
  const Reply reply = ask(admin, "POST", "/v1/teams", "{\"name\":\"" + name + "\"}");
  HEDDLE_CHECK(reply.status() == 201);
  return reply.field("id");
}

std::string ApiFixture::make_user(const std::string& name, const std::string& team,
                                  const std::string& role) {
  HEDDLE_CHECK(ask(admin, "POST", "/v1/users", "{\"name\":\"" + name + "\"}").status() == 201);
  if (!team.empty())
    HEDDLE_CHECK(
        ask(admin, "PUT", "/v1/teams/" + team + "/members/" + name, "{\"role\":\"" + role + "\"}")
            .status() == 200);
  const Reply token =
      ask(admin, "POST", "/v1/tokens", "{\"name\":\"laptop\",\"user\":\"" + name + "\"}");
  HEDDLE_CHECK(token.status() == 201);
  return token.field("secret");
}

}  // namespace heddle::api
