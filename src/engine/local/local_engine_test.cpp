#include "engine/local/local_engine.h"

#include <doctest/doctest.h>

#include "engine/conformance/conformance.h"
#include "engine/local/testing/local_subject.h"

namespace heddle::local {

TEST_CASE("the local engine does what every engine must do") {
  run_engine_conformance([] { return local_subject(std::make_shared<Machine>()); });
}

}  // namespace heddle::local
