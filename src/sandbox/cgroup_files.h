// Reading and writing the small files by which the kernel is told about cgroups.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace heddle::sandbox {

// Writes `text` in one write(2), as these files demand.
bool write_file(const std::string& path, std::string_view text);
// Up to 4 KiB of the file; empty when it cannot be read.
std::string read_file(const std::string& path);
// The number behind "<key> " at the start of a line of `text`; -1 when it is not there.
std::int64_t number_of_key(std::string_view text, std::string_view key);
// The file as one number; -1 when it is none.
std::int64_t read_number(const std::string& path);
// Makes the group's folder, replacing a left-over one that has no members.
Result<Done> make_group_folder(const std::string& path);
// Removes the folder; true when it is gone.
bool remove_group_folder(const std::string& path);

}  // namespace heddle::sandbox
