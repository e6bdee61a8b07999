// Problems of the server as errors, and errors as text for people.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "base/error.h"
#include "base/web.h"
#include "cli/render/table.h"

namespace heddle::cli {

// Reads problem+json. What is not a problem becomes one by its status. Puts the request id into
// `request_id`.
Error error_from(int status, const web::Headers& headers, const std::string& body,
                 std::string& request_id);

// The error, with a next step if it has none and its cause has a usual one. `help` is what to type
// for help on the command that failed.
Error with_next(Error error, const std::string& help);

// What failed, where, why, next: at most six lines, then the request id. All of it made safe.
// `where` names a pointer for the reader, or gives an empty text.
std::string error_text(const Error& error, const std::string& request_id,
                       const std::function<std::string(std::string_view)>& where);

// The same as problem+json, for errors that were made here.
std::string error_json(const Error& error, bool made_by_client_connection);

}  // namespace heddle::cli
