// The fields of a job file: which there are, and what each holds.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace heddle::cli {

enum class Holds : std::uint8_t { kText, kNumber, kSwitch, kObject, kList, kUnknown };

// What stands at a JSON pointer: /resources/gpus holds a number, /env/LR a text, /gups nothing.
Holds what_holds(std::string_view pointer);

// The names that an object at this pointer may have; empty when any will do (env).
std::vector<std::string> fields_at(std::string_view pointer);

}  // namespace heddle::cli
