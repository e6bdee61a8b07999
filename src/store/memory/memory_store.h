// The memory store: keeps everything for as long as its disk lives. For simulations and tests.
#pragma once

#include <memory>

#include "control/ports/store.h"

namespace heddle {

// What outlives a store, as a disk outlives a process. Opaque.
class MemoryDisk;
std::shared_ptr<MemoryDisk> make_memory_disk();

// A store of its own, or one on a disk that others had or have. Each open() fences those before it.
// Any thread; deterministic. backup() is not supported.
std::unique_ptr<Store> make_memory_store();
std::unique_ptr<Store> make_memory_store(std::shared_ptr<MemoryDisk> disk);

}  // namespace heddle
