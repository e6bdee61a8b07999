#include "api/query.h"

#include <algorithm>

#include "base/units.h"

namespace heddle::api {
namespace {

constexpr std::size_t kParametersMax = 32;

int hex_value(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

std::optional<std::string> decoded(std::string_view raw) {
  std::string out;
  for (std::size_t i = 0; i < raw.size(); ++i) {
    if (raw[i] == '+') {
      out.push_back(' ');
    } else if (raw[i] == '%') {
      if (i + 2 >= raw.size()) return std::nullopt;
      const int high = hex_value(raw[i + 1]);
      const int low = hex_value(raw[i + 2]);
      if (high < 0 || low < 0) return std::nullopt;
      out.push_back(static_cast<char>(high * 16 + low));
      i += 2;
    } else {
      out.push_back(raw[i]);
    }
  }
  return out;
}

std::string pointer_of(std::string_view name) { return "?" + std::string{name.substr(0, 64)}; }

// Every value that we know is ASCII, so anything else is a mistake already.
std::string_view fault_of(std::string_view text) {
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7f) return "control_byte";
    if (byte >= 0x80) return "not_ascii";
  }
  return {};
}

}  // namespace

Result<Query> Query::parse(std::string_view raw) {
  Query query;
  while (!raw.empty()) {
    const auto end = std::min(raw.find('&'), raw.size());
    const std::string_view part = raw.substr(0, end);
    raw.remove_prefix(std::min(end + 1, raw.size()));
    if (part.empty()) continue;
    const auto equals = std::min(part.find('='), part.size());
    auto name = decoded(part.substr(0, equals));
    auto value = decoded(part.substr(std::min(equals + 1, part.size())));
    if (!name || !value)
      return Error::invalid("?", "bad_encoding", "The query holds a broken %-escape.");
    if (!fault_of(*name).empty())
      return Error::invalid("?", "unknown_parameter", "The query names an unknown parameter.");
    if (const std::string_view fault = fault_of(*value); !fault.empty())
      return Error::invalid(pointer_of(*name), std::string{fault},
                            "A query parameter holds a byte that is not allowed there.");
    if (query.find(*name) != nullptr)
      return Error::invalid(pointer_of(*name), "duplicate_parameter",
                            "A query parameter is given twice.", *value);
    if (query.parameters_.size() == kParametersMax)
      return Error::invalid("?", "too_many_values", "The query has too many parameters.");
    query.parameters_.push_back({std::move(*name), std::move(*value), false});
  }
  return query;
}

const Query::Parameter* Query::find(std::string_view name) const {
  for (const Parameter& parameter : parameters_)
    if (parameter.name == name) return &parameter;
  return nullptr;
}

const std::string* Query::take(std::string_view name) {
  for (Parameter& parameter : parameters_) {
    if (parameter.name != name) continue;
    parameter.taken = true;
    return &parameter.value;
  }
  return nullptr;
}

std::optional<std::string> Query::name(std::string_view name, Faults& faults) {
  const std::string* value = take(name);
  if (value == nullptr) return std::nullopt;
  if (is_name(*value)) return *value;
  faults.add(pointer_of(name), "bad_name", "must be 1 to 63 of a-z, 0-9 and '-'", *value);
  return std::nullopt;
}

std::optional<std::string> Query::reference(std::string_view name, Faults& faults) {
  const std::string* value = take(name);
  if (value == nullptr) return std::nullopt;
  if (is_reference(*value)) return *value;
  faults.add(pointer_of(name), "bad_name", "must be a name or an id", *value);
  return std::nullopt;
}

std::optional<std::int64_t> Query::whole(std::string_view name, std::int64_t low, std::int64_t high,
                                         Faults& faults) {
  const std::string* value = take(name);
  if (value == nullptr) return std::nullopt;
  const auto number = parse_whole(*value, low, high);
  if (number) return *number;
  faults.add(pointer_of(name), number.error());
  return std::nullopt;
}

bool Query::flag(std::string_view name, Faults& faults) {
  const std::string* value = take(name);
  if (value == nullptr) return false;
  if (*value != "true" && *value != "false")
    faults.add(pointer_of(name), "wrong_type", "must be true or false", *value);
  return *value == "true";
}

std::optional<std::size_t> Query::choice(std::string_view name,
                                         std::span<const std::string_view> names, Faults& faults) {
  const std::string* value = take(name);
  if (value == nullptr) return std::nullopt;
  const auto at = std::find(names.begin(), names.end(), *value);
  if (at != names.end()) return static_cast<std::size_t>(at - names.begin());
  std::string all;
  for (const std::string_view n : names) all += (all.empty() ? "" : ", ") + std::string{n};
  faults.add(pointer_of(name), "unknown_value", "must be one of " + all, *value);
  return std::nullopt;
}

void Query::finish(Faults& faults) const {
  for (const Parameter& parameter : parameters_)
    if (!parameter.taken)
      faults.add(pointer_of(parameter.name), "unknown_parameter", "is not a known parameter");
}

std::string Query::filter() const {
  std::vector<std::string> parts;
  for (const Parameter& parameter : parameters_)
    if (parameter.name != "limit" && parameter.name != "cursor")
      parts.push_back(parameter.name + "=" + parameter.value);
  std::sort(parts.begin(), parts.end());
  std::string out;
  for (const std::string& part : parts) out += part + "&";
  return out;
}

}  // namespace heddle::api
