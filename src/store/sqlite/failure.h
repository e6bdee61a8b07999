// Failure: how an error travels inside store/sqlite; it never leaves this folder.
#pragma once

#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "base/result.h"

struct sqlite3;

namespace heddle::sqlite {

struct Failure {
  Error error;
};

// What SQLite said about the last call on `db` (may be null), in words for people.
[[noreturn]] void fail(sqlite3* db, int code, const std::string& file);

// What was read cannot be true.
[[noreturn]] void fail_damaged(const std::string& file, std::string_view what);

// The system call that just failed on `file`, from errno.
[[noreturn]] void fail_system(std::string_view doing, const std::string& file);

// Runs `work`, which may throw a Failure, and gives its value or the failure's error.
template <class Work>
auto guarded(Work&& work) -> Result<std::invoke_result_t<Work>> {
  try {
    return work();
  } catch (Failure& failure) {
    return std::move(failure.error);
  }
}

}  // namespace heddle::sqlite
