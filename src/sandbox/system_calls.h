// System calls that the C library does not wrap. All return -1 and set errno on failure.
#pragma once

#include <fcntl.h>
#include <linux/openat2.h>
#include <linux/sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdint>

namespace heddle::sandbox {

// Like fork() with the flags of `args`; returns the child's pid, 0 in the child.
inline pid_t clone_process(clone_args& args) {
  return static_cast<pid_t>(::syscall(SYS_clone3, &args, sizeof args));
}

// Opens `path` below `dirfd` for use as a place (O_PATH); `resolve` are the RESOLVE_ flags.
inline int open_place(int dirfd, const char* path, std::uint64_t flags, std::uint64_t resolve) {
  open_how how{};
  how.flags = flags | O_PATH | O_CLOEXEC;
  how.resolve = resolve;
  return static_cast<int>(::syscall(SYS_openat2, dirfd, path, &how, sizeof how));
}

inline int send_signal_by_pidfd(int pidfd, int signal_number) {
  return static_cast<int>(::syscall(SYS_pidfd_send_signal, pidfd, signal_number, nullptr, 0));
}

}  // namespace heddle::sandbox
