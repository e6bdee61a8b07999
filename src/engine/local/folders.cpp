#include "engine/local/folders.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <string_view>

#include "shim/run_folder.h"

namespace heddle::local {
namespace {

namespace fs = std::filesystem;
using shim::Fd;

constexpr mode_t kOurs = 0700;
constexpr mode_t kPassable = 0711;

Error failed(const std::string& what, int error) {
  const bool full = error == ENOSPC || error == EDQUOT;
  return {full ? ErrorCode::kStorageFull : ErrorCode::kInternal,
          what + (full ? ": the disk is full." : std::string{": "} + std::strerror(error) + "."),
          {},
          {},
          {}};
}

Result<Done> make_folder(const std::string& path, mode_t mode) {
  if (mkdir(path.c_str(), mode) == 0 || errno == EEXIST) return Done{};
  return failed("The folder '" + path + "' cannot be made", errno);
}

// FNV-1a in 64 bits, as text: a name for a path.
std::string digest_of(std::string_view path) {
  std::uint64_t hash = 14695981039346656037ULL;
  for (const char c : path) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211ULL;
  std::string text;
  for (int shift = 60; shift >= 0; shift -= 4) text += "0123456789abcdef"[(hash >> shift) & 15];
  return text;
}

// A folder of ours below `memory`, if that is a file system in memory; else empty. Everybody may
// write to /dev/shm, so what is there already counts only if it is ours alone.
std::string folder_in_memory(const std::string& memory, const std::string& name) {
  struct statfs kind {};
  if (statfs(memory.c_str(), &kind) != 0 || kind.f_type != TMPFS_MAGIC) return {};
  const std::string ours = memory + "/heddle-" + std::to_string(geteuid());
  struct stat facts {};
  if (!make_folder(ours, kOurs) || lstat(ours.c_str(), &facts) != 0 || !S_ISDIR(facts.st_mode) ||
      facts.st_uid != geteuid() || (facts.st_mode & 0077) != 0)
    return {};
  return ours + "/" + name;
}

// Gives an entry to its team; where we are not root, everything is the server's user's anyway.
bool give(int fd, uid_t uid) { return geteuid() != 0 || fchown(fd, uid, uid) == 0; }

Result<Done> make_owned(const std::string& path, uid_t uid) {
  const Result<Done> made = make_folder(path, kOurs);
  if (!made) return made;
  const Fd folder = shim::open_folder(path);
  if (!folder.is_open() || !give(folder.get(), uid))
    return failed("The folder '" + path + "' cannot be given to its team", errno);
  return Done{};
}

// A folder below `base`, never through a link and never above it.
Fd open_beneath(int base, const std::string& path) {
  open_how how{};
  how.flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC;
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS | RESOLVE_NO_XDEV;
  return Fd{static_cast<int>(syscall(SYS_openat2, base, path.c_str(), &how, sizeof how))};
}

Result<Done> put_file(int base, const OrderFile& file, uid_t uid) {
  const std::string what = "The file '" + file.path + "' cannot be put into the working folder";
  Fd folder = open_beneath(base, ".");
  std::string_view rest = file.path;
  for (auto slash = rest.find('/'); slash != std::string_view::npos; slash = rest.find('/')) {
    const std::string part{rest.substr(0, slash)};
    rest.remove_prefix(slash + 1);
    const bool made = mkdirat(folder.get(), part.c_str(), 0755) == 0;
    Fd next = open_beneath(folder.get(), part);
    if (!next.is_open()) return failed(what, errno);
    if (made && !give(next.get(), uid)) return failed(what, errno);
    folder = std::move(next);
  }
  // Written beside and renamed, so that nobody ever reads half a file.
  const std::string name{rest};
  const std::string draft = ".heddle-draft-" + std::to_string(getpid());
  unlinkat(folder.get(), draft.c_str(), 0);
  const Fd out{openat(folder.get(), draft.c_str(),
                      O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600)};
  if (!out.is_open()) return failed(what, errno);
  const std::string& bytes = *file.bytes;
  bool good = true;
  for (std::size_t at = 0; good && at < bytes.size();) {
    const ssize_t wrote = write(out.get(), bytes.data() + at, bytes.size() - at);
    if (wrote < 0 && errno == EINTR) continue;
    good = wrote > 0;
    if (good) at += static_cast<std::size_t>(wrote);
  }
  good = good && give(out.get(), uid) && fchmod(out.get(), file.executable ? 0755 : 0644) == 0 &&
         renameat(folder.get(), draft.c_str(), folder.get(), name.c_str()) == 0;
  const int error = errno;
  if (!good) unlinkat(folder.get(), draft.c_str(), 0);
  if (!good) return failed(what, error);
  return Done{};
}

}  // namespace

Folders::Folders(const std::string& state_folder, std::string runtime_folder)
    : root_{state_folder + "/local"}, runtime_{std::move(runtime_folder)} {
  for (const char* memory : {"/run", "/dev/shm"})
    if (runtime_.empty()) runtime_ = folder_in_memory(memory, digest_of(state_folder));
  if (runtime_.empty()) runtime_ = root_ + "/runtime";
}

Result<Done> Folders::prepare() const {
  for (const auto& [path, mode] : {std::pair{root_, kPassable},
                                   {runtime_, kOurs},
                                   {runs(), kOurs},
                                   {runtime_ + "/nets", kOurs},
                                   {root_ + "/logs", kOurs},
                                   {root_ + "/teams", kPassable}}) {
    const Result<Done> made = make_folder(path, mode);
    if (!made) return made;
  }
  return Done{};
}

std::string Folders::network(WorkloadId id, std::int64_t attempt) const {
  return runtime_ + "/nets/" + id.text() + "." + std::to_string(attempt);
}

std::string Folders::log(WorkloadId id, std::int64_t attempt, std::int64_t replica) const {
  return root_ + "/logs/" + id.text() + "/" + std::to_string(attempt) + "." +
         std::to_string(replica);
}

std::string Folders::work(TeamId team_id, WorkloadId id) const {
  return works(team_id) + "/" + id.text();
}

Result<Done> Folders::make_log(WorkloadId id, std::int64_t attempt, std::int64_t replica) const {
  const Result<Done> made = make_folder(root_ + "/logs/" + id.text(), kOurs);
  if (!made) return made;
  return make_folder(log(id, attempt, replica), kOurs);
}

Result<Done> Folders::make_work(TeamId team_id, WorkloadId id, uid_t uid) const {
  for (const std::string& path : {team(team_id), works(team_id)}) {
    const Result<Done> made = make_folder(path, kPassable);
    if (!made) return made;
  }
  const Result<Done> made = make_owned(shared(team_id), uid);
  if (!made) return made;
  return make_owned(work(team_id, id), uid);
}

Result<Done> Folders::put_files(const std::string& work, const std::vector<OrderFile>& files,
                                uid_t uid) const {
  const Fd base = shim::open_folder(work);
  if (!base.is_open()) return failed("The working folder cannot be opened", errno);
  for (const OrderFile& file : files) {
    const Result<Done> put = put_file(base.get(), file, uid);
    if (!put) return put;
  }
  return Done{};
}

void Folders::discard(WorkloadId id) const {
  std::error_code ignored;
  fs::remove_all(root_ + "/logs/" + id.text(), ignored);
  fs::directory_iterator teams{root_ + "/teams", ignored};
  for (; teams != fs::directory_iterator{}; teams.increment(ignored)) {
    std::error_code kept;
    fs::remove_all(teams->path() / "work" / id.text(), kept);
  }
}

}  // namespace heddle::local
