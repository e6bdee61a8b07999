// Orders, exits, frames, requests and identities of the shim, from bytes of anyone.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "shim/exit_record.h"
#include "shim/frame.h"
#include "shim/order.h"
#include "shim/run_folder.h"
#include "shim/spawner.h"

namespace {

// What is accepted prints as something that is accepted, and then as itself.
template <class T>
void try_parse(std::string_view bytes) {
  const auto first = T::parse(bytes);
  if (!first) return;
  const std::string printed = first->encode();
  const auto second = T::parse(printed);
  HEDDLE_CHECK(second.has_value());
  HEDDLE_CHECK(second->encode() == printed);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes{reinterpret_cast<const char*>(data), size};
  try_parse<heddle::shim::Order>(bytes);
  try_parse<heddle::shim::ExitRecord>(bytes);
  try_parse<heddle::shim::Frame>(bytes);
  try_parse<heddle::shim::SpawnRequest>(bytes);
  try_parse<heddle::shim::ProcessIdentity>(bytes);
  return 0;
}
