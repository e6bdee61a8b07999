#include "sandbox/sandbox.h"

#include <doctest/doctest.h>

namespace heddle::sandbox {

TEST_CASE("a program runs and its exit code comes back") {
  Spec spec;
  spec.id = "hello";
  spec.argv = {"sh", "-c", "exit 7"};
  spec.workdir = "/tmp";
  spec.uid = 200001;
  spec.gid = 200001;
  spec.hostname = "box";
  Result<Running> running = start(spec);
  if (!running) MESSAGE(running.error().message);
  REQUIRE(running);
  const Result<Exit> exit = running->finish();
  REQUIRE(exit);
  CHECK(exit->code == 7);
}

}  // namespace heddle::sandbox
