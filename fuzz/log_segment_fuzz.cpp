// A log segment of anyone's bytes, read forwards and backwards.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "shim/log_format.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace heddle::shim;
  const std::string_view bytes{reinterpret_cast<const char*>(data), size};
  LogRecord record;
  std::size_t at = 0;
  while (parse_log_record(bytes.substr(at), record) == LogParse::kRecord) {
    HEDDLE_CHECK(record.bytes() <= size - at);
    HEDDLE_CHECK(log_record_before(bytes, at + record.bytes()).has_value());
    at += record.bytes();
  }
  for (std::size_t end = size; end > 0;) {
    const auto begin = log_record_before(bytes, end);
    if (!begin) break;
    HEDDLE_CHECK(*begin < end);
    end = *begin;
  }
  return 0;
}
