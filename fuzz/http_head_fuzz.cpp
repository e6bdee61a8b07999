// The head of an HTTP request, from any bytes.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "http/head.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace heddle::http;
  const auto read = read_head({reinterpret_cast<const char*>(data), size});
  if (const auto* head = std::get_if<Head>(&read)) {
    HEDDLE_CHECK(head->request.path.starts_with('/'));
    HEDDLE_CHECK(head->content_length >= 0);
    HEDDLE_CHECK(!head->chunked || head->content_length == 0);
  } else {
    HEDDLE_CHECK(std::get<Refusal>(read).status >= 400);
  }
  return 0;
}
