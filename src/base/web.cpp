#include "base/web.h"

namespace heddle::web {

std::string_view header(const Headers& headers, std::string_view lower_name) {
  for (const auto& [name, value] : headers)
    if (name == lower_name) return value;
  return {};
}

}  // namespace heddle::web
