#include "cli/render/json.h"

#include <charconv>
#include <nlohmann/json.hpp>

#include "cli/render/when.h"

namespace heddle::cli {
namespace {

using nlohmann::json;

std::string dumped(const json& value, int indent, bool for_terminal) {
  return value.dump(indent, ' ', for_terminal, json::error_handler_t::replace);
}

// Words that YAML reads as text and nothing else: a letter first, no `: `, `#` or such, no keyword.
bool is_plain(const std::string& text) {
  if (text.empty() || text.size() > 200) return false;
  const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
  if (!letter(text.front())) return false;
  for (const char c : text)
    if (!letter(c) && !(c >= '0' && c <= '9') && c != '-' && c != '_' && c != '.' && c != '/')
      return false;
  for (const char* word : {"true", "false", "null", "yes", "no", "on", "off", "y", "n"}) {
    if (text.size() != std::string_view(word).size()) continue;
    bool same = true;
    for (std::size_t i = 0; i < text.size(); ++i) same &= (text[i] | 0x20) == word[i];
    if (same) return false;
  }
  return true;
}

void append_yaml(std::string& out, const json& value, std::size_t depth, bool for_terminal);

std::string scalar(const json& value, bool for_terminal) {
  if (value.is_string() && is_plain(value.get_ref<const std::string&>()))
    return value.get<std::string>();
  return dumped(value, -1, for_terminal);
}

void append_child(std::string& out, const json& child, std::size_t depth, bool for_terminal) {
  if (child.is_structured() && !child.empty()) {
    out += '\n';
    append_yaml(out, child, depth + 1, for_terminal);
  } else {
    out += " " + scalar(child, for_terminal) + "\n";
  }
}

void append_yaml(std::string& out, const json& value, std::size_t depth, bool for_terminal) {
  const std::string indent(depth * 2, ' ');
  if (value.is_object() && !value.empty()) {
    for (const auto& [key, child] : value.items()) {
      out += indent + scalar(json(key), for_terminal) + ":";
      append_child(out, child, depth, for_terminal);
    }
  } else if (value.is_array() && !value.empty()) {
    for (const json& child : value) {
      std::string block;
      append_yaml(block, child, depth + 1, for_terminal);
      const std::size_t start = block.find_first_not_of(' ');
      out += indent + "- " + (start == std::string::npos ? "\n" : block.substr(start));
    }
  } else {
    out += indent + scalar(value, for_terminal) + "\n";
  }
}

}  // namespace

const json& part(const json& object, std::string_view key) {
  static const json kNothing;
  if (!object.is_object()) return kNothing;
  const auto it = object.find(std::string(key));
  return it == object.end() ? kNothing : *it;
}

std::string text(const json& object, std::string_view key) {
  const json& value = part(object, key);
  return value.is_string() ? value.get<std::string>() : std::string();
}

std::optional<std::int64_t> maybe_number(const json& object, std::string_view key) {
  const json& value = part(object, key);
  if (value.is_number_integer()) return value.get<std::int64_t>();
  if (!value.is_string()) return std::nullopt;
  const auto& digits = value.get_ref<const std::string&>();
  std::int64_t parsed = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), parsed);
  if (error != std::errc{} || end != digits.data() + digits.size()) return std::nullopt;
  return parsed;
}

std::int64_t number(const json& object, std::string_view key) {
  return maybe_number(object, key).value_or(0);
}

bool flag(const json& object, std::string_view key) {
  const json& value = part(object, key);
  return value.is_boolean() && value.get<bool>();
}

std::optional<Instant> time(const json& object, std::string_view key) {
  return parse_time(text(object, key));
}

std::vector<std::string> texts(const json& object, std::string_view key) {
  std::vector<std::string> out;
  const json& value = part(object, key);
  if (value.is_array())
    for (const json& item : value)
      if (item.is_string()) out.push_back(item.get<std::string>());
  return out;
}

std::string json_text(const json& value, bool for_terminal) {
  return dumped(value, 2, for_terminal) + "\n";
}

std::string json_line(const json& value, bool for_terminal) {
  return dumped(value, -1, for_terminal) + "\n";
}

std::string yaml_text(const json& value, bool for_terminal) {
  std::string out;
  append_yaml(out, value, 0, for_terminal);
  return out;
}

}  // namespace heddle::cli
