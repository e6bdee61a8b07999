#include "shim/run_folder.h"

#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <limits>

#include "shim/record.h"

namespace heddle::shim {
namespace {

Error failed(const std::string& what, const std::string& name, int error) {
  const ErrorCode code = error == ENOENT                      ? ErrorCode::kNotFound
                         : error == ENOSPC || error == EDQUOT ? ErrorCode::kStorageFull
                                                              : ErrorCode::kInternal;
  return {code, what + " '" + name + "': " + std::strerror(error), {}, {}, {}};
}

// Writes everything to a new file of a name that nobody else uses.
Result<Done> write_new(int folder, const std::string& name, std::string_view bytes) {
  const Fd file{
      openat(folder, name.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600)};
  if (!file.is_open()) return failed("cannot create", name, errno);
  while (!bytes.empty()) {
    const ssize_t wrote = write(file.get(), bytes.data(), bytes.size());
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote < 0) return failed("cannot write", name, errno);
    bytes.remove_prefix(static_cast<std::size_t>(wrote));
  }
  return Done{};
}

std::string draft_name(const std::string& name) {
  return "." + name + "." + std::to_string(getpid());
}

std::string read_boot_id() {
  const Fd file{open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC)};
  char text[64];
  const ssize_t size = file.is_open() ? read(file.get(), text, sizeof text) : 0;
  std::string id{text, size > 0 ? static_cast<std::size_t>(size) : 0};
  while (!id.empty() && id.back() == '\n') id.pop_back();
  return id;
}

}  // namespace

void Fd::reset() {
  if (fd_ >= 0) close(fd_);
  fd_ = -1;
}

std::int64_t boot_now_ms() {
  timespec now{};
  clock_gettime(CLOCK_BOOTTIME, &now);
  return std::int64_t{now.tv_sec} * 1000 + now.tv_nsec / 1'000'000;
}

std::string boot_id() {
  static const std::string id = read_boot_id();
  return id;
}

std::string ProcessIdentity::encode() const {
  Record record;
  record.add_number("pid", pid);
  record.add_number("start_ticks", start_ticks);
  record.add("boot", boot);
  return record.encode("process", 1);
}

Result<ProcessIdentity> ProcessIdentity::parse(std::string_view bytes) {
  const Result<Record> record = Record::parse(bytes, "process", 1);
  if (!record) return record.error();
  RecordReader reader{*record};
  ProcessIdentity process;
  process.pid = static_cast<pid_t>(reader.number("pid", 0, std::numeric_limits<pid_t>::max()));
  process.start_ticks = reader.number("start_ticks", 0, std::numeric_limits<std::int64_t>::max());
  process.boot = reader.text("boot", 64);
  if (!reader.ok()) return reader.error();
  return process;
}

ProcessIdentity identify(pid_t pid) {
  ProcessIdentity process{pid, 0, boot_id()};
  const std::string path = "/proc/" + std::to_string(pid) + "/stat";
  const Fd file{open(path.c_str(), O_RDONLY | O_CLOEXEC)};
  char text[1024];
  const ssize_t size = file.is_open() ? read(file.get(), text, sizeof text - 1) : 0;
  if (size <= 0) return process;
  text[size] = '\0';
  // The name in brackets may hold anything, so fields are counted from its last bracket: what
  // follows is field 3, and the start time is field 22.
  const char* at = std::strrchr(text, ')');
  for (int field = 2; at != nullptr && field < 22; ++field) at = std::strchr(at + 1, ' ');
  if (at != nullptr) process.start_ticks = std::strtoll(at + 1, nullptr, 10);
  return process;
}

Fd open_process(const ProcessIdentity& process) {
  if (process.pid <= 0 || process.boot != boot_id()) return {};
  Fd pidfd{static_cast<int>(syscall(SYS_pidfd_open, process.pid, 0))};
  // Asked after opening: a number that was used again in between has another start time.
  if (pidfd.is_open() && identify(process.pid).start_ticks != process.start_ticks) return {};
  return pidfd;
}

bool has_ended(int pidfd) {
  pollfd waiting{pidfd, POLLIN, 0};
  return poll(&waiting, 1, 0) == 1;
}

Fd open_folder(const std::string& path) {
  return Fd{open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)};
}

Result<std::string> read_file(int folder, const std::string& name, std::size_t max_bytes) {
  const Fd file{openat(folder, name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)};
  if (!file.is_open()) return failed("cannot open", name, errno);
  struct stat facts {};
  if (fstat(file.get(), &facts) != 0 || !S_ISREG(facts.st_mode))
    return failed("not a plain file", name, EINVAL);
  if (facts.st_size > static_cast<off_t>(max_bytes)) return failed("cannot read", name, EFBIG);
  std::string bytes(static_cast<std::size_t>(facts.st_size), '\0');
  std::size_t have = 0;
  while (have < bytes.size()) {
    const ssize_t got = read(file.get(), bytes.data() + have, bytes.size() - have);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return failed("cannot read", name, errno);
    if (got == 0) break;
    have += static_cast<std::size_t>(got);
  }
  bytes.resize(have);
  return bytes;
}

std::vector<std::string> names_in(int folder) {
  std::vector<std::string> names;
  // fdopendir takes the descriptor, and a copy made by dup would share its place.
  const int copy = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  DIR* entries = copy >= 0 ? fdopendir(copy) : nullptr;
  if (entries == nullptr) return names;
  while (const dirent* entry = readdir(entries)) {
    const std::string name = entry->d_name;
    if (name != "." && name != "..") names.push_back(name);
  }
  closedir(entries);
  return names;
}

bool exists(int folder, const std::string& name) {
  return faccessat(folder, name.c_str(), F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

Result<Done> write_file(int folder, const std::string& name, std::string_view bytes) {
  const std::string draft = draft_name(name);
  const Result<Done> wrote = write_new(folder, draft, bytes);
  if (!wrote || renameat(folder, draft.c_str(), folder, name.c_str()) != 0) {
    const int error = errno;
    unlinkat(folder, draft.c_str(), 0);
    if (!wrote) return wrote.error();
    return failed("cannot name", name, error);
  }
  return Done{};
}

Result<Done> create_file(int folder, const std::string& name, std::string_view bytes) {
  const std::string draft = draft_name(name);
  Result<Done> wrote = write_new(folder, draft, bytes);
  if (wrote && linkat(folder, draft.c_str(), folder, name.c_str(), 0) != 0) {
    const int error = errno;
    wrote = failed("cannot name", name, error);
    if (error == EEXIST)
      wrote = Error{ErrorCode::kConflict, "'" + name + "' is there already", {}, {}, {}};
  }
  unlinkat(folder, draft.c_str(), 0);
  return wrote;
}

}  // namespace heddle::shim
