// Words for what went wrong while a sandbox was set up.
#pragma once

#include <cerrno>
#include <cstring>
#include <string>
#include <string_view>

#include "base/error.h"

namespace heddle::sandbox {

// "cannot <what>: <reason of errno>" as an Error; reads errno first. A full disk or a lack of
// memory keeps its own code so that the caller can tell it from a broken machine.
inline Error failure(std::string_view what, ErrorCode code = ErrorCode::kInternal) {
  const int error = errno;
  if (error == ENOSPC) code = ErrorCode::kStorageFull;
  if (error == ENOMEM) code = ErrorCode::kOverLimit;
  return {code, "cannot " + std::string{what} + ": " + std::strerror(error)};
}

}  // namespace heddle::sandbox
