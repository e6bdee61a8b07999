#include "api/json.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>

namespace heddle::api {
namespace {

constexpr std::size_t kPointerBytes = 256;

// Builds the Value while nlohmann reads; stops at the first fault.
class Builder {
 public:
  using Json = nlohmann::json;

  bool null() { return add({}) != nullptr; }
  bool boolean(bool b) {
    Value* value = add({});
    if (value == nullptr) return false;
    value->kind = Value::Kind::kBool;
    value->boolean = b;
    return true;
  }
  bool number_integer(Json::number_integer_t n) { return number(std::to_string(n)); }
  bool number_unsigned(Json::number_unsigned_t n) { return number(std::to_string(n)); }
  bool number_float(Json::number_float_t, const std::string& raw) { return number(raw); }
  bool string(std::string& s) {
    Value* value = add({});
    if (value == nullptr) return false;
    value->kind = Value::Kind::kString;
    value->text = std::move(s);
    return true;
  }
  bool binary(Json::binary_t&) { return false; }
  bool start_object(std::size_t) { return open(Value::Kind::kObject); }
  bool start_array(std::size_t) { return open(Value::Kind::kArray); }
  bool key(std::string& name) {
    key_ = std::move(name);
    return true;
  }
  bool end_array() {
    open_.pop_back();
    return true;
  }
  bool end_object() {
    std::vector<std::string_view> names;
    for (const JsonMember& member : open_.back().value->members) names.push_back(member.name);
    std::sort(names.begin(), names.end());
    const auto twice = std::adjacent_find(names.begin(), names.end());
    if (twice != names.end())
      return fail(joined(open_.back().pointer, *twice), "duplicate_field",
                  "A field is given twice.", std::string{*twice});
    open_.pop_back();
    return true;
  }
  bool parse_error(std::size_t at, const std::string&, const Json::exception& e) {
    if (error) return false;
    const bool utf8 = std::string_view{e.what()}.find("UTF-8") != std::string_view::npos;
    const std::string where = open_.empty() ? "" : open_.back().pointer;
    return fail(where, utf8 ? "bad_utf8" : "bad_json",
                std::string{utf8 ? "The body is not UTF-8" : "The body is not JSON"} + " at byte " +
                    std::to_string(at) + ".",
                {});
  }

  Value root;
  std::optional<Error> error;

 private:
  struct Open {
    Value* value;
    std::string pointer;
  };

  bool fail(std::string pointer, std::string rule, std::string message, std::string given) {
    error = Error::invalid(std::move(pointer), std::move(rule), std::move(message),
                           given.substr(0, 64));
    return false;
  }
  bool number(std::string text) {
    Value* value = add({});
    if (value == nullptr) return false;
    value->kind = Value::Kind::kNumber;
    value->text = std::move(text);
    return true;
  }
  std::string pointer_of_next() const {
    if (open_.empty()) return "";
    const Open& in = open_.back();
    return joined(in.pointer, in.value->is(Value::Kind::kObject)
                                  ? key_
                                  : std::to_string(in.value->items.size()));
  }
  // Pointers to open values stay good: a parent grows only after its open child was closed.
  Value* add(Value value) {
    if (++nodes_ > kJsonNodes) {
      fail(pointer_of_next(), "too_many_values", "The body holds more than 10,000 values.", {});
      return nullptr;
    }
    if (open_.empty()) {
      root = std::move(value);
      return &root;
    }
    Value& in = *open_.back().value;
    if (in.is(Value::Kind::kArray)) return &in.items.emplace_back(std::move(value));
    in.members.push_back({std::move(key_), std::move(value)});
    return &in.members.back().value;
  }
  bool open(Value::Kind kind) {
    std::string pointer = pointer_of_next();
    if (open_.size() == kJsonDepth)
      return fail(std::move(pointer), "too_deep", "The body is nested deeper than 32 levels.", {});
    Value* value = add({});
    if (value == nullptr) return false;
    value->kind = kind;
    open_.push_back({value, std::move(pointer)});
    return true;
  }

  std::vector<Open> open_;
  std::string key_;
  std::size_t nodes_ = 0;
};

}  // namespace

std::string joined(const std::string& pointer, std::string_view part) {
  std::string out = pointer + "/";
  for (const char c : part) {
    if (out.size() > kPointerBytes) return out;
    if (c == '~')
      out += "~0";
    else if (c == '/')
      out += "~1";
    else
      out.push_back(c);
  }
  return out;
}

Result<Value> parse_json(std::string_view body) {
  Builder builder;
  const bool good = nlohmann::json::sax_parse(body.begin(), body.end(), &builder);
  if (builder.error) return *builder.error;
  if (!good) return Error::invalid("", "bad_json", "The body is not JSON.");
  return std::move(builder.root);
}

}  // namespace heddle::api
