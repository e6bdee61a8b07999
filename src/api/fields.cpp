#include "api/fields.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>

#include "base/units.h"

namespace heddle::api {
namespace {

constexpr std::size_t kFaultsMax = 16;

// A JSON number as its significant digits times a power of ten: -1.50e3 is -15 and 2. Nothing for
// exponents that no amount of ours has.
struct Decimal {
  bool negative = false;
  std::string digits;  // no zeros at the ends; empty for 0
  std::int64_t exponent = 0;
};

std::optional<Decimal> as_decimal(std::string_view number) {
  Decimal decimal;
  decimal.negative = number.starts_with('-');
  if (decimal.negative) number.remove_prefix(1);
  const auto mark = std::min(number.find_first_of("eE"), number.size());
  std::string_view power = number.substr(std::min(mark + 1, number.size()));
  if (power.starts_with('+')) power.remove_prefix(1);
  const auto [end, error] =
      std::from_chars(power.data(), power.data() + power.size(), decimal.exponent);
  const bool fits = error == std::errc{} && end == power.data() + power.size() &&
                    decimal.exponent > -1'000'000 && decimal.exponent < 1'000'000;
  for (const char c : number.substr(0, mark))
    if (c != '.') decimal.digits += c;
  if (const auto point = number.substr(0, mark).find('.'); point != std::string_view::npos)
    decimal.exponent -= static_cast<std::int64_t>(mark - point - 1);
  decimal.digits.erase(0, std::min(decimal.digits.find_first_not_of('0'), decimal.digits.size()));
  while (decimal.digits.ends_with('0')) decimal.digits.pop_back(), ++decimal.exponent;
  if (decimal.digits.empty()) return Decimal{};
  if (!power.empty() && !fits) return std::nullopt;
  return decimal;
}

// A JSON number as thousandths, by its digits alone. What some programs print for a sum (0.1 + 0.2
// is 0.30000000000000004) counts as its nearest thousandth, unless that is asked for `exactly`.
std::optional<std::int64_t> as_thousandths(std::string_view number, bool exactly) {
  constexpr std::size_t kMostDigits = 16, kPrintedDigits = 16;
  const auto decimal = as_decimal(number);
  if (!decimal) return std::nullopt;
  if (decimal->digits.empty()) return 0;
  const std::int64_t shift = decimal->exponent + 3;
  if (decimal->digits.size() > kMostDigits + 2 || shift > 16 || shift < -16) return std::nullopt;
  std::int64_t digits = 0;
  for (const char c : decimal->digits) digits = digits * 10 + (c - '0');
  std::int64_t power = 1;
  for (std::int64_t i = 0; i < std::abs(shift); ++i) power *= 10;
  std::int64_t value = 0;
  if (shift >= 0) {
    if (decimal->digits.size() + static_cast<std::size_t>(shift) > kMostDigits) return std::nullopt;
    value = digits * power;
  } else {
    value = (digits + power / 2) / power;
    const bool near = std::abs(value * power - digits) <= power / 1'000'000;
    if (exactly || value == 0 || !near || decimal->digits.size() < kPrintedDigits)
      return std::nullopt;
  }
  return decimal->negative ? -value : value;
}

bool too_large(const std::string& digits) {
  return !(std::fabs(std::strtod(digits.c_str(), nullptr)) < 9e12);
}

}  // namespace

void Faults::add(std::string pointer, std::string rule, std::string_view message,
                 std::string given) {
  if (errors_.size() == kFaultsMax) return;
  if (errors_.empty()) {
    message_ = pointer.empty() ? "The body" : pointer;
    message_ += " ";
    message_ += message;
    if (!given.empty()) message_ += "; '" + given.substr(0, 64) + "' was given";
    message_ += ".";
  }
  errors_.push_back({std::move(pointer), std::move(rule), given.substr(0, 64)});
}

void Faults::add(const std::string& pointer, const Error& error) {
  add(pointer, error.fields.at(0).rule, error.message, error.fields.at(0).given);
}

Error Faults::error() const { return {ErrorCode::kInvalidArgument, message_, errors_, {}, {}}; }

std::string given_text(const Value& value) {
  switch (value.kind) {
    case Value::Kind::kNull:
      return "null";
    case Value::Kind::kBool:
      return value.boolean ? "true" : "false";
    case Value::Kind::kNumber:
    case Value::Kind::kString:
      return value.text.substr(0, 64);
    case Value::Kind::kArray:
      return "a list";
    case Value::Kind::kObject:
      return "an object";
  }
  return {};
}

std::string_view text_fault(std::string_view text, std::size_t max_bytes, TextKind kind) {
  if (text.size() > max_bytes) return "too_long";
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if (byte == 0) return "nul_byte";
    if (kind == TextKind::kContent) continue;
    const bool space = byte == '\t' || byte == '\n' || byte == '\r';
    if ((byte < 0x20 && !(space && kind == TextKind::kArgument)) || byte == 0x7f)
      return "control_byte";
    // U+0080 to U+009F are C2 80 to C2 9F.
    if (kind == TextKind::kLabel && byte == 0xc2 && i + 1 < text.size() &&
        static_cast<unsigned char>(text[i + 1]) < 0xa0)
      return "control_byte";
  }
  return {};
}

bool is_name(std::string_view text) {
  if (text.empty() || text.size() > 63 || text.front() == '-' || text.back() == '-') return false;
  return std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-';
  });
}

bool is_reference(std::string_view text) {
  if (is_name(text)) return true;
  return text.size() > 3 && text.size() <= 16 && text[2] == '_' &&
         std::all_of(text.begin() + 3, text.end(),
                     [](char c) { return (c >= 'a' && c <= 'v') || (c >= '0' && c <= '9'); });
}

Fields::Fields(const Value& value, std::string pointer, Faults& faults)
    : value_{value}, pointer_{std::move(pointer)}, faults_{faults} {
  if (!value_.is(Value::Kind::kObject))
    faults_.add(pointer_, "wrong_type", "must be an object", given_text(value_));
}

const Value* Fields::take(std::string_view name) {
  for (const JsonMember& member : value_.members) {
    if (member.name != name) continue;
    taken_.push_back(member.name);
    return &member.value;
  }
  return nullptr;
}

bool Fields::has(std::string_view name) const {
  return std::any_of(value_.members.begin(), value_.members.end(),
                     [&](const JsonMember& member) { return member.name == name; });
}

const Value* Fields::take(std::string_view name, Value::Kind kind, std::string_view expected) {
  const Value* value = take(name);
  if (value == nullptr) return nullptr;
  if (value->is(kind)) return value;
  faults_.add(at(name), "wrong_type", "must be " + std::string{expected}, given_text(*value));
  return nullptr;
}

std::optional<std::string> Fields::text(std::string_view name, std::size_t max_bytes,
                                        TextKind kind) {
  const Value* value = take(name, Value::Kind::kString, "text");
  if (value == nullptr) return std::nullopt;
  const std::string_view fault = text_fault(value->text, max_bytes, kind);
  if (fault.empty()) return value->text;
  faults_.add(at(name), std::string{fault},
              fault == "too_long" ? "must be at most " + std::to_string(max_bytes) + " bytes"
                                  : std::string{"holds a byte that is not allowed there"});
  return std::nullopt;
}

std::optional<std::string> Fields::name(std::string_view name) {
  const Value* value = take(name, Value::Kind::kString, "text");
  if (value == nullptr) return std::nullopt;
  if (is_name(value->text)) return value->text;
  faults_.add(at(name), "bad_name", "must be 1 to 63 of a-z, 0-9 and '-', without '-' at the ends",
              given_text(*value));
  return std::nullopt;
}

std::optional<std::string> Fields::reference(std::string_view name) {
  const Value* value = take(name, Value::Kind::kString, "text");
  if (value == nullptr) return std::nullopt;
  if (is_reference(value->text)) return value->text;
  faults_.add(at(name), "bad_name", "must be a name or an id", given_text(*value));
  return std::nullopt;
}

std::optional<std::int64_t> Fields::whole(std::string_view name, std::int64_t low,
                                          std::int64_t high) {
  const Value* value = take(name, Value::Kind::kNumber, "a whole number");
  if (value == nullptr) return std::nullopt;
  const auto scaled = as_thousandths(value->text, true);
  if (!too_large(value->text) && (!scaled || *scaled % 1000 != 0)) {
    faults_.add(
        at(name), "not_whole",
        "must be a whole number from " + std::to_string(low) + " to " + std::to_string(high),
        given_text(*value));
    return std::nullopt;
  }
  if (!scaled || *scaled / 1000 < low || *scaled / 1000 > high) {
    faults_.add(at(name), "out_of_range",
                "must be from " + std::to_string(low) + " to " + std::to_string(high),
                given_text(*value));
    return std::nullopt;
  }
  return *scaled / 1000;
}

std::optional<std::int64_t> Fields::thousandths(std::string_view name, std::int64_t low,
                                                std::int64_t high) {
  const Value* value = take(name, Value::Kind::kNumber, "a number");
  if (value == nullptr) return std::nullopt;
  const auto scaled = as_thousandths(value->text, false);
  if (!scaled && !too_large(value->text)) {
    faults_.add(at(name), "too_many_decimals", "must have at most three decimals",
                given_text(*value));
    return std::nullopt;
  }
  if (!scaled || *scaled < low || *scaled > high) {
    faults_.add(at(name), "out_of_range",
                "must be from " + format_thousandths(low) + " to " + format_thousandths(high),
                given_text(*value));
    return std::nullopt;
  }
  return *scaled;
}

std::optional<bool> Fields::flag(std::string_view name) {
  const Value* value = take(name, Value::Kind::kBool, "true or false");
  if (value == nullptr) return std::nullopt;
  return value->boolean;
}

std::optional<std::size_t> Fields::choice(std::string_view name,
                                          std::span<const std::string_view> names) {
  const Value* value = take(name, Value::Kind::kString, "text");
  if (value == nullptr) return std::nullopt;
  const auto at_name = std::find(names.begin(), names.end(), value->text);
  if (at_name != names.end()) return static_cast<std::size_t>(at_name - names.begin());
  std::string all;
  for (const std::string_view n : names) all += (all.empty() ? "" : ", ") + std::string{n};
  faults_.add(at(name), "unknown_value", "must be one of " + all, given_text(*value));
  return std::nullopt;
}

void Fields::require(std::string_view name) {
  if (value_.is(Value::Kind::kObject) && !has(name))
    faults_.add(at(name), "required", "is missing");
}

void Fields::finish(std::initializer_list<std::string_view> read_only) {
  for (const JsonMember& member : value_.members) {
    if (std::find(taken_.begin(), taken_.end(), member.name) != taken_.end()) continue;
    if (std::find(read_only.begin(), read_only.end(), member.name) != read_only.end())
      faults_.add(at(member.name), "read_only", "cannot be set");
    else
      faults_.add(at(member.name), "unknown_field", "is not a known field");
  }
}

}  // namespace heddle::api
