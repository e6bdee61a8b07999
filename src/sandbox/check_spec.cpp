#include "sandbox/check_spec.h"

#include <arpa/inet.h>

#include <algorithm>
#include <array>
#include <string_view>

namespace heddle::sandbox {
namespace {

constexpr std::size_t kNameLength = 64, kPathLength = 1024;
constexpr uid_t kIdMax = 0x7fffffff;
// Places inside that are ours alone; nothing may be laid over them or below them.
constexpr std::array<std::string_view, 9> kOurPlaces{"/dev",  "/proc", "/sys",   "/usr", "/bin",
                                                     "/sbin", "/lib",  "/lib64", "/etc"};

Error wrong(std::string field, std::string rule, std::string message, std::string given = {}) {
  return Error::invalid("/" + std::move(field), std::move(rule), std::move(message),
                        given.substr(0, 64));
}

bool made_of(std::string_view text, std::string_view others) {
  return std::ranges::all_of(text, [&](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') ||
           others.find(c) != std::string_view::npos;
  });
}

bool is_name(std::string_view text, std::string_view others) {
  return !text.empty() && text.size() <= kNameLength && made_of(text, others);
}

constexpr std::string_view kUpper = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
bool is_host_name(std::string_view text) {
  return is_name(text, std::string{kUpper} + ".-") && text.front() != '-' && text.front() != '.';
}

// Absolute, without "." and ".." and doubled slashes, without control characters and colons.
bool is_plain_path(std::string_view path) {
  if (path.empty() || path.front() != '/' || path.size() > kPathLength) return false;
  if (std::ranges::any_of(
          path, [](char c) { return static_cast<unsigned char>(c) < 32 || c == 127 || c == ':'; }))
    return false;
  if (path == "/") return true;
  for (std::size_t start = 1; start <= path.size();) {
    const std::size_t end = std::min(path.find('/', start), path.size());
    const std::string_view part = path.substr(start, end - start);
    if (part.empty() || part == "." || part == "..") return false;
    start = end + 1;
  }
  return true;
}

bool is_at_or_below(std::string_view path, std::string_view folder) {
  return path.starts_with(folder) && (path.size() == folder.size() || path[folder.size()] == '/');
}

bool is_ours(std::string_view path) {
  return path == "/" || path == "/tmp" || is_at_or_below(path, "/var") ||
         std::ranges::any_of(kOurPlaces,
                             [&](std::string_view place) { return is_at_or_below(path, place); });
}

bool is_address(const std::string& text) {
  std::array<unsigned char, sizeof(in6_addr)> bytes;
  return ::inet_pton(AF_INET, text.c_str(), bytes.data()) == 1 ||
         ::inet_pton(AF_INET6, text.c_str(), bytes.data()) == 1;
}

bool has_nul(const std::string& text) { return text.find('\0') != std::string::npos; }

Result<Done> check_program(const Spec& spec) {
  if (spec.argv.empty() || spec.argv.front().empty())
    return wrong("argv", "empty", "a command is needed");
  for (const std::string& argument : spec.argv)
    if (has_nul(argument)) return wrong("argv", "not_text", "an argument contains a zero byte");
  for (const std::string& entry : spec.env)
    if (has_nul(entry) || entry.find('=') == std::string::npos || entry.front() == '=')
      return wrong("env", "not_a_variable", "a variable must have the form NAME=value", entry);
  const bool writable_place = std::ranges::any_of(spec.mounts, [&](const Mount& mount) {
    return mount.writable && is_at_or_below(spec.workdir, mount.target);
  });
  if (!is_plain_path(spec.workdir) || !(writable_place || is_at_or_below(spec.workdir, "/tmp")))
    return wrong("workdir", "not_writable",
                 "the working folder must be an absolute path in a writable folder", spec.workdir);
  return Done{};
}

Result<Done> check_names(const Spec& spec) {
  if (!is_name(spec.id, "-_")) return wrong("id", "not_a_name", "not a name", spec.id);
  if (!is_name(spec.cgroup_parent, "-_"))
    return wrong("cgroup_parent", "not_a_name", "not a name", spec.cgroup_parent);
  if (!is_name(spec.user_name, "-_") || made_of(spec.user_name.substr(0, 1), "") == false ||
      (spec.user_name.front() >= '0' && spec.user_name.front() <= '9'))
    return wrong("user_name", "not_a_name", "not a user's name", spec.user_name);
  if (!spec.hostname.empty() && !is_host_name(spec.hostname))
    return wrong("hostname", "not_a_name", "not a host name", spec.hostname);
  if (!spec.home.empty() && !is_plain_path(spec.home))
    return wrong("home", "not_a_path", "not an absolute plain path", spec.home);
  for (const auto& [name, address] : spec.hosts)
    if (!is_host_name(name) || !is_address(address))
      return wrong("hosts", "not_a_host", "not a host name with an address", name);
  if (spec.uid < 1 || spec.uid > kIdMax || spec.gid < 1 || spec.gid > kIdMax)
    return wrong("uid", "out_of_range", "user and group must be between 1 and 2147483647");
  return Done{};
}

Result<Done> check_mounts(const Spec& spec) {
  for (const Mount& mount : spec.mounts) {
    if (!is_plain_path(mount.source))
      return wrong("mounts", "not_a_path", "not an absolute plain path", mount.source);
    if (!is_plain_path(mount.target) || is_ours(mount.target))
      return wrong("mounts", "not_a_place", "nothing can be shown at this path", mount.target);
    // A target inside another shown folder would be made on a tree that a tenant can change.
    for (const Mount& other : spec.mounts)
      if (&other != &mount && is_at_or_below(mount.target, other.target))
        return wrong("mounts", "nested", "one folder cannot be shown inside another", mount.target);
  }
  for (const DeviceNode& device : spec.devices)
    if (!is_plain_path(device.path) || !device.path.starts_with("/dev/") ||
        is_at_or_below(device.path, "/dev/pts") || is_at_or_below(device.path, "/dev/shm") ||
        is_at_or_below(device.path, "/dev/fd"))
      return wrong("devices", "not_a_place", "a device belongs below /dev", device.path);
  if (!spec.join_network.empty() && !is_plain_path(spec.join_network))
    return wrong("join_network", "not_a_path", "not an absolute plain path", spec.join_network);
  return Done{};
}

Result<Done> check_amounts(const Spec& spec) {
  constexpr std::int64_t kBytesMax = std::int64_t{1} << 50, kCountMax = 1 << 22;
  if (spec.memory_bytes < 0 || spec.memory_bytes > kBytesMax)
    return wrong("memory_bytes", "out_of_range", "memory must be between 0 and 1 PiB");
  if (spec.tmp_bytes < 4096 || spec.tmp_bytes > kBytesMax)
    return wrong("tmp_bytes", "out_of_range", "/tmp must have between 4 KiB and 1 PiB");
  if (spec.processes < 1 || spec.processes > kCountMax)
    return wrong("processes", "out_of_range", "between 1 and 4194304 processes");
  if (spec.cpu_weight < 1 || spec.cpu_weight > 10000)
    return wrong("cpu_weight", "out_of_range", "the weight must be between 1 and 10000");
  if (spec.open_files < 16 || spec.open_files > kCountMax)
    return wrong("open_files", "out_of_range", "between 16 and 4194304 open files");
  return Done{};
}

}  // namespace

Result<Done> check_spec(const Spec& spec) {
  Result<Done> done = check_program(spec);
  if (done) done = check_names(spec);
  if (done) done = check_mounts(spec);
  if (done) done = check_amounts(spec);
  return done;
}

}  // namespace heddle::sandbox
