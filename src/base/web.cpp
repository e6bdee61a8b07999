#include "base/web.h"

namespace heddle::web {

std::string_view header(const Headers& headers, std::string_view lower_name) {
  for (const auto& [name, value] : headers)
    if (name == lower_name) return value;
  return {};
}

std::size_t header_count(const Headers& headers, std::string_view lower_name) {
  std::size_t times = 0;
  for (const auto& [name, value] : headers) times += name == lower_name ? 1U : 0U;
  return times;
}

}  // namespace heddle::web
