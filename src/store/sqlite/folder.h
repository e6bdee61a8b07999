// The data folder: its files, who may read them, and the lock that keeps a second server out.
// Private to store/sqlite.
#pragma once

#include <string>

namespace heddle::sqlite {

std::string database_file(const std::string& folder);

// Makes the folder if it is missing (mode 0700; its parent must exist) and refuses one that others
// can reach. Throws Failure, as do all below.
void prepare_folder(const std::string& folder);
// Makes an empty file of mode 0600 if it is missing and refuses one that others can read.
void prepare_file(const std::string& file);
void sync_file(const std::string& file);
void sync_folder_of(const std::string& file);

// Held while it lives; ends with the process, however that ends.
class FolderLock {
 public:
  // Conflict, naming the other process, when somebody holds it.
  explicit FolderLock(const std::string& folder);
  ~FolderLock();
  FolderLock(const FolderLock&) = delete;
  FolderLock& operator=(const FolderLock&) = delete;

 private:
  int file_ = -1;
};

}  // namespace heddle::sqlite
