// How long a sandboxed `true` takes from start to end, beside bubblewrap, crun and podman.
//
// Prints one JSON line a figure on stdout; the runs of ours and of the peer take turns, so that
// both see the same machine. Needs root. `--profile N` only starts N sandboxes, for a profiler.
#include <fcntl.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "sandbox/sandbox.h"

extern char** environ;

namespace {

namespace files = std::filesystem;
using heddle::sandbox::Running;
using heddle::sandbox::Spec;

constexpr int kWarmRuns = 3;

double now_ms() {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) / 1e6;
}

// Runs a command to its end; false if it failed. `output` receives what it prints, else that is
// thrown away.
bool run(const std::vector<std::string>& command, std::string* output = nullptr) {
  std::vector<char*> arguments;
  for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  int ends[2] = {-1, -1};
  if (output != nullptr && ::pipe2(ends, O_CLOEXEC) != 0) return false;
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  for (int fd = 0; fd < 3; ++fd) {
    if (output != nullptr && fd > 0)
      ::posix_spawn_file_actions_adddup2(&actions, ends[1], fd);
    else
      ::posix_spawn_file_actions_addopen(&actions, fd, "/dev/null", O_RDWR, 0);
  }
  pid_t child = 0;
  int status = 1;
  const int error =
      ::posix_spawnp(&child, arguments[0], &actions, nullptr, arguments.data(), environ);
  ::posix_spawn_file_actions_destroy(&actions);
  if (output != nullptr) {
    ::close(ends[1]);
    char buffer[4096];
    for (ssize_t size = 0; (size = ::read(ends[0], buffer, sizeof buffer)) > 0;)
      output->append(buffer, static_cast<std::size_t>(size));
    ::close(ends[0]);
  }
  return error == 0 && ::waitpid(child, &status, 0) == child && status == 0;
}

bool run_ours() {
  static int count = 0;
  Spec spec;
  spec.id = "bench-" + std::to_string(::getpid()) + "-" + std::to_string(++count);
  spec.argv = {"true"};
  spec.env = {"PATH=/usr/bin:/bin"};
  spec.workdir = "/tmp";
  spec.hostname = "bench";
  spec.uid = spec.gid = 200'001;
  spec.memory_bytes = 256 << 20;
  heddle::Result<Running> running = start(spec);
  if (!running) {
    std::fprintf(stderr, "%s\n", running.error().message.c_str());
    return false;
  }
  const auto exit = running->finish();
  return exit && exit->code == 0;
}

double median(std::vector<double> values) {
  std::ranges::nth_element(values, values.begin() + static_cast<long>(values.size() / 2));
  return values[values.size() / 2];
}

struct Peer {
  std::string name;  // as in the figure
  std::vector<std::string> command;
  int runs;
};

std::string joined(const std::vector<std::string>& command) {
  std::string text;
  for (const std::string& word : command) text += (text.empty() ? "" : " ") + word;
  return text;
}

enum class Line { kFirst, kLast };

// That line of what a command prints, fit for a JSON string.
std::string line_of(const std::vector<std::string>& command, Line which) {
  std::string output, found;
  run(command, &output);
  std::istringstream lines{output};
  for (std::string line; std::getline(lines, line);)
    if (!line.empty() && (found.empty() || which == Line::kLast)) found = line;
  std::string safe;
  for (const char c : found)
    if (static_cast<unsigned char>(c) >= 32) safe += c == '"' || c == '\\' ? '\'' : c;
  return safe;
}

void print_refusal(const Peer& peer) {
  std::printf("{\"name\":\"sandbox.start_ratio_vs_%s\",\"value\":null,\"unit\":\"ratio\",",
              peer.name.c_str());
  std::printf("\"why\":\"%s\",\"command\":\"%s\"}\n", line_of(peer.command, Line::kLast).c_str(),
              joined(peer.command).c_str());
}

void print_figure(const Peer& peer, const std::vector<double>& ours,
                  const std::vector<double>& theirs) {
  const double ours_ms = median(ours), theirs_ms = median(theirs);
  std::printf("{\"name\":\"sandbox.start_ratio_vs_%s\",\"value\":%.3f,\"unit\":\"ratio\",",
              peer.name.c_str(), ours_ms / theirs_ms);
  std::printf("\"peer\":\"%s\",\"peer_p50_ms\":%.3f,\"p50_ms\":%.3f,",
              line_of({peer.command.front(), "--version"}, Line::kFirst).c_str(), theirs_ms,
              ours_ms);
  std::printf("\"peer_min_ms\":%.3f,\"min_ms\":%.3f,\"runs\":%zu,\"command\":\"%s\"}\n",
              std::ranges::min(theirs), std::ranges::min(ours), ours.size(),
              joined(peer.command).c_str());
}

void compare(const Peer& peer) {
  if (!run(peer.command)) {
    print_refusal(peer);
    return;
  }
  for (int i = 0; i < kWarmRuns; ++i) {
    run_ours();
    run(peer.command);
  }
  std::vector<double> ours, theirs;
  for (int i = 0; i < peer.runs; ++i) {
    double start_ms = now_ms();
    if (!run_ours()) std::exit(1);
    ours.push_back(now_ms() - start_ms);
    start_ms = now_ms();
    run(peer.command);
    theirs.push_back(now_ms() - start_ms);
  }
  print_figure(peer, ours, theirs);
  std::fflush(stdout);
}

void copy_into(const files::path& root, const char* path) {
  const files::path target = root / files::path{path}.relative_path();
  files::create_directories(target.parent_path());
  files::copy_file(path, target, files::copy_options::overwrite_existing);
}

// The smallest root in which `true` runs, and a bundle for crun beside it.
void make_bundle(const files::path& folder) {
  const files::path root = folder / "rootfs";
  for (const char* name : {"proc", "sys", "dev", "tmp", "etc", "run"})
    files::create_directories(root / name);
  copy_into(root, "/usr/bin/true");
  std::string libraries;
  run({"ldd", "/usr/bin/true"}, &libraries);
  std::istringstream words{libraries};
  for (std::string word; words >> word;)
    if (word.front() == '/') copy_into(root, word.c_str());
  // crun spec writes into the working folder.
  const files::path here = files::current_path();
  files::current_path(folder);
  const bool made = run({"crun", "spec"});
  files::current_path(here);
  if (!made) return;
  std::ifstream in{folder / "config.json"};
  std::string config{std::istreambuf_iterator<char>{in}, {}};
  const auto replace = [&](const std::string& from, const std::string& to) {
    if (const std::size_t at = config.find(from); at != std::string::npos)
      config.replace(at, from.size(), to);
  };
  replace("\"terminal\": true", "\"terminal\": false");
  replace("\"sh\"", "\"/usr/bin/true\"");
  std::ofstream{folder / "config.json"} << config;
}

void profile(int runs) {
  const double start_ms = now_ms();
  for (int i = 0; i < runs; ++i) run_ours();
  rusage own{}, children{};
  ::getrusage(RUSAGE_SELF, &own);
  ::getrusage(RUSAGE_CHILDREN, &children);
  const auto ms = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) * 1e3 + static_cast<double>(time.tv_usec) / 1e3;
  };
  std::fprintf(stderr, "%d starts: %.3f ms each; CPU of ours %.3f ms, of the sandboxes %.3f ms\n",
               runs, (now_ms() - start_ms) / runs, (ms(own.ru_utime) + ms(own.ru_stime)) / runs,
               (ms(children.ru_utime) + ms(children.ru_stime)) / runs);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 3 && std::strcmp(argv[1], "--profile") == 0) {
    profile(std::atoi(argv[2]));
    return 0;
  }
  if (::geteuid() != 0) {
    std::fprintf(stderr, "starting a sandbox needs root\n");
    return 1;
  }
  char folder[] = "/tmp/heddle-bench-XXXXXX";
  if (::mkdtemp(folder) == nullptr) return 1;
  const std::string bundle = folder;
  make_bundle(bundle);
  compare({"bwrap",
           {"bwrap", "--unshare-all", "--ro-bind", "/", "/", "--proc", "/proc", "--dev", "/dev",
            "--tmpfs", "/tmp", "true"},
           100});
  compare({"crun",
           {"crun", "run", "--bundle", bundle, "heddle-bench-" + std::to_string(::getpid())},
           20});
  compare({"podman",
           {"podman", "run", "--rm", "--network", "none", "--ulimit", "host", "--rootfs",
            bundle + "/rootfs", "/usr/bin/true"},
           10});
  files::remove_all(bundle);
  return 0;
}
