#include "sandbox/mounts.h"

#include <fcntl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <string>

#include "sandbox/descriptor.h"
#include "sandbox/etc_files.h"
#include "sandbox/failure.h"
#include "sandbox/folders.h"
#include "sandbox/system_calls.h"

namespace heddle::sandbox {
namespace {

constexpr std::uint64_t kNoLinks = RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS;
constexpr std::uint64_t kReadOnly = MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV;
// Room for our own files and folders beside what the job may put into /tmp and /dev/shm.
constexpr std::int64_t kOwnBytes = 1 << 20;
// One file for each 4 KiB is more than any honest use needs; the job pays for them in memory.
constexpr std::int64_t kBytesPerFile = 4096, kFilesMin = 4096;

// Folders of the host that belong to its programs. On most hosts all but /usr are links into it.
constexpr std::array kSystemFolders{"usr", "bin", "sbin", "lib", "lib64", "lib32", "libx32"};
// What else programs below /usr reach for by link or by name. Nothing in here is secret on a host.
constexpr std::array kSharedPaths{"etc/alternatives", "etc/ld.so.cache", "sys/devices/system"};
// Files that say more about the host than a tenant may know; root's own are covered as well, for
// a kernel with a weaker rule than ours.
constexpr std::array kMaskedFiles{"proc/kcore",     "proc/kallsyms",      "proc/keys",
                                  "proc/key-users", "proc/sysrq-trigger", "proc/timer_list"};

struct Option {
  const char* key;
  std::string value;
};

// A new file system of its own, not yet attached anywhere.
Descriptor make_file_system(const char* type, const std::vector<Option>& options,
                            unsigned attributes) {
  const Descriptor context{::fsopen(type, FSOPEN_CLOEXEC)};
  if (!context.is_open()) return {};
  for (const Option& option : options)
    if (::fsconfig(context.get(), FSCONFIG_SET_STRING, option.key, option.value.c_str(), 0) != 0)
      return {};
  if (::fsconfig(context.get(), FSCONFIG_CMD_CREATE, nullptr, nullptr, 0) != 0) return {};
  return Descriptor{::fsmount(context.get(), FSMOUNT_CLOEXEC, attributes)};
}

// A copy of the mount at the open place `from`, narrowed by `attributes` and attached at `target`.
// The place is held open from the moment it was checked, so that it cannot be swapped in between.
bool attach_copy(int from, const char* from_path, std::uint64_t attributes, bool with_submounts,
                 int root, const char* target) {
  const unsigned recursive = with_submounts ? AT_RECURSIVE : 0U;
  const Descriptor tree{::open_tree(
      from, from_path, OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_EMPTY_PATH | recursive)};
  if (!tree.is_open()) return false;
  if (attributes != 0) {
    mount_attr change{};
    change.attr_set = attributes;
    if (::mount_setattr(tree.get(), "", AT_EMPTY_PATH | recursive, &change, sizeof change) != 0)
      return false;
  }
  return ::move_mount(tree.get(), "", root, target, MOVE_MOUNT_F_EMPTY_PATH) == 0;
}

Result<Done> attach_system_folder(int root, const char* name) {
  const std::string host = std::string{"/"} + name;
  struct stat info {};
  if (::lstat(host.c_str(), &info) != 0) return Done{};
  if (S_ISLNK(info.st_mode)) {
    std::array<char, 256> target{};
    const ssize_t size = ::readlink(host.c_str(), target.data(), target.size() - 1);
    if (size <= 0 || ::symlinkat(target.data(), root, name) != 0) return failure("link " + host);
    return Done{};
  }
  if (::mkdirat(root, name, 0755) != 0 ||
      !attach_copy(AT_FDCWD, host.c_str(), kReadOnly, true, root, name))
    return failure("show " + host);
  return Done{};
}

// Makes the place where a copy of the file or folder `mode` will be attached.
bool make_target(int root, const std::string& path, mode_t mode) {
  if (!make_parents(root, path)) return false;
  if (S_ISDIR(mode)) return ::mkdirat(root, path.c_str(), 0755) == 0 || errno == EEXIST;
  return make_file(root, path.c_str(), "") || errno == EEXIST;
}

Result<Done> attach_shared_path(int root, const char* path) {
  const std::string host = std::string{"/"} + path;
  struct stat info {};
  if (::stat(host.c_str(), &info) != 0) return Done{};
  if (!make_target(root, path, info.st_mode) ||
      !attach_copy(AT_FDCWD, host.c_str(), kReadOnly | MOUNT_ATTR_NOEXEC, false, root, path))
    return failure("show " + host);
  return Done{};
}

Result<Done> attach_mount(int root, const Mount& mount) {
  const Descriptor source{open_place(AT_FDCWD, mount.source.c_str(), 0, kNoLinks)};
  if (!source.is_open() && errno == ELOOP)
    return Error{ErrorCode::kInvalidArgument,
                 "cannot show " + mount.target + ": its path on the host changed or is a link"};
  struct stat info {};
  if (!source.is_open() || ::fstat(source.get(), &info) != 0)
    return failure("show " + mount.target, ErrorCode::kNotFound);
  if (!S_ISDIR(info.st_mode) && !S_ISREG(info.st_mode))
    return Error{ErrorCode::kInvalidArgument,
                 "cannot show " + mount.target + ": neither a folder nor a file"};
  const std::uint64_t attributes =
      mount.writable ? MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV : kReadOnly;
  const std::string target = mount.target.substr(1);
  // The target lies on our own tree or on a mount below it: a link there must not lead us away.
  if (!make_target(root, target, info.st_mode)) return failure("show " + mount.target);
  const Descriptor place{open_place(root, target.c_str(), 0, kNoLinks | RESOLVE_BENEATH)};
  if (!place.is_open()) return failure("show " + mount.target);
  const Descriptor tree{
      ::open_tree(source.get(), "", OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_EMPTY_PATH)};
  mount_attr change{};
  change.attr_set = attributes;
  if (!tree.is_open() ||
      ::mount_setattr(tree.get(), "", AT_EMPTY_PATH, &change, sizeof change) != 0 ||
      ::move_mount(tree.get(), "", place.get(), "",
                   MOVE_MOUNT_F_EMPTY_PATH | MOVE_MOUNT_T_EMPTY_PATH) != 0)
    return failure("show " + mount.target);
  return Done{};
}

Result<Done> attach_dev(int root, const std::vector<HeldDevice>& held) {
  if (::mkdirat(root, "dev", 0755) != 0) return failure("make /dev");
  const Result<Done> filled = fill_dev(root, held);
  if (!filled) return filled;
  // The one place where device nodes work: a copy of our own folder, taken before the tree around
  // it is closed for them.
  if (!attach_copy(root, "dev", MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NOEXEC, false,
                   root, "dev"))
    return failure("show /dev");
  const Descriptor terminals = make_file_system("devpts", {{"mode", "0620"}, {"ptmxmode", "0666"}},
                                                MOUNT_ATTR_NOSUID | MOUNT_ATTR_NOEXEC);
  if (!terminals.is_open() ||
      ::move_mount(terminals.get(), "", root, "dev/pts", MOVE_MOUNT_F_EMPTY_PATH) != 0)
    return failure("show /dev/pts");
  return Done{};
}

// /proc is read-only as a whole: no setting of the kernel, and no score of a process, can be
// written, whatever a kernel adds to it.
Result<Done> attach_proc(int root) {
  const Descriptor processes =
      make_file_system("proc", {{"hidepid", "invisible"}}, kReadOnly | MOUNT_ATTR_NOEXEC);
  if (!processes.is_open() || ::mkdirat(root, "proc", 0555) != 0 ||
      ::move_mount(processes.get(), "", root, "proc", MOVE_MOUNT_F_EMPTY_PATH) != 0)
    return failure("show /proc");
  for (const char* path : kMaskedFiles)
    if (!attach_copy(root, "dev/null", kReadOnly | MOUNT_ATTR_NOEXEC, false, root, path) &&
        errno != ENOENT)
      return failure(std::string{"cover /"} + path);
  return Done{};
}

// /tmp and /dev/shm: two folders of the same memory file system, writable, together bounded.
Result<Done> attach_temporary(int root) {
  constexpr std::uint64_t kWritable = MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV;
  if (::mkdirat(root, "tmp", 0755) != 0 || ::mkdirat(root, "run/shm", 0755) != 0 ||
      ::fchmodat(root, "tmp", 01777, 0) != 0 || ::fchmodat(root, "run/shm", 01777, 0) != 0 ||
      !attach_copy(root, "tmp", kWritable, false, root, "tmp") ||
      !attach_copy(root, "run/shm", kWritable, false, root, "dev/shm"))
    return failure("make /tmp");
  return Done{};
}

Result<Done> fill_tree(int root, const Spec& spec, const std::vector<HeldDevice>& held) {
  for (const char* folder : {"etc", "run", "var", "sys"})
    if (::mkdirat(root, folder, 0755) != 0) return failure("make the sandbox's folders");
  if (::symlinkat("../tmp", root, "var/tmp") != 0) return failure("make /var/tmp");
  Result<Done> done = fill_etc(root, spec);
  if (!done) return done;
  for (const char* name : kSystemFolders)
    if (done = attach_system_folder(root, name); !done) return done;
  for (const char* path : kSharedPaths)
    if (done = attach_shared_path(root, path); !done) return done;
  if (done = attach_dev(root, held); !done) return done;
  if (done = attach_temporary(root); !done) return done;
  if (done = attach_proc(root); !done) return done;
  for (const Mount& mount : spec.mounts)
    if (done = attach_mount(root, mount); !done) return done;
  return done;
}

}  // namespace

Result<Done> enter_private_tree(const Spec& spec, const std::vector<HeldDevice>& held) {
  if (::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0)
    return failure("part the sandbox's files from the host's");
  const std::int64_t files = std::max(spec.tmp_bytes / kBytesPerFile, kFilesMin);
  const Descriptor root = make_file_system("tmpfs",
                                           {{"size", std::to_string(spec.tmp_bytes + kOwnBytes)},
                                            {"nr_inodes", std::to_string(files)},
                                            {"mode", "0755"}},
                                           MOUNT_ATTR_NOSUID);
  // Laid over the host's root: paths of the host still lead into the host, the new tree is reached
  // by its descriptor only.
  if (!root.is_open() || ::move_mount(root.get(), "", AT_FDCWD, "/", MOVE_MOUNT_F_EMPTY_PATH) != 0)
    return failure("make the sandbox's root");
  const Result<Done> filled = fill_tree(root.get(), spec, held);
  if (!filled) return filled;
  mount_attr close{};
  close.attr_set = kReadOnly;
  if (::mount_setattr(root.get(), "", AT_EMPTY_PATH, &close, sizeof close) != 0)
    return failure("close the sandbox's root");
  if (::fchdir(root.get()) != 0 || ::syscall(SYS_pivot_root, ".", ".") != 0 ||
      ::umount2(".", MNT_DETACH) != 0 || ::chdir("/") != 0)
    return failure("enter the sandbox's root");
  return Done{};
}

}  // namespace heddle::sandbox
