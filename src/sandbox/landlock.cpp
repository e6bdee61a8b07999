#include "sandbox/landlock.h"

#include <fcntl.h>
#include <linux/landlock.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>

#include "sandbox/descriptor.h"
#include "sandbox/failure.h"
#include "sandbox/system_calls.h"

namespace heddle::sandbox {
namespace {

// Rights and scopes that are younger than the headers we may be built with, by their ABI version.
constexpr std::uint64_t kRefer = 1ULL << 13;           // 2
constexpr std::uint64_t kTruncate = 1ULL << 14;        // 3
constexpr std::uint64_t kDeviceIoctl = 1ULL << 15;     // 5
constexpr std::uint64_t kScopes = 1ULL | (1ULL << 1);  // 6: abstract sockets, signals

constexpr std::uint64_t kRead =
    LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR;
constexpr std::uint64_t kWriteFirst =
    LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_REMOVE_DIR | LANDLOCK_ACCESS_FS_REMOVE_FILE |
    LANDLOCK_ACCESS_FS_MAKE_CHAR | LANDLOCK_ACCESS_FS_MAKE_DIR | LANDLOCK_ACCESS_FS_MAKE_REG |
    LANDLOCK_ACCESS_FS_MAKE_SOCK | LANDLOCK_ACCESS_FS_MAKE_FIFO | LANDLOCK_ACCESS_FS_MAKE_BLOCK |
    LANDLOCK_ACCESS_FS_MAKE_SYM;

struct RulesetAttributes {
  std::uint64_t files;
  std::uint64_t network;
  std::uint64_t scopes;
};

bool allow_below(int ruleset, const char* path, std::uint64_t rights) {
  const Descriptor place{open_place(AT_FDCWD, path, 0, RESOLVE_NO_MAGICLINKS)};
  if (!place.is_open()) return false;
  landlock_path_beneath_attr rule{};
  rule.allowed_access = rights;
  rule.parent_fd = place.get();
  return ::syscall(SYS_landlock_add_rule, ruleset, LANDLOCK_RULE_PATH_BENEATH, &rule, 0) == 0;
}

}  // namespace

int landlock_version() {
  const long version =
      ::syscall(SYS_landlock_create_ruleset, nullptr, 0, LANDLOCK_CREATE_RULESET_VERSION);
  return version > 0 ? static_cast<int>(version) : 0;
}

Result<Done> restrict_files(const std::vector<std::string>& writable) {
  const int version = landlock_version();
  if (version == 0) return Done{};
  std::uint64_t write = kWriteFirst;
  if (version >= 2) write |= kRefer;
  if (version >= 3) write |= kTruncate;
  if (version >= 5) write |= kDeviceIoctl;
  const RulesetAttributes attributes{kRead | write, 0, version >= 6 ? kScopes : 0};
  // Older kernels take a shorter structure.
  const std::size_t size = version >= 6 ? sizeof attributes : sizeof attributes.files;
  const Descriptor ruleset{
      static_cast<int>(::syscall(SYS_landlock_create_ruleset, &attributes, size, 0))};
  bool made = ruleset.is_open() && allow_below(ruleset.get(), "/", kRead);
  for (const std::string& path : writable)
    made = made &&
           allow_below(
               ruleset.get(), path.c_str(),
               kRead | (write & ~(LANDLOCK_ACCESS_FS_MAKE_CHAR | LANDLOCK_ACCESS_FS_MAKE_BLOCK)));
  const std::uint64_t device = kRead | LANDLOCK_ACCESS_FS_WRITE_FILE |
                               (version >= 3 ? kTruncate : 0) | (version >= 5 ? kDeviceIoctl : 0);
  made = made && allow_below(ruleset.get(), "/dev", device);
  if (!made || ::syscall(SYS_landlock_restrict_self, ruleset.get(), 0) != 0)
    return failure("fence the sandbox's files");
  return Done{};
}

}  // namespace heddle::sandbox
