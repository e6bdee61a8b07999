// What a shim that was killed could not clean up.
#include <fcntl.h>
#include <poll.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>

#include "sandbox/cgroup.h"
#include "sandbox/cgroup_files.h"
#include "sandbox/descriptor.h"
#include "sandbox/sandbox.h"

namespace heddle::sandbox {
namespace {

std::int64_t now_ms() {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1000 + now.tv_nsec / 1'000'000;
}

// Waits until the v2 group says that nobody lives in it; the kernel wakes us at each change.
bool wait_until_empty(const std::string& folder, std::int64_t timeout_ms) {
  const std::int64_t deadline_ms = now_ms() + timeout_ms;
  const Descriptor events{::open((folder + "/cgroup.events").c_str(), O_RDONLY | O_CLOEXEC)};
  if (!events.is_open()) return true;
  for (;;) {
    std::array<char, 256> text;
    const ssize_t size = ::pread(events.get(), text.data(), text.size(), 0);
    if (size <= 0) return true;
    if (number_of_key({text.data(), static_cast<std::size_t>(size)}, "populated") == 0) return true;
    const std::int64_t left_ms = deadline_ms - now_ms();
    if (left_ms <= 0) return false;
    pollfd change{events.get(), POLLPRI, 0};
    ::poll(&change, 1, static_cast<int>(left_ms));
  }
}

}  // namespace

bool end_left_over(const std::string& cgroup_parent, const std::string& id, int timeout_ms) {
  const std::vector<std::string> folders = group_folders(cgroup_parent, id);
  if (folders.empty() || ::access(folders.front().c_str(), F_OK) != 0) return true;
  write_file(folders.front() + "/cgroup.kill", "1");
  if (!wait_until_empty(folders.front(), timeout_ms)) return false;
  return std::ranges::count_if(
             folders, [](const std::string& folder) { return !remove_group_folder(folder); }) == 0;
}

}  // namespace heddle::sandbox
