// Result<T>: the value, or the Error that says why there is none.
#pragma once

#include <utility>
#include <variant>

#include "base/check.h"
#include "base/error.h"

namespace heddle {

// A small subset of std::expected<T, Error> with the same names. Two differences: an ignored
// Result does not compile, and reading the side that is not there is a HEDDLE_CHECK.
template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_{std::in_place_index<0>, std::move(value)} {}
  Result(Error error) : state_{std::in_place_index<1>, std::move(error)} {}

  bool has_value() const { return state_.index() == 0; }
  explicit operator bool() const { return has_value(); }

  T& operator*() & { return value_of(*this); }
  const T& operator*() const& { return value_of(*this); }
  T&& operator*() && { return std::move(value_of(*this)); }
  T* operator->() { return &value_of(*this); }
  const T* operator->() const { return &value_of(*this); }
  const Error& error() const {
    HEDDLE_CHECK(!has_value());
    return *std::get_if<1>(&state_);
  }

 private:
  template <class Self>
  static auto& value_of(Self& self) {
    HEDDLE_CHECK(self.has_value());
    return *std::get_if<0>(&self.state_);
  }

  std::variant<T, Error> state_;
};

struct Done {};  // Result<Done>: nothing to return but success.

}  // namespace heddle
