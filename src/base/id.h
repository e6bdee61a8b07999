// Id<Tag>: a number that names one thing of one kind; never mixed with ids of another kind.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace heddle {

// Text form: the tag's two-letter prefix, '_', then lower-case base 32 (RFC 4648 letters without
// the easily misread: 0-9 a-v, 'extended hex'), no leading zeros, at most 13 digits.
std::string id_text(std::string_view prefix, std::uint64_t value);

// The value, or nullopt when `text` is not exactly what id_text would print.
std::optional<std::uint64_t> parse_id_text(std::string_view prefix, std::string_view text);

// A Tag is an empty struct with `static constexpr std::string_view kPrefix`. Value 0 is 'none'.
// Ids of one kind grow with time, so sorting by id sorts by creation.
template <class Tag>
struct Id {
  std::uint64_t value = 0;

  constexpr bool is_set() const { return value != 0; }
  friend constexpr auto operator<=>(Id, Id) = default;

  std::string text() const { return id_text(Tag::kPrefix, value); }
  static std::optional<Id> parse(std::string_view text) {
    const auto value = parse_id_text(Tag::kPrefix, text);
    if (!value) return std::nullopt;
    return Id{*value};
  }
};

}  // namespace heddle
