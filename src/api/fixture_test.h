// ApiFixture: the whole API over a real controller, in one process, for tests.
#pragma once

#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "api/api.h"
#include "api/digest.h"
#include "base/check.h"
#include "engine/fake/fake_engine.h"
#include "store/memory/memory_store.h"

namespace heddle::api {

class TestClock : public Clock {
 public:
  ClockReading read() override {
    return {boot_ms, "boot", Instant{1'780'000'000'000 + boot_ms.load()}};
  }
  std::atomic<std::int64_t> boot_ms{0};
};

class TestIds : public IdSource {
 public:
  std::uint64_t next(Instant) override { return ++last_; }
  void start_after(std::uint64_t last) override { last_ = std::max(last, last_); }
  NewSecret new_secret() override {
    NewSecret secret;
    const std::string bytes = random_bytes(32);
    std::copy(bytes.begin(), bytes.end(), secret.bytes.begin());
    secret.hash = sha256(bytes);
    return secret;
  }

 private:
  std::uint64_t last_ = 1000;
};

// A program's log that the test writes.
class LoggingEngine : public FakeEngine {
 public:
  using FakeEngine::FakeEngine;
  Result<LogPage> read_log(const LogQuery& query) override;
  std::unique_ptr<LogWatch> watch_log(const LogQuery&, std::function<void()> grown) override;
  void print(const std::string& line);
  void finish();

 private:
  std::mutex mutex_;
  std::vector<std::string> lines_;
  bool finished_ = false;
  std::function<void()> grown_ = [] {};
};

// What a client of a stream sees.
class StreamProbe : public web::Stream {
 public:
  bool write(std::string bytes) override;
  std::size_t unsent() override { return 0; }
  void close() override;
  void on_closed(std::function<void()> closed) override;

  bool wait_for(const std::string& text);  // within 5 s
  bool wait_closed();
  std::string seen();

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::string seen_;
  bool closed_ = false;
  std::function<void()> on_closed_;
};

struct Reply {
  web::Response response;
  std::shared_ptr<StreamProbe> stream;  // when it became one
  int status() const { return response.status; }
  const std::string& body() const { return response.body; }
  std::string header(const std::string& name) const;
  // The text behind "name": in the body, to the next comma, bracket or quote; empty when absent.
  std::string field(const std::string& name) const;
};

class ApiFixture {
 public:
  explicit ApiFixture(ApiOptions options = {});

  // As `token` ("" for none). A body gets Content-Type application/json unless `headers` says so.
  Reply ask(const std::string& token, const std::string& method, const std::string& target,
            const std::string& body = {}, web::Headers headers = {});
  Reply send(web::Request request);
  // Rounds of the controller until nothing moves; the world goes on by `by`.
  void settle(Duration by = {});
  // A user with a token of his own, in `team` with `role` when it is not empty.
  std::string make_user(const std::string& name, const std::string& team, const std::string& role);
  std::string make_team(const std::string& name);  // gives its id

  TestClock clock;
  TestIds ids;
  FakeWorld world;
  std::unique_ptr<Store> store;
  std::unique_ptr<LoggingEngine> engine;
  std::unique_ptr<Controller> controller;
  std::unique_ptr<Api> api;
  web::Handler handler;
  std::string admin;  // token
};

}  // namespace heddle::api
