// JsonWriter: appends JSON to a string, one field after the other.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/id.h"
#include "base/time.h"

namespace heddle::api {

// Fields of an object carry their name; items of an array have none. Text may be any bytes: what is
// not UTF-8 comes out as U+FFFD. The caller keeps brackets in pairs.
class JsonWriter {
 public:
  JsonWriter& open(char bracket = '{');
  JsonWriter& open(std::string_view name, char bracket);
  JsonWriter& close(char bracket = '}');

  JsonWriter& text(std::string_view name, std::string_view value);
  JsonWriter& number(std::string_view name, std::int64_t value);
  JsonWriter& flag(std::string_view name, bool value);
  JsonWriter& null(std::string_view name);
  JsonWriter& item(std::string_view text);  // of an array

  // null when it is empty, zero or unset.
  JsonWriter& text_or_null(std::string_view name, std::string_view value);
  JsonWriter& number_or_null(std::string_view name, std::int64_t value);
  JsonWriter& time(std::string_view name, Instant value);
  template <class Tag>
  JsonWriter& id(std::string_view name, Id<Tag> value) {
    return value.is_set() ? text(name, value.text()) : null(name);
  }
  // As text when above 2^53, where readers with floating point would round.
  JsonWriter& large(std::string_view name, std::int64_t value);
  // A value that is JSON already.
  JsonWriter& raw(std::string_view name, std::string_view json);

  std::string take() { return std::move(out_); }

 private:
  void key(std::string_view name);
  void quoted(std::string_view text);
  void comma();

  std::string out_;
};

}  // namespace heddle::api
