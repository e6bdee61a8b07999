#include "apps/serve.h"

#include <signal.h>
#include <sys/stat.h>

#include <cstdio>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>

#include "api/api.h"
#include "apps/files.h"
#include "apps/system_clock.h"
#include "apps/system_ids.h"
#include "apps/writer_thread.h"
#include "base/log.h"
#include "core/check/auditor.h"
#include "engine/local/local_engine.h"
#include "http/server.h"
#include "store/sqlite/sqlite_store.h"

namespace heddle {
namespace {

constexpr int kAuditEverySeconds = 30;

int give_up(const Error& error) {
  log::error("not_started", {{"why", error.message}, {"next", error.next}});
  std::fprintf(stderr, "error: %s\n", error.message.c_str());
  if (!error.next.empty()) std::fprintf(stderr, "  next: %s\n", error.next.c_str());
  return info(error.code).exit_code;
}

std::string program_folder() {
  std::error_code ignored;
  return std::filesystem::read_symlink("/proc/self/exe", ignored).parent_path().string();
}

// The main thread waits for signals; all other threads inherit that they are blocked.
sigset_t block_signals() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  sigaddset(&signals, SIGINT);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  signal(SIGPIPE, SIG_IGN);
  return signals;
}

void log_audit(const Controller& controller) {
  for (const std::string& problem : audit(controller.view()->state))
    log::error("auditor", {{"problem", problem}});
}

// Who asks right after the start must see what there is; a machine that does not answer holds
// nobody up.
void wait_for_inventory(const Controller& controller) {
  const timespec moment{0, 10'000'000};
  for (int tries = 0; tries < 300 && controller.view()->state.nodes().empty(); ++tries)
    nanosleep(&moment, nullptr);
}

// What signs cursors, so that a list can be read on after a restart; made at the first start.
Result<std::string> kept_key(const std::string& file, IdSource& ids) {
  std::ifstream kept{file, std::ios::binary};
  std::string key{std::istreambuf_iterator<char>{kept}, {}};
  if (key.size() == 32) return key;
  const NewSecret secret = ids.new_secret();
  key.assign(secret.bytes.begin(), secret.bytes.end());
  if (auto ok = write_private_file(file, key); !ok) return ok.error();
  return key;
}

// Until a signal comes or another server takes over; the auditor looks at the books meanwhile.
void wait_for_the_end(const sigset_t& signals, const Controller& controller) {
  for (int second = 1;; ++second) {
    const timespec one_second{1, 0};
    const int signal_number = sigtimedwait(&signals, nullptr, &one_second);
    if (signal_number > 0) return log::info("stopping", {{"signal", std::int64_t{signal_number}}});
    if (controller.deposed()) return log::error("another_server_took_over");
    if (second % kAuditEverySeconds == 0) log_audit(controller);
  }
}

}  // namespace

int serve(const HeddledOptions& options) {
  const sigset_t signals = block_signals();
  umask(077);
  std::error_code failed;
  const std::string state = std::filesystem::absolute(options.state, failed).lexically_normal();
  std::filesystem::create_directories(state, failed);
  if (failed)
    return give_up({ErrorCode::kUnavailable,
                    "The folder " + state + " could not be made: " + failed.message() + "."});

  SystemClock clock;
  SystemIds ids;
  const auto store = make_sqlite_store({state, {}});
  Controller* time_source = nullptr;
  local::LocalOptions local;
  local.state_folder = state;
  local.shim_path = options.shim.empty() ? program_folder() + "/heddle-shim" : options.shim;
  local.simulate = options.simulate;
  local.allow_unisolated = options.allow_unisolated;
  local.nvml_library = options.nvml;
  local.now = [&time_source] { return time_source->now(); };
  auto made_engine = local::make_local_engine(std::move(local));

  ControllerOptions control;
  control.confirm_wall_clock = options.confirm_clock;
  control.new_admin_token = options.new_admin_token;
  Controller controller{*store, {{"box", made_engine.get()}}, clock, ids, control};
  time_source = &controller;
  WriterThread writer{controller};
  // Ends before these two: its threads ask the one for the time and wake the other.
  const auto engine = std::move(made_engine);
  controller.set_wake([&writer] { writer.notify(); });
  const auto admin_token = controller.open();
  if (!admin_token) return give_up(admin_token.error());
  if (!admin_token->empty())
    if (const auto ok = write_private_file(state + "/admin.token", *admin_token + "\n"); !ok)
      return give_up(ok.error());
  log_audit(controller);
  const auto key = kept_key(state + "/cursor.key", ids);
  if (!key) return give_up(key.error());
  api::ApiOptions api_options;
  api_options.version = HEDDLE_VERSION;
  api_options.hosts = options.hosts;
  api_options.cursor_key = *key;
  api::Api api{controller, *store, {{"box", engine.get()}}, api_options};
  controller.on_change([&api] { api.state_changed(); });

  wait_for_inventory(controller);
  http::ServerOptions http;
  http.listen = options.listen;
  http.threads = options.http_threads;
  auto server = http::Server::start(http, api.handler());
  if (!server) return give_up(server.error());
  const std::string address =
      options.listen.substr(0, options.listen.rfind(':')) + ":" + std::to_string((*server)->port());
  if (const auto ok = write_private_file(state + "/address", "http://" + address + "\n"); !ok)
    return give_up(ok.error());
  writer.start();  // nothing may return early from here on: it uses everything above
  log::info("server_started", {{"address", address}, {"version", HEDDLE_VERSION}});

  wait_for_the_end(signals, controller);
  const bool deposed = controller.deposed();
  (*server)->drain(Duration::seconds(3));
  writer.stop();
  log::info("server_stopped");
  return deposed ? info(ErrorCode::kConflict).exit_code : 0;
}

}  // namespace heddle
