#include "sandbox/program.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace heddle::sandbox {
namespace {

constexpr std::string_view kDefaultPath = "/usr/local/bin:/usr/bin:/bin";

std::string_view path_of(const std::vector<std::string>& environment) {
  for (const std::string& entry : environment)
    if (entry.starts_with("PATH=")) return std::string_view{entry}.substr(5);
  return kDefaultPath;
}

// The files to try, in order. A name with a slash is a path, as everywhere.
std::vector<std::string> candidates(const Spec& spec) {
  const std::string& name = spec.argv.front();
  if (name.find('/') != std::string::npos) return {name};
  std::vector<std::string> found;
  std::string_view path = path_of(spec.env);
  for (;;) {
    const std::size_t colon = path.find(':');
    const std::string_view folder = path.substr(0, colon);
    if (!folder.empty()) found.push_back(std::string{folder} + "/" + name);
    if (colon == std::string_view::npos) return found;
    path.remove_prefix(colon + 1);
  }
}

std::vector<char*> pointers_to(const std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  pointers.reserve(texts.size() + 1);
  for (const std::string& text : texts) pointers.push_back(const_cast<char*>(text.c_str()));
  pointers.push_back(nullptr);
  return pointers;
}

struct Plan {
  std::vector<char*> files, arguments, environment;
  volatile int error = 0;  // written by the child, which shares our memory until it execs
};

// In the child of vfork: nothing but system calls.
[[noreturn]] void become_program(Plan& plan) {
  ::setsid();
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  int error = ENOENT;
  for (char* const* file = plan.files.data(); *file != nullptr; ++file) {
    ::execve(*file, plan.arguments.data(), plan.environment.data());
    // The first file that is there but cannot run says more than a later one that is not there.
    if (errno == ENOENT || errno == ENOTDIR) continue;
    error = errno;
    if (error != EACCES) break;
  }
  plan.error = error;
  ::_exit(127);
}

Error start_error(const std::string& command, int error) {
  switch (error) {
    case ENOENT:
      return {ErrorCode::kNotFound, "command not found: " + command};
    case EACCES:
      return {ErrorCode::kPermissionDenied, "cannot run " + command + ": not an executable file"};
    case ENOEXEC:
      return {ErrorCode::kInvalidArgument,
              "cannot run " + command + ": neither a program nor a script with a #! line"};
    case E2BIG:
      return {ErrorCode::kTooLarge, "cannot run " + command + ": too many arguments or variables"};
    case ENOMEM:
      return {ErrorCode::kOverLimit, "cannot run " + command + ": its memory is too small"};
    default:
      return {ErrorCode::kInvalidArgument, "cannot run " + command + ": " + std::strerror(error)};
  }
}

}  // namespace

Result<pid_t> start_program(const Spec& spec) {
  const std::vector<std::string> files = candidates(spec);
  Plan plan{pointers_to(files), pointers_to(spec.argv), pointers_to(spec.env)};
  // vfork: no page of ours is copied, and it returns when the program has been exec'ed.
  const pid_t child = ::vfork();
  if (child == 0) become_program(plan);
  if (child < 0)
    return Error{ErrorCode::kOverLimit,
                 std::string{"cannot start the program: "} + std::strerror(errno)};
  if (plan.error != 0) {
    ::waitpid(child, nullptr, 0);
    return start_error(spec.argv.front(), plan.error);
  }
  return child;
}

}  // namespace heddle::sandbox
