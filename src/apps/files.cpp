#include "apps/files.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

namespace heddle {

Result<Done> write_private_file(const std::string& file, const std::string& content) {
  auto failed = [&](const char* doing) {
    return Error{
        errno == ENOSPC ? ErrorCode::kStorageFull : ErrorCode::kUnavailable,
        std::string{"Could not "} + doing + " " + file + ": " + std::strerror(errno) + "."};
  };
  const std::string fresh = file + ".new";
  unlink(fresh.c_str());
  const int fd = open(fresh.c_str(), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (fd < 0) return failed("make");
  const bool written =
      write(fd, content.data(), content.size()) == static_cast<ssize_t>(content.size()) &&
      fsync(fd) == 0;
  close(fd);
  if (!written) return failed("write");
  if (std::rename(fresh.c_str(), file.c_str()) != 0) return failed("replace");
  return Done{};
}

}  // namespace heddle
