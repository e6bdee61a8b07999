#include "cli/config/files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace heddle::cli {
namespace {

class File {
 public:
  explicit File(int fd) : fd_{fd} {}
  ~File() {
    if (fd_ > 0) close(fd_);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  int fd() const { return fd_; }

 private:
  int fd_;
};

Error trouble(const std::string& path, const std::string& why) {
  const std::string name = path == "-" ? "standard input" : path;
  return Error::invalid("", "file", name + ": " + why + ".");
}

}  // namespace

Result<std::string> read_file(const std::string& path, std::size_t most) {
  const File file(path == "-" ? STDIN_FILENO : open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (file.fd() < 0) return trouble(path, std::strerror(errno));
  struct stat about {};
  if (fstat(file.fd(), &about) == 0 && S_ISDIR(about.st_mode))
    return trouble(path, "it is a folder");
  std::string text;
  char buffer[64 * 1024];
  for (;;) {
    const ssize_t got = read(file.fd(), buffer, sizeof buffer);
    if (got < 0) return trouble(path, std::strerror(errno));
    if (got == 0) return text;
    text.append(buffer, static_cast<std::size_t>(got));
    if (text.size() > most)
      return trouble(path, "it is larger than " + std::to_string(most / 1024) + " KiB");
  }
}

Result<Done> replace_file(const std::string& path, std::string_view text) {
  std::string fresh = path + ".XXXXXX";
  const File file(mkostemp(fresh.data(), O_CLOEXEC));
  if (file.fd() < 0) return trouble(path, std::strerror(errno));
  const ssize_t wrote = write(file.fd(), text.data(), text.size());
  const bool fine = wrote == static_cast<ssize_t>(text.size()) && fsync(file.fd()) == 0 &&
                    rename(fresh.c_str(), path.c_str()) == 0;
  if (fine) return Done{};
  const std::string why = std::strerror(errno);
  unlink(fresh.c_str());
  return trouble(path, why);
}

bool is_executable(const std::string& path) {
  struct stat about {};
  return stat(path.c_str(), &about) == 0 && (about.st_mode & S_IXUSR) != 0;
}

}  // namespace heddle::cli
