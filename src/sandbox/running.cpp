#include "sandbox/running.h"

#include <poll.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <optional>

#include "base/check.h"
#include "sandbox/failure.h"
#include "sandbox/init.h"
#include "sandbox/system_calls.h"

namespace heddle::sandbox {
namespace {

constexpr int kDestroyWait_ms = 10'000, kRemoveWait_ms = 1'000;

std::int64_t now_ms() {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1000 + now.tv_nsec / 1'000'000;
}

// True once `pidfd` is readable, that is, when that process and all below it are gone.
bool wait_for_end(int pidfd, std::int64_t timeout_ms) {
  const std::int64_t deadline_ms = now_ms() + timeout_ms;
  for (;;) {
    pollfd source{pidfd, POLLIN, 0};
    const std::int64_t left_ms = std::max<std::int64_t>(deadline_ms - now_ms(), 0);
    const int ready = ::poll(&source, 1, static_cast<int>(left_ms));
    if (ready > 0) return true;
    if (ready == 0 && left_ms == 0) return false;
  }
}

// What the first process said about the program's end; nothing when it was killed before.
std::optional<int> hear_end(int control) {
  std::array<char, 64> packet;
  for (;;) {
    const ssize_t size = ::recv(control, packet.data(), packet.size(), MSG_DONTWAIT);
    if (size < 0 && errno == EINTR) continue;
    if (size <= 0) return std::nullopt;
    int status = 0;
    if (packet[0] != kEnded || size != 1 + static_cast<ssize_t>(sizeof status)) continue;
    std::memcpy(&status, packet.data() + 1, sizeof status);
    return status;
  }
}

std::int64_t milliseconds(const timeval& time) { return time.tv_sec * 1000 + time.tv_usec / 1000; }

// The kernel takes the last member out of its group a moment after its death was told.
bool remove_group(Cgroup& group) {
  const std::int64_t deadline_ms = now_ms() + kRemoveWait_ms;
  while (!group.remove()) {
    if (now_ms() >= deadline_ms) return false;
    ::poll(nullptr, 0, 1);
  }
  return true;
}

}  // namespace

Running::Running() = default;
Running::Running(Running&& other) noexcept : impl_{std::exchange(other.impl_, nullptr)} {}
Running& Running::operator=(Running&& other) noexcept {
  std::swap(impl_, other.impl_);
  return *this;
}

Running::~Running() {
  if (impl_ != nullptr && !impl_->reaped && kill_tree(kDestroyWait_ms)) {
    ::waitpid(impl_->pid, nullptr, 0);
    remove_group(*impl_->group);
  }
  delete impl_;
}

pid_t Running::pid() const { return impl_->pid; }
int Running::pidfd() const { return impl_->pidfd.get(); }

void Running::signal(int signal_number) {
  const char packet = static_cast<char>(signal_number);
  // A tree that is ending needs no signal any more.
  (void)::send(impl_->control.get(), &packet, 1, MSG_NOSIGNAL | MSG_DONTWAIT);
}

bool Running::kill_tree(int timeout_ms) {
  // Two ways, each enough: the group's switch, and the death of the first process, after which the
  // kernel ends everyone below it before that process is reported dead.
  impl_->group->kill();
  send_signal_by_pidfd(impl_->pidfd.get(), SIGKILL);
  return wait_for_end(impl_->pidfd.get(), timeout_ms);
}

Result<Exit> Running::finish() {
  HEDDLE_CHECK(impl_ != nullptr && !impl_->reaped);
  int init_status = 0;
  rusage used{};
  pid_t reaped = 0;
  do reaped = ::wait4(impl_->pid, &init_status, 0, &used);
  while (reaped < 0 && errno == EINTR);
  if (reaped != impl_->pid) return failure("hear how the program ended");
  impl_->reaped = true;

  Exit exit;
  const int status = hear_end(impl_->control.get()).value_or(SIGKILL);
  exit.signalled = WIFSIGNALED(status);
  exit.code = exit.signalled ? WTERMSIG(status) : WEXITSTATUS(status);
  const CgroupUse group = impl_->group->use();
  exit.out_of_memory = group.out_of_memory_kills > 0 && exit.code != 0;
  exit.cpu_ms =
      group.cpu_ms >= 0 ? group.cpu_ms : milliseconds(used.ru_utime) + milliseconds(used.ru_stime);
  exit.peak_memory_bytes =
      group.peak_memory_bytes >= 0 ? group.peak_memory_bytes : used.ru_maxrss * 1024;
  if (!remove_group(*impl_->group))
    return Error{ErrorCode::kInternal, "something of the sandbox outlived its end"};
  return exit;
}

}  // namespace heddle::sandbox
