#include "api/api.h"

#include "api/call.h"
#include "api/gate.h"

namespace heddle::api {

Api::Api(Controller& controller, Store& store, std::vector<SiteEngine> engines, ApiOptions options)
    : shared_{std::make_shared<Shared>(controller, store, std::move(engines), std::move(options))} {
}

Api::~Api() = default;

web::Handler Api::handler() {
  return [shared = shared_](web::Request request, std::shared_ptr<web::Responder> responder) {
    enter(shared, std::move(request), std::move(responder));
  };
}

void Api::state_changed() { shared_->followers.state_changed(); }

}  // namespace heddle::api
