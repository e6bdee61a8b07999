// The gate: the one way in. Every check that stands before a route's own function, in order.
#pragma once

#include <memory>

#include "api/call.h"

namespace heddle::api {

// Answers the request itself, or runs its route. In this order: request id, Host (421), Origin
// (403), token in the query (400), rate of the peer (429), who asks (401), rate of the user (429),
// route (404, 405), what the path names (404), rights (403), headers and body (400, 415, 428).
// Never throws.
void enter(const std::shared_ptr<Shared>& shared, web::Request request,
           std::shared_ptr<web::Responder> responder);

}  // namespace heddle::api
