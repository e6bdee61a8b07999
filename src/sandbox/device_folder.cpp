#include "sandbox/device_folder.h"

#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>

#include "sandbox/cgroup_files.h"
#include "sandbox/failure.h"

namespace heddle::sandbox {

Result<Done> write_device_rules(const std::string& path, const std::vector<DeviceRule>& rules) {
  if (!write_file(path + "/devices.deny", "a")) return failure("bar the sandbox from devices");
  for (const DeviceRule& rule : rules) {
    const std::string minor = rule.minor < 0 ? "*" : std::to_string(rule.minor);
    // "m" as well: the sandbox's own /dev is filled from inside the group.
    const std::string line =
        std::string{rule.block ? "b " : "c "} + std::to_string(rule.major) + ":" + minor + " rwm";
    if (!write_file(path + "/devices.allow", line)) return failure("give the sandbox its devices");
  }
  return Done{};
}

Result<std::string> group_without_devices(const std::string& parent,
                                          const std::vector<DeviceRule>& rules) {
  // The dot keeps it apart from every sandbox's name.
  const std::string path = parent + "/no.devices";
  if (::access(path.c_str(), F_OK) == 0) return path;
  // Complete before it gets its name: a second starter sees all of the rules or makes its own.
  const std::string draft = path + "-" + std::to_string(::syscall(SYS_gettid));
  Result<Done> made = make_group_folder(draft);
  if (made) made = write_device_rules(draft, rules);
  if (!made) return made.error();
  if (::rename(draft.c_str(), path.c_str()) == 0) return path;
  const bool someone_else = ::access(path.c_str(), F_OK) == 0;
  const Error error = failure("bar the sandboxes from devices");
  remove_group_folder(draft);
  if (someone_else) return path;
  return error;
}

}  // namespace heddle::sandbox
