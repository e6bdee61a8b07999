// Sandbox: runs one program apart from the host and from other tenants.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"

namespace heddle::sandbox {

// How the machine's cgroups are laid out: the pure v2 tree, v2 beside v1 controllers, or none
// usable.
enum class CgroupMode : std::uint8_t { kV2, kHybrid, kNone };

// What this machine can enforce, tried out, not read from a configuration.
struct Abilities {
  bool root = false;        // set-up needs root; without it there is no isolation at all
  bool namespaces = false;  // mount, pid, ipc, uts and net
  bool seccomp = false;
  bool landlock = false;
  CgroupMode cgroups = CgroupMode::kNone;
  bool limits_memory = false;
  bool limits_processes = false;
  bool weighs_cpu = false;
  bool limits_devices = false;
  bool kills_tree_by_cgroup = false;

  bool isolates() const { return root && namespaces && seccomp; }
  // A sentence for people per thing that is missing, without kernel words; empty when all is there.
  std::vector<std::string> notes() const;
};

// Tries everything once (about 20 ms). `cgroup_parent` names the folder to make below the mount,
// such as "heddle"; it is created.
Abilities probe(const std::string& cgroup_parent);

// A folder (or file) of the host shown inside, without the mounts below it. The target is created
// on a tree that only we own: not in a place of ours (/usr, /etc, /dev ...), not inside another
// one.
struct Mount {
  std::string source;  // absolute host path; no part of it may be a link
  std::string target;  // absolute path inside
  bool writable = false;
};

// A device node shown inside and allowed; everything else in /dev is ours.
struct DeviceNode {
  std::string host_path;  // such as /dev/nvidia3
  std::string path;       // inside
};

struct Spec {
  std::string id;  // [a-z0-9_-], names the cgroup; unique on the machine
  std::string cgroup_parent = "heddle";
  std::vector<std::string> argv;  // never empty; argv[0] is looked up in PATH inside
  std::vector<std::string> env;   // "NAME=value", complete
  std::string workdir;            // inside, absolute; one of the writable mounts or below
  std::string hostname;
  uid_t uid = 0;  // host-side ids, never 0
  gid_t gid = 0;
  std::string user_name = "user";  // for the generated passwd
  std::string home;                // inside
  std::vector<Mount> mounts;       // beside the read-only system folders
  std::vector<DeviceNode> devices;
  std::vector<std::pair<std::string, std::string>> hosts;  // name -> address, for /etc/hosts
  std::string join_network;       // path of a pinned network to join; empty: one of its own
  int network_fd = -1;            // an open network to join instead; owned by the caller
  std::int64_t memory_bytes = 0;  // ceiling, 0: none
  std::int64_t processes = 4096;
  std::int64_t cpu_weight = 100;  // 1..10000, by weight, never a ceiling
  std::int64_t tmp_bytes =
      1LL << 30;  // size of /tmp and /dev/shm together, charged to memory_bytes
  std::int64_t open_files = 65536;
  int stdin_fd = -1;   // -1: /dev/null
  int stdout_fd = -1;  // owned by the caller
  int stderr_fd = -1;
};

// How the program ended.
struct Exit {
  bool signalled = false;
  int code = 0;                // exit code, or the signal's number
  bool out_of_memory = false;  // the ceiling killed it
  std::int64_t cpu_ms = 0;     // of the whole tree
  std::int64_t peak_memory_bytes = 0;
};

// A running sandbox. Not copyable; the destructor kills the tree and cleans up, and so does the end
// of the process that holds it. One thread. The first process is a child of the caller, who must
// leave reaping it to finish().
class Running {
 public:
  Running();
  Running(Running&&) noexcept;
  Running& operator=(Running&&) noexcept;
  ~Running();

  pid_t pid() const;  // of the sandbox's first process, host side
  int pidfd() const;  // readable (poll) when that process has ended; owned by Running

  // Sends a signal to the program's own processes (all of them).
  void signal(int signal_number);
  // Ends every process of the tree, whatever it does; returns when none is left. False if something
  // survives `timeout_ms` (it is then still held in the cgroup).
  bool kill_tree(int timeout_ms);
  // After pidfd() became readable (else it waits for that): reaps, kills what is left of the tree,
  // removes the cgroup. Once.
  Result<Exit> finish();

 private:
  friend Result<Running> start_with(const Spec& spec, CgroupMode mode);
  struct Impl;
  Impl* impl_ = nullptr;
};

// Starts spec.argv. When it returns a Running, the program has been exec'ed; an error says for
// people what was wrong (start_failed kinds: command not found, folder missing, memory too small
// ...). Needs root. No thread may run in the calling process.
Result<Running> start(const Spec& spec);

// For a sandbox whose starter was killed: ends what is left of it, waits for that at most
// `timeout_ms`, and removes its limits. True when nothing of it is left, also when there never was
// one. Where nothing can be limited it cannot look and returns true: there the kernel ends the tree
// together with the starter. Any thread.
bool end_left_over(const std::string& cgroup_parent, const std::string& id, int timeout_ms);

// A network of its own that several sandboxes join: only loopback, all of 127.0.0.0/8. Pinned at
// `path` (created) until unpin_network.
Result<Done> pin_network(const std::string& path);
void unpin_network(const std::string& path);

// The network of a running sandbox, open; -1 when it cannot be had. Owned by the caller. It lives
// on as long as it is open, so that another sandbox of the same team may have it: making one is the
// dearest part of a start.
int open_network(pid_t pid);
// True when nothing of those who used it is left in it: no connection, not even one that is only
// waiting to be forgotten, so that the next user finds every port free. One thread in the process.
bool network_is_unused(int network_fd);

}  // namespace heddle::sandbox
