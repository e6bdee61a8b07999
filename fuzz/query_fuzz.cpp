// Queries, cursors and places in logs, from any bytes.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "api/cursor.h"
#include "api/feed.h"
#include "api/query.h"
#include "base/check.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace heddle;
  const std::string_view bytes{reinterpret_cast<const char*>(data), size};
  if (auto query = api::Query::parse(bytes)) {
    api::Faults faults;
    (void)query->whole("limit", 1, 1000, faults);
    query->finish(faults);
    (void)query->filter();
  }
  const api::Seal seal{std::string(32, 'k')};
  HEDDLE_CHECK(!seal.open(bytes, UserId{1}, "list", "?cursor").has_value());
  if (const auto place = api::parse_log_place(bytes))
    HEDDLE_CHECK(api::parse_log_place(api::text_of(*place)).has_value());
  return 0;
}
