// Reading answers without surprises, and printing them as JSON or YAML.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"

namespace heddle::cli {

// A field's value, or an empty / zero / none one when it is missing, null or of another type: an
// old command line and a new server, and the other way round, must get along.
std::string text(const nlohmann::json& object, std::string_view key);
std::int64_t number(const nlohmann::json& object, std::string_view key);  // texts above 2^53 too
std::optional<std::int64_t> maybe_number(const nlohmann::json& object, std::string_view key);
bool flag(const nlohmann::json& object, std::string_view key);
std::optional<Instant> time(const nlohmann::json& object, std::string_view key);
std::vector<std::string> texts(const nlohmann::json& object, std::string_view key);
// The field itself, or a null value with static lifetime.
const nlohmann::json& part(const nlohmann::json& object, std::string_view key);

// Two-space JSON with a newline at its end. `for_terminal`: everything outside ASCII is written as
// \u escapes, the same value and inert.
std::string json_text(const nlohmann::json& value, bool for_terminal);
// One line.
std::string json_line(const nlohmann::json& value, bool for_terminal);
// Block YAML; texts in double quotes where a plain one could be read as something else.
std::string yaml_text(const nlohmann::json& value, bool for_terminal);

}  // namespace heddle::cli
