// Query: the parameters of a URL, each known, each once.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/fields.h"
#include "base/result.h"

namespace heddle::api {

// Faults point at "?name". Percent and '+' are decoded once; what is then not UTF-8 or holds a
// control byte is refused.
class Query {
 public:
  // Errors: bad_encoding, bad_utf8, control_byte, duplicate_parameter.
  static Result<Query> parse(std::string_view raw);

  bool has(std::string_view name) const { return find(name) != nullptr; }
  // The raw value, or null. Counts as taken.
  const std::string* take(std::string_view name);

  std::optional<std::string> name(std::string_view name, Faults& faults);
  std::optional<std::string> reference(std::string_view name, Faults& faults);
  std::optional<std::int64_t> whole(std::string_view name, std::int64_t low, std::int64_t high,
                                    Faults& faults);
  bool flag(std::string_view name, Faults& faults);
  std::optional<std::size_t> choice(std::string_view name, std::span<const std::string_view> names,
                                    Faults& faults);
  void finish(Faults& faults) const;  // unknown_parameter for what was not taken

  // All but limit and cursor, sorted: what a cursor is bound to.
  std::string filter() const;

 private:
  struct Parameter {
    std::string name;
    std::string value;
    bool taken = false;
  };
  const Parameter* find(std::string_view name) const;

  std::vector<Parameter> parameters_;
};

}  // namespace heddle::api
