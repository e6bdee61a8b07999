// Numbers from the API in the words of base/units, with the few forms that only tables need.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace heddle::cli {

// Micro-units without the currency, which the heading carries: `9.60`, `18,471.20`.
std::string money_words(std::int64_t micros);

// GPU use in thousandths x ms as GPU-seconds: `22,560`; one decimal below ten.
std::string gpu_seconds_words(std::int64_t milli_ms);

// Thousandths of a device, negative ones too: `4`, `0.25`.
std::string gpu_words(std::int64_t milli);

// `1 node`, `3 nodes`.
std::string plural(std::int64_t count, std::string_view noun);

}  // namespace heddle::cli
