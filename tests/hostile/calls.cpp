// Tries system calls that a job has no business with; prints "name errno" a line, 0 for success.
//
// Arguments are harmless where a call should work after all: this also runs outside, as a plain
// user, to show what the filter adds.
#include <fcntl.h>
#include <linux/sched.h>
#include <sched.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdio>

namespace {

constexpr long kHighBit = 1L << 32;

void tell(const char* name, long result) {
  std::printf("%s %d\n", name, result < 0 ? errno : 0);
  std::fflush(stdout);
}

template <class... Arguments>
void call(const char* name, long number, Arguments... arguments) {
  tell(name, ::syscall(number, arguments...));
}

// For calls that may change the caller or end it: tried in a child, whose fate is told.
template <class... Arguments>
void call_apart(const char* name, long number, Arguments... arguments) {
  const pid_t child = ::fork();
  if (child == 0) {
    const long result = ::syscall(number, arguments...);
    ::_exit(result < 0 ? errno : 0);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  std::printf("%s %d\n", name, WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status));
  std::fflush(stdout);
}

void namespaces_and_mounts() {
  call_apart("unshare_user", SYS_unshare, CLONE_NEWUSER);
  call_apart("unshare_mount", SYS_unshare, CLONE_NEWNS);
  call_apart("unshare_net", SYS_unshare, CLONE_NEWNET);
  call_apart("unshare_high_bit", SYS_unshare, CLONE_NEWUSER | kHighBit);
  call_apart("unshare_files", SYS_unshare, CLONE_FILES);
  const long user = CLONE_NEWUSER | SIGCHLD;
  const pid_t child = static_cast<pid_t>(::syscall(SYS_clone, user, 0, 0, 0, 0));
  if (child == 0) ::_exit(0);
  tell("clone_user", child);
  if (child > 0) ::waitpid(child, nullptr, 0);
  clone_args none{};
  call("clone3", SYS_clone3, &none, 1);
  call("setns", SYS_setns, -1, 0);
  call("mount", SYS_mount, "none", "/tmp", "tmpfs", 0, nullptr);
  call("umount2", SYS_umount2, "/nowhere", 0);
  call("pivot_root", SYS_pivot_root, "/nowhere", "/nowhere");
  call("chroot", SYS_chroot, "/nowhere");
  call("open_tree", SYS_open_tree, -1, "/nowhere", 0);
  call("move_mount", SYS_move_mount, -1, "", -1, "", 0);
  call("fsopen", SYS_fsopen, "tmpfs", 0);
  call("fsmount", SYS_fsmount, -1, 0, 0);
  call("mount_setattr", SYS_mount_setattr, -1, "", 0, nullptr, 0);
}

void kernel_surfaces() {
  call("bpf", SYS_bpf, 0, nullptr, 0);
  call("perf_event_open", SYS_perf_event_open, nullptr, 0, -1, -1, 0);
  call("userfaultfd", SYS_userfaultfd, 1);
  call("io_uring_setup", SYS_io_uring_setup, 1, nullptr);
  call("io_uring_enter", SYS_io_uring_enter, -1, 0, 0, 0, nullptr, 0);
  call("io_uring_register", SYS_io_uring_register, -1, 0, nullptr, 0);
  call("keyctl", SYS_keyctl, 0, -3, 0);
  call("add_key", SYS_add_key, "user", "canary", "x", 1, -2);
  call("request_key", SYS_request_key, "user", "canary", nullptr, 0);
  call("fanotify_init", SYS_fanotify_init, 0, 0);
  call("name_to_handle_at", SYS_name_to_handle_at, -1, "", nullptr, nullptr, 0);
  call("open_by_handle_at", SYS_open_by_handle_at, -1, nullptr, 0);
  call("quotactl", SYS_quotactl, 0, nullptr, 0, nullptr);
  call("memfd_secret", 447, 0);
  call("a_call_of_the_future", 4000);
  call_apart("ptrace_traceme", SYS_ptrace, 0, 0, 0, 0);
  call("ptrace_attach", SYS_ptrace, 16, 1, 0, 0);
  call("process_vm_readv", SYS_process_vm_readv, ::getpid(), nullptr, 0, nullptr, 0, 0);
  call("process_vm_writev", SYS_process_vm_writev, ::getpid(), nullptr, 0, nullptr, 0, 0);
  call("kcmp", SYS_kcmp, ::getpid(), ::getpid(), 2, 0, 0);
  call("pidfd_getfd", SYS_pidfd_getfd, -1, 0, 0);
  call("personality_compat", SYS_personality, 0x0400000);
  call("personality_ask", SYS_personality, 0xffffffff);
}

void the_machine() {
  call("reboot", SYS_reboot, 0, 0, 0, nullptr);
  call("kexec_load", SYS_kexec_load, 0, 0, nullptr, 0);
  call("init_module", SYS_init_module, nullptr, 0, "");
  call("finit_module", SYS_finit_module, -1, "", 0);
  call("delete_module", SYS_delete_module, "heddle_no_such", 0);
  call("swapon", SYS_swapon, "/nowhere", 0);
  call("swapoff", SYS_swapoff, "/nowhere");
  call("acct", SYS_acct, "/nowhere");
  call("syslog", SYS_syslog, 2, nullptr, 0);
  call("sethostname", SYS_sethostname, "canary", 6);
  call("settimeofday", SYS_settimeofday, nullptr, nullptr);
  call("clock_settime", SYS_clock_settime, 0, nullptr);
  call("adjtimex", SYS_adjtimex, nullptr);
  call("vhangup", SYS_vhangup);
#ifdef __x86_64__
  call("iopl", SYS_iopl, 0);
  call("ioperm", SYS_ioperm, 0, 1, 0);
  call("modify_ldt", SYS_modify_ldt, 0, nullptr, 0);
  call_apart("x32_getpid", 0x40000000 + SYS_getpid);
  const pid_t child = ::fork();
  if (child == 0) {
    int result = 0;
    asm volatile("int $0x80" : "=a"(result) : "a"(20) : "memory");  // getpid of 32-bit programs
    ::_exit(result > 0 ? 0 : 1);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  std::printf("int80_getpid %d\n", WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status));
#endif
}

void devices_and_sockets() {
  const dev_t null = 1U << 8 | 3U;
  call("mknod_character", SYS_mknodat, AT_FDCWD, "/tmp/heddle-node-c", S_IFCHR | 0600, null);
  call("mknod_block", SYS_mknodat, AT_FDCWD, "/tmp/heddle-node-b", S_IFBLK | 0600, null);
  call("mknod_fifo", SYS_mknodat, AT_FDCWD, "/tmp/heddle-node-f", S_IFIFO | 0600, 0);
  ::unlink("/tmp/heddle-node-f");
  call("tiocsti", SYS_ioctl, 0, TIOCSTI, "x");
  call("tiocsti_high_bit", SYS_ioctl, 0, TIOCSTI | kHighBit, "x");
  call("tioclinux", SYS_ioctl, 0, TIOCLINUX, "\3");
  call("tioclinux_high_bit", SYS_ioctl, 0, TIOCLINUX | kHighBit, "\3");
  call("tiocsetd", SYS_ioctl, 0, TIOCSETD, "\3\0\0\0");
  int size = 0;
  int ends[2] = {-1, -1};
  if (::pipe(ends) != 0) return;
  call("fionread", SYS_ioctl, ends[0], FIONREAD, &size);
  call("socket_unix", SYS_socket, AF_UNIX, SOCK_STREAM, 0);
  call("socket_inet", SYS_socket, AF_INET, SOCK_STREAM, 0);
  call("socket_route", SYS_socket, AF_NETLINK, SOCK_RAW, 0);
  call("socket_audit", SYS_socket, AF_NETLINK, SOCK_RAW, 9);
  call("socket_packet", SYS_socket, AF_PACKET, SOCK_RAW, 0);
  call("socket_vsock", SYS_socket, AF_VSOCK, SOCK_STREAM, 0);
  call("socket_alg", SYS_socket, AF_ALG, SOCK_SEQPACKET, 0);
  call("socket_raw", SYS_socket, AF_INET, SOCK_RAW, 1);
}

}  // namespace

int main() {
  namespaces_and_mounts();
  kernel_surfaces();
  the_machine();
  devices_and_sockets();
  return 0;
}
