// HEDDLE_CHECK: ends the process when our own books are wrong.
#pragma once

namespace heddle {

// Prints the broken condition with its place to stderr and aborts. Never returns.
[[noreturn]] void check_failed(const char* condition, const char* file, int line);

}  // namespace heddle

// For programmer errors only, in every build; never for input or for the environment. Ending is
// safe: whatever was acknowledged is in the store, and a restart is cheap.
#define HEDDLE_CHECK(condition)                        \
  (static_cast<bool>(condition) ? static_cast<void>(0) \
                                : ::heddle::check_failed(#condition, __FILE__, __LINE__))
