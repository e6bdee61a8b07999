#include "store/sqlite/backup.h"

#include "store/sqlite/connection.h"
#include "store/sqlite/copy.h"
#include "store/sqlite/failure.h"
#include "store/sqlite/folder.h"

namespace heddle {

Result<Done> write_backup(const std::string& folder, const std::string& file) {
  return sqlite::guarded([&] {
    sqlite::Connection source{sqlite::database_file(folder), sqlite::Access::kReadOnly};
    sqlite::copy_database(source, file);
    return Done{};
  });
}

}  // namespace heddle
