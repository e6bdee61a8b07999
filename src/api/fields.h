// Fields: takes known fields out of a JSON object and says what was wrong with each.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "api/json.h"
#include "base/error.h"

namespace heddle::api {

// Everything that was wrong with a request, up to a bound; the first one makes the sentence.
class Faults {
 public:
  void add(std::string pointer, std::string rule, std::string_view message, std::string given = {});
  // Takes the one field of `error` over, at `pointer`.
  void add(const std::string& pointer, const Error& error);
  bool empty() const { return errors_.empty(); }
  Error error() const;  // not empty

 private:
  std::vector<FieldError> errors_;
  std::string message_;
};

enum class TextKind : std::uint8_t {
  kLabel,     // no control characters at all
  kArgument,  // control characters: tab, line feed, carriage return only
  kContent,   // anything but NUL
};

// Each getter gives nullopt when the field is absent or wrong; what was wrong is in the faults.
class Fields {
 public:
  // A value that is no object is a fault of its own; then every field is absent.
  Fields(const Value& value, std::string pointer, Faults& faults);

  const Value* take(std::string_view name);
  bool has(std::string_view name) const;
  std::string at(std::string_view name) const { return joined(pointer_, name); }
  Faults& faults() { return faults_; }

  std::optional<std::string> text(std::string_view name, std::size_t max_bytes, TextKind kind);
  std::optional<std::string> name(std::string_view name);       // [a-z0-9-], 1..63
  std::optional<std::string> reference(std::string_view name);  // a name, or an id
  std::optional<std::int64_t> whole(std::string_view name, std::int64_t low, std::int64_t high);
  std::optional<std::int64_t> thousandths(std::string_view name, std::int64_t low,
                                          std::int64_t high);
  std::optional<bool> flag(std::string_view name);
  // Index into `names`.
  std::optional<std::size_t> choice(std::string_view name, std::span<const std::string_view> names);
  void require(std::string_view name);

  // Every field that was not taken is a fault: unknown_field, or read_only when listed.
  void finish(std::initializer_list<std::string_view> read_only = {});

 private:
  const Value* take(std::string_view name, Value::Kind kind, std::string_view expected);

  const Value& value_;
  std::string pointer_;
  Faults& faults_;
  std::vector<std::string_view> taken_;
};

// What a value looks like in a message.
std::string given_text(const Value& value);

// Why `text` is not fit to be text of that kind, or an empty view.
std::string_view text_fault(std::string_view text, std::size_t max_bytes, TextKind kind);

bool is_name(std::string_view text);
bool is_reference(std::string_view text);

}  // namespace heddle::api
