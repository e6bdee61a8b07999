#include "store/sqlite/faulty_layer.h"

#include <sqlite3.h>

#include <new>

namespace heddle {
namespace {

struct Plan {
  std::int64_t left = 0;
  LayerFault fault = LayerFault::kBroken;
  bool for_good = false;
  bool failed = false;
};
Plan plan;  // set by the test, read below it on the same thread

bool fails_now() {
  if (plan.failed && plan.for_good) return true;
  if (plan.failed || plan.left == 0 || --plan.left > 0) return false;
  plan.failed = true;
  return true;
}

struct LayerFile {
  sqlite3_file base;
  sqlite3_file* real() { return reinterpret_cast<sqlite3_file*>(this + 1); }
};
sqlite3_file* real(sqlite3_file* file) { return reinterpret_cast<LayerFile*>(file)->real(); }

int layer_write(sqlite3_file* file, const void* bytes, int size, sqlite3_int64 at) {
  if (fails_now()) {
    if (plan.fault == LayerFault::kFull) return SQLITE_FULL;
    if (plan.fault == LayerFault::kTornBroken)
      real(file)->pMethods->xWrite(real(file), bytes, size / 2, at);
    return SQLITE_IOERR_WRITE;
  }
  return real(file)->pMethods->xWrite(real(file), bytes, size, at);
}
// Nothing here pulls the plug, so what was written is read back without a real sync.
int layer_sync(sqlite3_file*, int) { return fails_now() ? SQLITE_IOERR_FSYNC : SQLITE_OK; }
int layer_truncate(sqlite3_file* file, sqlite3_int64 size) {
  if (fails_now()) return SQLITE_IOERR_TRUNCATE;
  return real(file)->pMethods->xTruncate(real(file), size);
}
int layer_read(sqlite3_file* f, void* to, int size, sqlite3_int64 at) {
  return real(f)->pMethods->xRead(real(f), to, size, at);
}
int layer_close(sqlite3_file* f) { return real(f)->pMethods->xClose(real(f)); }
int layer_size(sqlite3_file* f, sqlite3_int64* size) {
  return real(f)->pMethods->xFileSize(real(f), size);
}
int layer_lock(sqlite3_file* f, int lock) { return real(f)->pMethods->xLock(real(f), lock); }
int layer_unlock(sqlite3_file* f, int lock) { return real(f)->pMethods->xUnlock(real(f), lock); }
int layer_reserved(sqlite3_file* f, int* out) {
  return real(f)->pMethods->xCheckReservedLock(real(f), out);
}
int layer_control(sqlite3_file* f, int op, void* arg) {
  return real(f)->pMethods->xFileControl(real(f), op, arg);
}
int layer_sector(sqlite3_file* f) { return real(f)->pMethods->xSectorSize(real(f)); }
int layer_traits(sqlite3_file* f) { return real(f)->pMethods->xDeviceCharacteristics(real(f)); }
int layer_map(sqlite3_file* f, int page, int size, int extend, void volatile** out) {
  return real(f)->pMethods->xShmMap(real(f), page, size, extend, out);
}
int layer_map_lock(sqlite3_file* f, int offset, int n, int flags) {
  return real(f)->pMethods->xShmLock(real(f), offset, n, flags);
}
void layer_barrier(sqlite3_file* f) { real(f)->pMethods->xShmBarrier(real(f)); }
int layer_unmap(sqlite3_file* f, int erase) { return real(f)->pMethods->xShmUnmap(real(f), erase); }

const sqlite3_io_methods kMethods{2,
                                  layer_close,
                                  layer_read,
                                  layer_write,
                                  layer_truncate,
                                  layer_sync,
                                  layer_size,
                                  layer_lock,
                                  layer_unlock,
                                  layer_reserved,
                                  layer_control,
                                  layer_sector,
                                  layer_traits,
                                  layer_map,
                                  layer_map_lock,
                                  layer_barrier,
                                  layer_unmap,
                                  nullptr,
                                  nullptr};

int layer_open(sqlite3_vfs*, const char* name, sqlite3_file* file, int flags, int* out_flags) {
  sqlite3_vfs* system = sqlite3_vfs_find(nullptr);
  auto* ours = new (file) LayerFile{};
  const int code = system->xOpen(system, name, ours->real(), flags, out_flags);
  if (ours->real()->pMethods != nullptr) ours->base.pMethods = &kMethods;
  return code;
}

}  // namespace

std::string faulty_layer_name() {
  static sqlite3_vfs layer = [] {
    sqlite3_vfs copy = *sqlite3_vfs_find(nullptr);
    copy.zName = "heddle-faulty";
    copy.szOsFile += static_cast<int>(sizeof(LayerFile));
    copy.xOpen = layer_open;
    return copy;
  }();
  sqlite3_vfs_register(&layer, 0);
  return layer.zName;
}

void fail_write(std::int64_t n, LayerFault fault, bool for_good) {
  plan = {.left = n, .fault = fault, .for_good = for_good, .failed = false};
}

bool write_has_failed() { return plan.failed; }

}  // namespace heddle
