#include "shim/program.h"

#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>
#include <vector>

#include "shim/run_folder.h"

namespace heddle::shim {
namespace {

class Sandboxed final : public Program {
 public:
  explicit Sandboxed(sandbox::Running running) : running_{std::move(running)} {}
  pid_t pid() const override { return running_.pid(); }
  int pidfd() const override { return running_.pidfd(); }
  void signal(int signal_number) override { running_.signal(signal_number); }
  bool kill_tree(int timeout_ms) override { return running_.kill_tree(timeout_ms); }
  Result<sandbox::Exit> finish() override { return running_.finish(); }

 private:
  sandbox::Running running_;
};

class Plain final : public Program {
 public:
  Plain(pid_t pid, Fd pidfd) : pid_{pid}, pidfd_{std::move(pidfd)} {}
  pid_t pid() const override { return pid_; }
  int pidfd() const override { return pidfd_.get(); }
  void signal(int signal_number) override { kill(-pid_, signal_number); }

  bool kill_tree(int timeout_ms) override {
    const std::int64_t deadline_ms = boot_now_ms() + timeout_ms;
    kill(-pid_, SIGKILL);
    // Descendants that left the session become our children when their parents die; kill until
    // there is nobody left to wait for. The first process stays for finish().
    for (;;) {
      const std::vector<pid_t> children = own_children();
      bool others = false;
      for (const pid_t child : children) {
        kill(child, SIGKILL);
        if (child != pid_) others = waitpid(child, nullptr, WNOHANG) != child || others;
      }
      if (!others && has_ended(pidfd_.get())) return own_children().size() <= 1;
      if (boot_now_ms() >= deadline_ms) return false;
      pollfd waiting{pidfd_.get(), POLLIN, 0};
      poll(has_ended(pidfd_.get()) ? nullptr : &waiting, has_ended(pidfd_.get()) ? 0 : 1, 1);
    }
  }

  Result<sandbox::Exit> finish() override {
    sandbox::Exit exit;
    int status = 0;
    rusage usage{};
    if (wait4(pid_, &status, 0, &usage) != pid_)
      return Error{ErrorCode::kInternal, "The program's end could not be read.", {}, {}, {}};
    exit.signalled = WIFSIGNALED(status);
    exit.code = exit.signalled ? WTERMSIG(status) : WEXITSTATUS(status);
    exit.cpu_ms = (usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1000 +
                  (usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1000;
    exit.peak_memory_bytes = usage.ru_maxrss * 1024;
    return exit;
  }

 private:
  static std::vector<pid_t> own_children() {
    std::vector<pid_t> children;
    const std::string self = std::to_string(getpid());
    const Fd file{
        open(("/proc/" + self + "/task/" + self + "/children").c_str(), O_RDONLY | O_CLOEXEC)};
    std::string text;
    char part[4096];
    for (ssize_t got = 0; file.is_open() && (got = read(file.get(), part, sizeof part)) > 0;)
      text.append(part, static_cast<std::size_t>(got));
    for (const char* at = text.c_str(); *at != '\0';) {
      char* end = nullptr;
      const long pid = std::strtol(at, &end, 10);
      if (end == at) break;
      children.push_back(static_cast<pid_t>(pid));
      at = *end == ' ' ? end + 1 : end;
    }
    return children;
  }

  pid_t pid_;
  Fd pidfd_;
};

std::vector<char*> pointers(const std::vector<std::string>& texts) {
  std::vector<char*> out;
  for (const std::string& text : texts) out.push_back(const_cast<char*>(text.c_str()));
  out.push_back(nullptr);
  return out;
}

// The forked child: never returns. Tells why exec failed through `why`.
[[noreturn]] void become_plain(const sandbox::Spec& spec, int why) {
  setsid();
  const int in = open("/dev/null", O_RDONLY);
  dup2(in, 0);
  dup2(spec.stdout_fd, 1);
  dup2(spec.stderr_fd, 2);
  int error = 0;
  // Not isolated, but at least never the server's own user.
  if (geteuid() == 0 &&
      (setgroups(0, nullptr) != 0 || setresgid(spec.gid, spec.gid, spec.gid) != 0 ||
       setresuid(spec.uid, spec.uid, spec.uid) != 0))
    error = errno;
  if (error == 0 && chdir(spec.workdir.c_str()) != 0) error = errno;
  if (error == 0) {
    const std::vector<char*> argv = pointers(spec.argv);
    const std::vector<char*> env = pointers(spec.env);
    dup3(why, 3, O_CLOEXEC);
    close_range(4, ~0U, 0);
    why = 3;
    execvpe(argv[0], argv.data(), env.data());
    error = errno;
  }
  (void)!write(why, &error, sizeof error);
  _exit(127);
}

}  // namespace

Result<std::unique_ptr<Program>> start_sandboxed(const sandbox::Spec& spec) {
  Result<sandbox::Running> running = sandbox::start(spec);
  if (!running) return running.error();
  return std::unique_ptr<Program>{std::make_unique<Sandboxed>(std::move(*running))};
}

Result<std::unique_ptr<Program>> start_plain(const sandbox::Spec& spec) {
  int why[2];
  if (pipe2(why, O_CLOEXEC) != 0)
    return Error{
        ErrorCode::kUnavailable, "The machine has no room for another process.", {}, {}, {}};
  Fd read_end{why[0]};
  Fd write_end{why[1]};
  const pid_t pid = fork();
  if (pid == 0) become_plain(spec, why[1]);
  if (pid < 0)
    return Error{
        ErrorCode::kUnavailable, "The machine has no room for another process.", {}, {}, {}};
  write_end.reset();
  int error = 0;
  if (read(read_end.get(), &error, sizeof error) == static_cast<ssize_t>(sizeof error)) {
    waitpid(pid, nullptr, 0);
    return Error{ErrorCode::kInvalidArgument,
                 error == ENOENT ? "The command '" + spec.argv.front() + "' was not found."
                                 : "The command '" + spec.argv.front() +
                                       "' could not be started: " + std::strerror(error) + ".",
                 {},
                 {},
                 {}};
  }
  Fd pidfd{static_cast<int>(syscall(SYS_pidfd_open, pid, 0))};
  return std::unique_ptr<Program>{std::make_unique<Plain>(pid, std::move(pidfd))};
}

}  // namespace heddle::shim
