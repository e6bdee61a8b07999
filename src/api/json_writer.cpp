#include "api/json_writer.h"

#include <array>
#include <charconv>

#include "base/units.h"

namespace heddle::api {
namespace {

constexpr std::int64_t kExact = 1LL << 53;

// Length of the UTF-8 sequence at the start of `text`, or 0 when there is none.
std::size_t sequence(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const auto follows = [&](std::size_t i) { return i < text.size() && (byte(i) & 0xc0) == 0x80; };
  const unsigned char first = byte(0);
  if (first < 0x80) return 1;
  if (first >= 0xc2 && first <= 0xdf) return follows(1) ? 2 : 0;
  if (first >= 0xe0 && first <= 0xef) {
    if (!follows(1) || !follows(2)) return 0;
    if (first == 0xe0 && byte(1) < 0xa0) return 0;  // too long a form
    if (first == 0xed && byte(1) > 0x9f) return 0;  // half of a surrogate pair
    return 3;
  }
  if (first >= 0xf0 && first <= 0xf4) {
    if (!follows(1) || !follows(2) || !follows(3)) return 0;
    if (first == 0xf0 && byte(1) < 0x90) return 0;
    if (first == 0xf4 && byte(1) > 0x8f) return 0;
    return 4;
  }
  return 0;
}

}  // namespace

void JsonWriter::comma() {
  if (!out_.empty() && out_.back() != '{' && out_.back() != '[' && out_.back() != ':')
    out_.push_back(',');
}

void JsonWriter::quoted(std::string_view text) {
  constexpr std::string_view kHex = "0123456789abcdef";
  out_.push_back('"');
  while (!text.empty()) {
    const char c = text.front();
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out_.push_back('\\');
      out_.push_back(c);
    } else if (c == '\n') {
      out_ += "\\n";
    } else if (byte < 0x20 || byte == 0x7f) {
      out_ += "\\u00";
      out_.push_back(kHex[byte >> 4]);
      out_.push_back(kHex[byte & 15]);
    } else if (byte < 0x80) {
      out_.push_back(c);
    } else if (const std::size_t size = sequence(text); size != 0) {
      out_.append(text.substr(0, size));
      text.remove_prefix(size);
      continue;
    } else {
      out_ += "\xef\xbf\xbd";
    }
    text.remove_prefix(1);
  }
  out_.push_back('"');
}

void JsonWriter::key(std::string_view name) {
  comma();
  quoted(name);
  out_.push_back(':');
}

JsonWriter& JsonWriter::open(char bracket) {
  comma();
  out_.push_back(bracket);
  return *this;
}

JsonWriter& JsonWriter::open(std::string_view name, char bracket) {
  key(name);
  out_.push_back(bracket);
  return *this;
}

JsonWriter& JsonWriter::close(char bracket) {
  out_.push_back(bracket);
  return *this;
}

JsonWriter& JsonWriter::text(std::string_view name, std::string_view value) {
  key(name);
  quoted(value);
  return *this;
}

JsonWriter& JsonWriter::number(std::string_view name, std::int64_t value) {
  key(name);
  std::array<char, 24> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr;
  out_.append(digits.data(), static_cast<std::size_t>(end - digits.data()));
  return *this;
}

JsonWriter& JsonWriter::flag(std::string_view name, bool value) {
  key(name);
  out_ += value ? "true" : "false";
  return *this;
}

JsonWriter& JsonWriter::null(std::string_view name) {
  key(name);
  out_ += "null";
  return *this;
}

JsonWriter& JsonWriter::item(std::string_view text) {
  comma();
  quoted(text);
  return *this;
}

JsonWriter& JsonWriter::text_or_null(std::string_view name, std::string_view value) {
  return value.empty() ? null(name) : text(name, value);
}

JsonWriter& JsonWriter::number_or_null(std::string_view name, std::int64_t value) {
  return value == 0 ? null(name) : number(name, value);
}

JsonWriter& JsonWriter::time(std::string_view name, Instant value) {
  return value.is_set() ? text(name, format_instant(value)) : null(name);
}

JsonWriter& JsonWriter::large(std::string_view name, std::int64_t value) {
  return value > kExact ? text(name, std::to_string(value)) : number(name, value);
}

JsonWriter& JsonWriter::raw(std::string_view name, std::string_view json) {
  if (name.empty())
    comma();
  else
    key(name);
  out_ += json;
  return *this;
}

}  // namespace heddle::api
