#include "store/sqlite/folder.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <string_view>

#include "store/sqlite/failure.h"

namespace heddle::sqlite {
namespace {

// Others' eyes on tokens' hashes, commands and environments are refused, not mended: whoever made
// it so wide may have had a reason that we do not know.
void refuse_if_open_to_others(const std::string& path, std::string_view fix) {
  struct stat found {};
  if (stat(path.c_str(), &found) != 0) fail_system("look at", path);
  if ((found.st_mode & 077) == 0) return;
  throw Failure{{.code = ErrorCode::kPermissionDenied,
                 .message = path + " can be reached by other users of this machine.",
                 .next = "Close it with: " + std::string{fix} + " " + path}};
}

void sync_path(const std::string& path, int flags) {
  const int file = open(path.c_str(), flags | O_CLOEXEC);
  if (file < 0) fail_system("open", path);
  const int failed = fsync(file);
  const int error = errno;
  close(file);
  errno = error;
  if (failed != 0) fail_system("write", path);
}

std::string holder_of(int file) {
  std::array<char, 32> text{};
  const ssize_t size = pread(file, text.data(), text.size(), 0);
  std::string pid;
  for (ssize_t i = 0; i < size && text[static_cast<std::size_t>(i)] >= '0' &&
                      text[static_cast<std::size_t>(i)] <= '9';
       ++i)
    pid += text[static_cast<std::size_t>(i)];
  return pid.empty() ? "another process" : "process " + pid;
}

}  // namespace

std::string database_file(const std::string& folder) { return folder + "/heddle.db"; }

void prepare_folder(const std::string& folder) {
  if (mkdir(folder.c_str(), 0700) == 0)
    sync_folder_of(folder);
  else if (errno != EEXIST)
    fail_system("make the folder", folder);
  refuse_if_open_to_others(folder, "chmod 700");
}

void prepare_file(const std::string& file) {
  const int made = open(file.c_str(), O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0600);
  if (made >= 0) {
    close(made);
    sync_folder_of(file);
  } else if (errno != EEXIST) {
    fail_system("make", file);
  }
  refuse_if_open_to_others(file, "chmod 600");
}

void sync_file(const std::string& file) { sync_path(file, O_RDONLY); }

void sync_folder_of(const std::string& file) {
  const auto slash = file.find_last_of('/');
  const std::string folder = slash == std::string::npos ? "." : file.substr(0, slash + 1);
  sync_path(folder, O_RDONLY | O_DIRECTORY);
}

FolderLock::FolderLock(const std::string& folder) {
  const std::string path = folder + "/lock";
  file_ = open(path.c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0600);
  if (file_ < 0) fail_system("open", path);
  if (flock(file_, LOCK_EX | LOCK_NB) != 0) {
    const bool held = errno == EWOULDBLOCK;
    const std::string holder = holder_of(file_);
    close(file_);
    if (!held) fail_system("lock", path);
    throw Failure{{.code = ErrorCode::kConflict,
                   .message = "The folder " + folder + " is in use by " + holder + ".",
                   .next = "Stop that server first, or start this one with another folder."}};
  }
  // Only a hint for the message above, so a full disk does not matter.
  const std::string pid = std::to_string(getpid()) + "\n";
  if (ftruncate(file_, 0) == 0 && pwrite(file_, pid.data(), pid.size(), 0) < 0) errno = 0;
}

FolderLock::~FolderLock() { close(file_); }

}  // namespace heddle::sqlite
