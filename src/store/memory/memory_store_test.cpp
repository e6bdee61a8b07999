#include "store/memory/memory_store.h"

#include <doctest/doctest.h>

#include "store/conformance/conformance.h"

namespace heddle {

TEST_CASE("the memory store does what every store must do") {
  run_store_conformance(
      [] { return [disk = make_memory_disk()] { return make_memory_store(disk); }; });
}

TEST_CASE("the memory store says that it cannot be backed up") {
  CHECK(make_memory_store()->backup("file").error().code == ErrorCode::kNotSupported);
}

}  // namespace heddle
