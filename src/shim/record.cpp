#include "shim/record.h"

#include <algorithm>
#include <charconv>

#include "base/check.h"

namespace heddle::shim {
namespace {

bool is_name(std::string_view name) {
  return !name.empty() && name.size() <= 32 && std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || c == '_';
  });
}

// A number exactly as std::to_string prints it: no sign but '-', no leading zeros.
bool parse_number(std::string_view text, std::int64_t& value) {
  const char* end = text.data() + text.size();
  const auto [at, error] = std::from_chars(text.data(), end, value);
  return error == std::errc{} && at == end && std::to_string(value) == text;
}

Error malformed(std::string_view what) {
  return {ErrorCode::kInvalidArgument,
          "This record is damaged: " + std::string{what} + ".",
          {},
          {},
          {}};
}

// Takes everything up to the next newline, or gives false.
bool take_line(std::string_view& bytes, std::string_view& line) {
  const auto end = bytes.substr(0, 128).find('\n');
  if (end == std::string_view::npos) return false;
  line = bytes.substr(0, end);
  bytes.remove_prefix(end + 1);
  return true;
}

}  // namespace

void Record::add(std::string_view name, std::string_view value) {
  HEDDLE_CHECK(is_name(name));
  fields_.emplace_back(name, value);
}

void Record::add_number(std::string_view name, std::int64_t value) {
  add(name, std::to_string(value));
}

std::string Record::encode(std::string_view kind, std::int64_t version) const {
  std::string out = "heddle " + std::string{kind} + " " + std::to_string(version) + "\n";
  for (const auto& [name, value] : fields_) {
    out += name;
    out += ' ';
    out += std::to_string(value.size());
    out += '\n';
    out += value;
    out += '\n';
  }
  out += "end\n";
  return out;
}

Result<Record> Record::parse(std::string_view bytes, std::string_view kind, std::int64_t version) {
  if (bytes.size() > kMaxBytes) return malformed("it is too long");
  std::string_view line;
  const std::string first = "heddle " + std::string{kind} + " " + std::to_string(version);
  if (!take_line(bytes, line) || line != first)
    return malformed("it does not begin with '" + first + "'");
  Record record;
  for (;;) {
    if (!take_line(bytes, line)) return malformed("it ends too early");
    if (line == "end") break;
    const auto space = line.find(' ');
    std::int64_t length = 0;
    if (space == std::string_view::npos || !is_name(line.substr(0, space)) ||
        !parse_number(line.substr(space + 1), length) || length < 0)
      return malformed("a field has no name or length");
    const auto size = static_cast<std::size_t>(length);
    if (size >= bytes.size() || bytes[size] != '\n') return malformed("a field is cut off");
    if (record.fields_.size() == kMaxFields) return malformed("it has too many fields");
    record.fields_.emplace_back(line.substr(0, space), bytes.substr(0, size));
    bytes.remove_prefix(size + 1);
  }
  if (!bytes.empty()) return malformed("something follows its end");
  return record;
}

const std::string* RecordReader::find(std::string_view name) const {
  for (const auto& [have, value] : record_.fields())
    if (have == name) return &value;
  return nullptr;
}

void RecordReader::bad(std::string_view name) {
  if (bad_field_.empty()) bad_field_ = name;
}

std::string RecordReader::text(std::string_view name, std::size_t max_bytes) {
  const std::string* value = find(name);
  if (value != nullptr && value->size() <= max_bytes) return *value;
  bad(name);
  return {};
}

std::int64_t RecordReader::number(std::string_view name, std::int64_t min, std::int64_t max) {
  const std::string* value = find(name);
  std::int64_t number = 0;
  if (value != nullptr && parse_number(*value, number) && number >= min && number <= max)
    return number;
  bad(name);
  return std::clamp<std::int64_t>(0, min, max);
}

std::vector<std::string> RecordReader::list(std::string_view name, std::size_t max_items) {
  std::vector<std::string> values;
  for (const auto& [have, value] : record_.fields()) {
    if (have != name) continue;
    if (values.size() == max_items) {
      bad(name);
      return {};
    }
    values.push_back(value);
  }
  return values;
}

Error RecordReader::error() const {
  HEDDLE_CHECK(!ok());
  return malformed("its field '" + bad_field_ + "' is missing or out of range");
}

}  // namespace heddle::shim
