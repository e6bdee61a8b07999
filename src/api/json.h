// Value: a JSON document from outside, read strictly and within bounds.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace heddle::api {

struct JsonMember;

struct Value {
  enum class Kind : std::uint8_t { kNull, kBool, kNumber, kString, kArray, kObject };
  Kind kind = Kind::kNull;
  bool boolean = false;
  std::string text;  // of a string, or the digits of a number
  std::vector<Value> items;
  std::vector<JsonMember> members;  // as sent; names unique

  bool is(Kind k) const { return kind == k; }
};

struct JsonMember {
  std::string name;
  Value value;
};

inline constexpr std::size_t kJsonDepth = 32;
inline constexpr std::size_t kJsonNodes = 10'000;

// Errors name the place by its JSON pointer: bad_json, bad_utf8, duplicate_field, too_deep,
// too_many_values. Numbers stay text, so nothing is rounded. Linear in the size of `body`.
Result<Value> parse_json(std::string_view body);

// `pointer` with one more part, escaped (RFC 6901) and kept short.
std::string joined(const std::string& pointer, std::string_view part);

}  // namespace heddle::api
