// What every store must do, as one suite that runs on all of them.
#pragma once

#include <functional>
#include <memory>

#include "control/ports/store.h"

namespace heddle {

// Gives a store, not yet opened, on data that outlives it. Called again only after the store that
// it gave before is gone.
using AttachStore = std::function<std::unique_ptr<Store>()>;
// Gives a new, empty place for data each time.
using NewDisk = std::function<AttachStore()>;

// Call it alone inside a doctest TEST_CASE: it is made of SUBCASEs.
void run_store_conformance(const NewDisk& new_disk);

}  // namespace heddle
