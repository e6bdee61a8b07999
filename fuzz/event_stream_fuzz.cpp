// Server-sent events as a server sends them to the client, from any bytes in any pieces.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "client/sse.h"

namespace {

using heddle::client::SseEvent;
using heddle::client::SseParser;

std::vector<std::string> events_of(std::string_view bytes, std::size_t piece) {
  std::vector<std::string> events;
  SseParser parser;
  while (!bytes.empty()) {
    const std::string_view part = bytes.substr(0, piece);
    const bool good = parser.feed(part, [&](const SseEvent& event) {
      events.push_back(event.type + '\0' + event.data + '\0' + event.id);
      return true;
    });
    if (!good) break;
    bytes.remove_prefix(part.size());
  }
  events.push_back(parser.last_id());
  return events;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes{reinterpret_cast<const char*>(data), size};
  HEDDLE_CHECK(events_of(bytes, size + 1) == events_of(bytes, 1));
  HEDDLE_CHECK(events_of(bytes, size + 1) == events_of(bytes, 7));
  return 0;
}
