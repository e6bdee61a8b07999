// Api: everything under /v1, as one handler for web requests.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "api/rate.h"
#include "base/web.h"
#include "control/controller.h"

namespace heddle::api {

struct ApiOptions {
  std::string version = "0.1.0";
  std::string currency = "EUR";
  // Names under which clients may call this server, beside localhost, 127.0.0.1 and [::1].
  std::vector<std::string> hosts;
  // 32 bytes that nobody can guess and that outlive the process; empty: made up, and then cursors
  // and places in streams end with the process.
  std::string cursor_key;
  Rate per_user{5'000, 10'000};
  Rate per_peer{10'000, 20'000};
  Rate failed_logins{20, 200};  // per peer
  std::size_t streams_max = 3'000;
  std::size_t streams_per_user_max = 1'500;
};

struct Shared;

// Reads come from the controller's view and the store, writes go to the controller. The handler may
// be called from any thread. Has one thread of its own, which feeds streams and ends those whose
// rights are gone.
class Api {
 public:
  // All of them outlive the Api. The controller is open.
  Api(Controller& controller, Store& store, std::vector<SiteEngine> engines, ApiOptions options);
  ~Api();
  Api(const Api&) = delete;
  Api& operator=(const Api&) = delete;

  web::Handler handler();

  // To be called after each commit (Controller::on_change); returns at once.
  void state_changed();

 private:
  std::shared_ptr<Shared> shared_;
};

}  // namespace heddle::api
