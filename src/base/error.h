// ErrorCode and Error: why something could not be done, in a closed set of causes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace heddle {

// Closed and small. HTTP status, command-line exit code and problem type follow from it through
// the one table in error.cpp.
enum class ErrorCode : std::uint8_t {
  kInvalidArgument,
  kUnauthenticated,
  kPermissionDenied,
  kNotFound,
  kMethodNotAllowed,
  kConflict,
  kIdempotencyConflict,
  kGone,
  kPreconditionFailed,
  kPreconditionRequired,
  kTooLarge,
  kUnsupportedMedia,
  kMisdirected,
  kOverLimit,
  kPolicyRefused,
  kNotSupported,
  kRateLimited,
  kInternal,
  kUnavailable,
  kDeadlineExceeded,
  kStorageFull,
};
inline constexpr int kErrorCodeCount = 21;

struct ErrorCodeInfo {
  std::string_view name;  // stable, lower_snake: the `code` of a problem
  std::string_view title;
  int http_status;
  int exit_code;  // of the command line, `heddle help exit-codes`
};

// Total: every code has its row. Static storage.
const ErrorCodeInfo& info(ErrorCode code);

// The code of that name, if there is one.
std::optional<ErrorCode> error_code_named(std::string_view name);

// One field at fault. `pointer` is a JSON pointer into what was sent (RFC 6901), for example
// /resources/gpus; `given` is the offending value as text, shortened to 64 bytes; `rule` is a
// stable lower_snake token such as not_whole or unknown_field.
struct FieldError {
  std::string pointer;
  std::string rule;
  std::string given;
};

// Amounts of the rule that refused, in base units, for example {"limit_gpu_milli", 20000}.
struct ErrorNumber {
  std::string name;
  std::int64_t value;
};

struct Error {
  ErrorCode code = ErrorCode::kInternal;
  std::string message;  // a sentence for people: what failed, the rule and its numbers
  std::vector<FieldError> fields = {};
  std::vector<ErrorNumber> numbers = {};
  std::string next = {};  // one thing to do about it, may be empty

  static Error invalid(std::string pointer, std::string rule, std::string message,
                       std::string given = {}) {
    return {ErrorCode::kInvalidArgument,
            std::move(message),
            {{std::move(pointer), std::move(rule), std::move(given)}},
            {},
            {}};
  }
};

}  // namespace heddle
