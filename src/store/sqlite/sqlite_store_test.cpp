#include "store/sqlite/sqlite_store.h"

#include <doctest/doctest.h>

#include <memory>

#include "store/conformance/conformance.h"
#include "store/sqlite/temporary_folder.h"

namespace heddle {

TEST_CASE("the SQLite store does what every store must do") {
  run_store_conformance([] {
    return [folder = std::make_shared<TemporaryFolder>()] {
      return make_sqlite_store({.folder = folder->path(), .file_layer = {}});
    };
  });
}

}  // namespace heddle
