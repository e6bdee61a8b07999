#include "sandbox/cgroup_files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>

#include "sandbox/descriptor.h"
#include "sandbox/failure.h"

namespace heddle::sandbox {
namespace {

std::int64_t parse_number(std::string_view text) {
  std::int64_t value = -1;
  const auto end = std::from_chars(text.data(), text.data() + text.size(), value);
  return end.ec == std::errc{} ? value : -1;
}

}  // namespace

bool write_file(const std::string& path, std::string_view text) {
  const Descriptor file{::open(path.c_str(), O_WRONLY | O_CLOEXEC)};
  return file.is_open() &&
         ::write(file.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size());
}

std::string read_file(const std::string& path) {
  const Descriptor file{::open(path.c_str(), O_RDONLY | O_CLOEXEC)};
  if (!file.is_open()) return {};
  std::array<char, 4096> buffer;
  const ssize_t size = ::read(file.get(), buffer.data(), buffer.size());
  return size > 0 ? std::string(buffer.data(), static_cast<std::size_t>(size)) : std::string{};
}

std::int64_t number_of_key(std::string_view text, std::string_view key) {
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    if (line.size() > key.size() && line.starts_with(key) && line[key.size()] == ' ')
      return parse_number(line.substr(key.size() + 1));
    text.remove_prefix(line.size() < text.size() ? line.size() + 1 : line.size());
  }
  return -1;
}

std::int64_t read_number(const std::string& path) { return parse_number(read_file(path)); }

Result<Done> make_group_folder(const std::string& path) {
  if (::mkdir(path.c_str(), 0755) == 0) return Done{};
  // A shim that was killed could not clean up after itself; rmdir refuses when something lives.
  if (errno == EEXIST) {
    if (::rmdir(path.c_str()) != 0)
      return Error{ErrorCode::kConflict, "a sandbox of this name still has processes"};
    if (::mkdir(path.c_str(), 0755) == 0) return Done{};
  }
  return failure("make the limits of the sandbox");
}

bool remove_group_folder(const std::string& path) {
  return ::rmdir(path.c_str()) == 0 || errno == ENOENT;
}

}  // namespace heddle::sandbox
