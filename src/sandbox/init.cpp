#include "sandbox/init.h"

#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "sandbox/descriptor.h"
#include "sandbox/failure.h"
#include "sandbox/landlock.h"
#include "sandbox/mounts.h"
#include "sandbox/network.h"
#include "sandbox/privileges.h"
#include "sandbox/program.h"
#include "sandbox/seccomp_filter.h"
#include "sandbox/system_calls.h"

namespace heddle::sandbox {
namespace {

// Where the descriptors lie from the moment that the sandbox's own /dev is there.
constexpr int kControl = 3, kFirstFree = 4, kParked = 64;

[[noreturn]] void report_failure(int control, const Error& error) {
  std::string packet{kFailed, static_cast<char>(error.code)};
  packet += error.message;
  // If nobody listens any more there is nobody to tell.
  (void)::send(control, packet.data(), packet.size(), MSG_NOSIGNAL);
  ::_exit(1);
}

// A caller may block or ignore signals for its own reasons; the program starts with the defaults.
void reset_signals() {
  for (int number = 1; number < NSIG; ++number) ::signal(number, SIG_DFL);
  sigset_t all;
  ::sigfillset(&all);
  ::sigprocmask(SIG_SETMASK, &all, nullptr);
}

Result<Done> enter_network(const Spec& spec) {
  if (spec.network_fd >= 0) return join_network(spec.network_fd);
  return spec.join_network.empty() ? raise_loopback() : join_network(spec.join_network);
}

Result<Done> join_namespaces(const InitOrder& order) {
  Result<Done> done = order.group.join();
  if (!done) return done;
  // After joining, so that the program sees its own group as the top one.
  if (::unshare(CLONE_NEWCGROUP) != 0) return failure("part the sandbox from the host");
  done = enter_network(order.spec);
  if (!done) return done;
  const std::string& name = order.spec.hostname;
  if (::sethostname(name.data(), name.size()) != 0) return failure("name the sandbox");
  return Done{};
}

// A pipe belongs to whoever made it. The program must be able to open it again as /dev/stdout.
void hand_over_pipe(int fd, const Spec& spec) {
  struct stat info {};
  if (::fstat(fd, &info) == 0 && S_ISFIFO(info.st_mode) && ::fchown(fd, spec.uid, spec.gid) != 0)
    return;
}

// Puts standard input, output and error at 0 to 2 and the socket at 3, and closes everything else
// that the caller had open.
Result<Done> arrange_descriptors(const InitOrder& order) {
  const Spec& spec = order.spec;
  const int null = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  if (null < 0) return failure("open /dev/null");
  const std::array given{spec.stdin_fd, spec.stdout_fd, spec.stderr_fd, order.control};
  std::array<int, 4> parked{};
  for (std::size_t i = 0; i < given.size(); ++i) {
    parked[i] = ::fcntl(given[i] >= 0 ? given[i] : null, F_DUPFD_CLOEXEC, kParked);
    if (parked[i] < 0) return failure("take over the program's input and output");
  }
  for (int fd = 0; fd < kControl; ++fd) {
    if (::dup2(parked[static_cast<std::size_t>(fd)], fd) < 0)
      return failure("take over the program's input and output");
    hand_over_pipe(fd, spec);
  }
  if (::dup3(parked.back(), kControl, O_CLOEXEC) < 0 || ::close_range(kFirstFree, ~0U, 0) != 0)
    return failure("close the caller's files");
  return Done{};
}

// As the sandbox's user and without magic links, so that neither a folder of others nor a handle
// to the host can be the working folder.
Result<Done> enter_workdir(const Spec& spec) {
  const Descriptor folder{
      open_place(AT_FDCWD, spec.workdir.c_str(), O_DIRECTORY, RESOLVE_NO_MAGICLINKS)};
  if (folder.is_open() && ::fchdir(folder.get()) == 0) return Done{};
  return failure("enter the working folder " + spec.workdir, ErrorCode::kNotFound);
}

std::vector<std::string> writable_places(const Spec& spec) {
  std::vector<std::string> places{"/tmp", "/dev/shm"};
  for (const Mount& mount : spec.mounts)
    if (mount.writable) places.push_back(mount.target);
  return places;
}

// Tells how the program ended and ends with it: the kernel ends what is left of the tree.
[[noreturn]] void end_with(int status) {
  std::array<char, 1 + sizeof status> packet{kEnded};
  std::memcpy(packet.data() + 1, &status, sizeof status);
  (void)::send(kControl, packet.data(), packet.size(), MSG_NOSIGNAL);
  ::_exit(0);
}

void reap(pid_t program) {
  int status = 0;
  for (pid_t ended = 0; (ended = ::waitpid(-1, &status, WNOHANG)) > 0;)
    if (ended == program) end_with(status);
}

void pass_signals_on() {
  char number = 0;
  const ssize_t size = ::recv(kControl, &number, 1, MSG_DONTWAIT);
  if (size == 0) ::_exit(0);
  // From the first process -1 means: everyone in the sandbox but itself.
  if (size == 1) ::kill(-1, number);
}

[[noreturn]] void watch(pid_t program) {
  sigset_t child;
  ::sigemptyset(&child);
  ::sigaddset(&child, SIGCHLD);
  const int children = ::signalfd(-1, &child, SFD_CLOEXEC | SFD_NONBLOCK);
  std::array<pollfd, 2> sources{{{kControl, POLLIN, 0}, {children, POLLIN, 0}}};
  for (;;) {
    reap(program);
    if (::poll(sources.data(), sources.size(), -1) < 0 && errno != EINTR) ::_exit(1);
    if (sources[0].revents != 0) pass_signals_on();
    signalfd_siginfo info;
    while (::read(children, &info, sizeof info) > 0) {
    }
  }
}

}  // namespace

void run_init(const InitOrder& order) {
  ::umask(0);
  reset_signals();
  prefer_as_memory_victim();
  Result<Done> done = join_namespaces(order);
  if (done) done = enter_private_tree(order.spec, order.devices);
  int control = order.control;
  if (done) {
    done = arrange_descriptors(order);
    if (done) control = kControl;
  }
  ::umask(022);
  if (done) done = drop_privileges(order.spec, order.mode);
  if (done) done = enter_workdir(order.spec);
  if (done) done = restrict_files(writable_places(order.spec));
  if (done) done = install_seccomp_filter();
  if (!done) report_failure(control, done.error());
  const Result<pid_t> program = start_program(order.spec);
  if (!program) report_failure(control, program.error());
  // The program's output ends when the program closes it, not when we do.
  ::close_range(0, kControl - 1, 0);
  (void)::send(control, &kStarted, 1, MSG_NOSIGNAL);
  watch(*program);
}

}  // namespace heddle::sandbox
