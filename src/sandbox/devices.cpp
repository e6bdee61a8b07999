#include "sandbox/devices.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "sandbox/descriptor.h"
#include "sandbox/failure.h"
#include "sandbox/folders.h"
#include "sandbox/system_calls.h"

namespace heddle::sandbox {
namespace {

struct StandardNode {
  const char* path;
  unsigned major, minor;
};
constexpr std::array<StandardNode, 6> kStandard{{{"dev/null", 1, 3},
                                                 {"dev/zero", 1, 5},
                                                 {"dev/full", 1, 7},
                                                 {"dev/random", 1, 8},
                                                 {"dev/urandom", 1, 9},
                                                 {"dev/tty", 5, 0}}};
constexpr std::int64_t kPtmxMajor = 5, kPtmxMinor = 2, kPtsMajor = 136;

struct Link {
  const char* path;
  const char* to;
};
constexpr std::array<Link, 5> kLinks{{{"dev/fd", "/proc/self/fd"},
                                      {"dev/stdin", "/proc/self/fd/0"},
                                      {"dev/stdout", "/proc/self/fd/1"},
                                      {"dev/stderr", "/proc/self/fd/2"},
                                      {"dev/ptmx", "pts/ptmx"}}};

bool make_node(int root, const char* path, mode_t type, dev_t number) {
  return ::mknodat(root, path, type | 0666, number) == 0;
}

}  // namespace

Result<std::vector<HeldDevice>> look_up_devices(const std::vector<DeviceNode>& nodes) {
  std::vector<HeldDevice> held;
  for (const DeviceNode& node : nodes) {
    const Descriptor place{open_place(AT_FDCWD, node.host_path.c_str(), 0,
                                      RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS)};
    struct stat info {};
    if (!place.is_open() || ::fstat(place.get(), &info) != 0)
      return failure("find the device " + node.host_path, ErrorCode::kNotFound);
    if (!S_ISCHR(info.st_mode) && !S_ISBLK(info.st_mode))
      return Error{ErrorCode::kInvalidArgument, node.host_path + " is not a device"};
    held.push_back({node.path, info.st_mode & S_IFMT, info.st_rdev});
  }
  return held;
}

std::vector<DeviceRule> device_rules(const std::vector<HeldDevice>& held) {
  std::vector<DeviceRule> rules;
  for (const StandardNode& node : kStandard) rules.push_back({false, node.major, node.minor});
  rules.push_back({false, kPtmxMajor, kPtmxMinor});
  rules.push_back({false, kPtsMajor, -1});
  for (const HeldDevice& device : held)
    rules.push_back({device.mode == S_IFBLK, major(device.number), minor(device.number)});
  return rules;
}

Result<Done> fill_dev(int root, const std::vector<HeldDevice>& held) {
  for (const StandardNode& node : kStandard)
    if (!make_node(root, node.path, S_IFCHR, makedev(node.major, node.minor)))
      return failure(std::string{"make /"} + node.path);
  for (const Link& link : kLinks)
    if (::symlinkat(link.to, root, link.path) != 0)
      return failure(std::string{"make /"} + link.path);
  if (::mkdirat(root, "dev/pts", 0755) != 0 || ::mkdirat(root, "dev/shm", 01777) != 0)
    return failure("make /dev");
  for (const HeldDevice& device : held) {
    const std::string path = device.path.substr(1);
    if (!make_parents(root, path) || !make_node(root, path.c_str(), device.mode, device.number))
      return failure("make the device " + device.path);
  }
  return Done{};
}

}  // namespace heddle::sandbox
