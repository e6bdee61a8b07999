// Making folders and small files on the sandbox's own, still private tree.
#pragma once

#include <string>
#include <string_view>

namespace heddle::sandbox {

// Makes every missing folder above `path`, which is relative to the folder `root`. False with
// errno.
bool make_parents(int root, const std::string& path);

// Makes the file with this content, readable by all. False with errno.
bool make_file(int root, const char* path, std::string_view content);

}  // namespace heddle::sandbox
