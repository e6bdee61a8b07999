#include "sandbox/folders.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "sandbox/descriptor.h"

namespace heddle::sandbox {

bool make_parents(int root, const std::string& path) {
  for (std::size_t slash = path.find('/'); slash != std::string::npos;
       slash = path.find('/', slash + 1)) {
    if (::mkdirat(root, path.substr(0, slash).c_str(), 0755) != 0 && errno != EEXIST) return false;
  }
  return true;
}

bool make_file(int root, const char* path, std::string_view content) {
  const Descriptor file{
      ::openat(root, path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0644)};
  if (!file.is_open()) return false;
  return content.empty() || ::write(file.get(), content.data(), content.size()) ==
                                static_cast<ssize_t>(content.size());
}

}  // namespace heddle::sandbox
