#include "store/sqlite/sqlite_store.h"

#include <doctest/doctest.h>

#include <memory>

#include "store/conformance/conformance.h"
#include "store/sqlite/faulty_layer.h"
#include "store/sqlite/temporary_folder.h"

namespace heddle {

// On a layer without real syncs, which on a busy disk would be most of the time.
TEST_CASE("the SQLite store does what every store must do") {
  run_store_conformance([] {
    return [folder = std::make_shared<TemporaryFolder>()] {
      return make_sqlite_store({.folder = folder->path(), .file_layer = faulty_layer_name()});
    };
  });
}

}  // namespace heddle
