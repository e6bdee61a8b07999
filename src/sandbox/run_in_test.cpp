#include "sandbox/run_in_test.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <filesystem>
#include <fstream>

#include "sandbox/cgroup.h"
#include "sandbox/start.h"

namespace heddle::sandbox {
namespace {

constexpr int kPatience_ms = 20'000;

// Programs of tests/hostile lie in a folder that a sandbox is shown as /hostile.
constexpr const char* kHostileFolder = HEDDLE_HOSTILE_FOLDER;

}  // namespace

bool can_start_sandboxes() {
  if (::geteuid() == 0) return true;
  MESSAGE("not root: sandboxes cannot be started, nothing was tested");
  CHECK_FALSE(probe("heddle-test").isolates());
  return false;
}

uid_t test_uid(unsigned offset) { return 300'000 + static_cast<uid_t>(::getpid()) * 64 + offset; }

Spec spec_of(std::vector<std::string> argv) {
  static std::atomic<int> count{0};
  Spec spec;
  spec.id = "test-" + std::to_string(::getpid()) + "-" + std::to_string(++count);
  spec.cgroup_parent = "heddle-test";
  spec.argv = std::move(argv);
  spec.env = {"PATH=/usr/bin:/bin", "HOME=/tmp", "LC_ALL=C.UTF-8"};
  spec.workdir = "/tmp";
  spec.hostname = "box";
  spec.home = "/tmp";
  spec.uid = spec.gid = test_uid(0);
  spec.memory_bytes = 512LL << 20;
  return spec;
}

Spec python(const std::string& script) { return spec_of({"/usr/bin/python3", "-c", script}); }
Spec shell(const std::string& script) { return spec_of({"/bin/sh", "-c", script}); }

Spec hostile(const std::string& program, std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), "/hostile/" + program);
  Spec spec = spec_of(std::move(arguments));
  spec.mounts.push_back({std::filesystem::canonical(kHostileFolder).string(), "/hostile", false});
  return spec;
}

Started start_printing(Spec spec, CgroupMode mode) {
  std::array<int, 2> ends{};
  REQUIRE(::pipe2(ends.data(), O_CLOEXEC) == 0);
  spec.stdout_fd = spec.stderr_fd = ends[1];
  Result<Running> running = start_with(spec, mode);
  ::close(ends[1]);
  if (!running) FAIL(running.error().message);
  return {std::move(*running), ends[0]};
}

std::string read_line(int fd) {
  std::string line;
  for (char c = 0;;) {
    pollfd source{fd, POLLIN, 0};
    if (::poll(&source, 1, kPatience_ms) <= 0 || ::read(fd, &c, 1) != 1 || c == '\n') return line;
    line += c;
  }
}

Outcome run_with(Spec spec, CgroupMode mode) {
  Started started = start_printing(std::move(spec), mode);
  Outcome outcome;
  std::array<char, 4096> buffer;
  for (;;) {
    pollfd source{started.output_fd, POLLIN, 0};
    if (::poll(&source, 1, kPatience_ms) <= 0) {
      started.running.kill_tree(kPatience_ms);
      FAIL_CHECK("the program did not end; so far it printed: " << outcome.output);
      break;
    }
    const ssize_t size = ::read(started.output_fd, buffer.data(), buffer.size());
    if (size <= 0) break;
    outcome.output.append(buffer.data(), static_cast<std::size_t>(size));
  }
  ::close(started.output_fd);
  Result<Exit> exit = started.running.finish();
  if (!exit) FAIL(exit.error().message);
  outcome.exit = *exit;
  return outcome;
}

Outcome run(Spec spec) { return run_with(std::move(spec), detect_cgroups()); }

int processes_of(uid_t uid) {
  int count = 0;
  for (const auto& entry : std::filesystem::directory_iterator{"/proc"}) {
    const std::string name = entry.path().filename().string();
    if (name.find_first_not_of("0123456789") != std::string::npos) continue;
    std::ifstream status{entry.path() / "status"};
    bool dead = false;
    for (std::string line; std::getline(status, line);) {
      dead = dead || line.starts_with("State:\tZ");
      if (!line.starts_with("Uid:")) continue;
      count += !dead && std::stoul(line.substr(5)) == uid;
      break;
    }
  }
  return count;
}

bool soon_without_processes(uid_t uid) {
  for (int tries = 0; tries < 1000; ++tries) {
    if (processes_of(uid) == 0) return true;
    ::poll(nullptr, 0, 10);
  }
  return false;
}

TestFolder::TestFolder() {
  std::string pattern = "/tmp/heddle-test-XXXXXX";
  REQUIRE(::mkdtemp(pattern.data()) != nullptr);
  path_ = pattern;
  ::chmod(path_.c_str(), 0755);
}

TestFolder::~TestFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

std::string TestFolder::path(const std::string& name) const {
  return name.empty() ? path_ : path_ + "/" + name;
}

}  // namespace heddle::sandbox
