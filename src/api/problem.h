// Problems: an Error as application/problem+json.
#pragma once

#include <string>

#include "base/error.h"
#include "base/web.h"

namespace heddle::api {

web::Response problem(const Error& error, const std::string& request_id);

}  // namespace heddle::api
