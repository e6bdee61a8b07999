// Reading and replacing the user's own small files.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/result.h"

namespace heddle::cli {

// The whole file (`-`: standard input), at most `most` bytes; the error names the file.
Result<std::string> read_file(const std::string& path, std::size_t most);

// Writes a new file (mode 600) beside `path`, then puts it in its place.
Result<Done> replace_file(const std::string& path, std::string_view text);

// True if the owner may execute the file.
bool is_executable(const std::string& path);

}  // namespace heddle::cli
