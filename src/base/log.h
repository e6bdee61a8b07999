// Log: one JSON object per line on stderr, one line per fact.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

namespace heddle::log {

// A typed field of a line. Ids rather than names; never a secret.
struct Field {
  Field(std::string_view name_, std::string_view text_) : name{name_}, text{text_} {}
  Field(std::string_view name_, const std::string& text_) : name{name_}, text{text_} {}
  Field(std::string_view name_, const char* text_) : name{name_}, text{text_} {}
  Field(std::string_view name_, std::int64_t number_)
      : name{name_}, number{number_}, is_number{true} {}

  std::string_view name;
  std::string text;
  std::int64_t number = 0;
  bool is_number = false;
};

// `event` is a stable lower_snake name, such as server_started. Any thread; never throws.
void info(std::string_view event, std::initializer_list<Field> fields = {});
// For what a person must act on.
void error(std::string_view event, std::initializer_list<Field> fields = {});

}  // namespace heddle::log
