// A private folder for one test, gone with it.
#pragma once

#include <stdlib.h>
#include <unistd.h>

#include <filesystem>
#include <string>

#include "base/check.h"

namespace heddle {

class TemporaryFolder {
 public:
  TemporaryFolder() {
    // In memory where that can be had: what these tests show does not depend on a slow disk.
    const bool memory = access("/dev/shm", W_OK) == 0;
    std::string name = memory ? "/dev/shm" : std::filesystem::temp_directory_path().string();
    name += "/heddle-store-XXXXXX";
    HEDDLE_CHECK(mkdtemp(name.data()) != nullptr);
    path_ = name;
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace heddle
