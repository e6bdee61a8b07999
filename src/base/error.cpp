#include "base/error.h"

#include <array>
#include <cstddef>

namespace heddle {
namespace {

// Statuses and exit codes as the guide promises them; the order is that of the enum.
constexpr std::array<ErrorCodeInfo, kErrorCodeCount> kTable{{
    {"invalid_argument", "A field is not valid", 400, 2},
    {"unauthenticated", "Log in first", 401, 4},
    {"permission_denied", "Not allowed", 403, 5},
    {"not_found", "Not found", 404, 3},
    {"method_not_allowed", "Method not allowed", 405, 2},
    {"conflict", "Conflict", 409, 7},
    {"idempotency_conflict", "Same key, other request", 409, 7},
    {"gone", "No longer kept", 410, 7},
    {"precondition_failed", "Changed meanwhile", 412, 7},
    {"precondition_required", "A version is needed", 428, 7},
    {"too_large", "Too large", 413, 2},
    {"unsupported_media", "Content type not supported", 415, 2},
    {"misdirected", "Wrong host", 421, 2},
    {"over_limit", "Above a limit", 422, 6},
    {"policy_refused", "Refused by policy", 422, 6},
    {"not_supported", "Not supported here", 422, 6},
    {"rate_limited", "Too many requests", 429, 6},
    {"internal", "Our fault", 500, 10},
    {"unavailable", "Not available now", 503, 9},
    {"deadline_exceeded", "Not in time", 504, 8},
    {"storage_full", "The disk is full", 507, 9},
}};

}  // namespace

const ErrorCodeInfo& info(ErrorCode code) { return kTable[static_cast<std::size_t>(code)]; }

std::optional<ErrorCode> error_code_named(std::string_view name) {
  for (std::size_t i = 0; i < kTable.size(); ++i)
    if (kTable[i].name == name) return static_cast<ErrorCode>(i);
  return std::nullopt;
}

}  // namespace heddle
