// Answers as bytes: what goes before the body, and the problem for a request that was refused.
#pragma once

#include <string>

#include "base/web.h"
#include "http/head.h"

namespace heddle::http {

// Status line, Date and the response's own headers, each with its line end; no empty line yet.
std::string start_of_answer(const web::Response& response);

// application/problem+json with a fresh request id.
web::Response problem_of(const Refusal& refusal);

}  // namespace heddle::http
