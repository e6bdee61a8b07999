// What a program in a sandbox can see and touch: nothing of others, and of the host only its
// programs. Each case has a control that shows that the attack works where nothing stops it.
#include <doctest/doctest.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>

#include "sandbox/cgroup.h"
#include "sandbox/landlock.h"
#include "sandbox/run_in_test.h"
#include "sandbox/start.h"

namespace heddle::sandbox {
namespace {

std::vector<CgroupMode> modes() {
  std::vector<CgroupMode> modes{CgroupMode::kNone};
  if (detect_cgroups() != CgroupMode::kNone) modes.push_back(CgroupMode::kV2);
  if (detect_cgroups() == CgroupMode::kHybrid) modes.push_back(CgroupMode::kHybrid);
  return modes;
}

}  // namespace

TEST_CASE("no process of the host or of another sandbox is visible") {
  if (!can_start_sandboxes()) return;
  const std::string count = "ls /proc | grep -c '^[0-9]'";
  // Control: seen from the host there are at least we and our parent.
  CHECK(processes_of(0) >= 2);
  Started other = start_printing(shell("echo up; sleep 1000"), detect_cgroups());
  CHECK(read_line(other.output_fd) == "up");
  // The shell, ls and grep; not the first process, which does not belong to the program.
  const Outcome outcome = run(shell(count + "; ls /proc/1 2>&1; kill -9 1; echo alive"));
  CHECK(std::stoi(outcome.output) <= 4);
  CHECK(outcome.output.find("/proc/1") != std::string::npos);
  CHECK(outcome.output.find("alive") != std::string::npos);
  CHECK(other.running.kill_tree(5000));
  ::close(other.output_fd);
}

TEST_CASE("files of the host and of other users are out of reach") {
  if (!can_start_sandboxes()) return;
  const TestFolder folder;
  std::ofstream{folder.path("canary")} << "canary";
  REQUIRE(::chmod(folder.path("canary").c_str(), 0600) == 0);
  Spec spec = shell("ls /root /home /srv /opt /boot 2>&1; ls /var /run; cat /shown/canary; cat " +
                    folder.path("canary") +
                    "; cat /etc/shadow; for f in / /usr /etc /dev /proc; do "
                    "touch $f/new && echo written; done; true");
  spec.mounts = {{folder.path(), "/shown", true}};
  const Outcome outcome = run(spec);
  CHECK(outcome.output.find("canary: Permission denied") != std::string::npos);
  CHECK(outcome.output.find("canarycanary") == std::string::npos);
  CHECK(outcome.output.find("written") == std::string::npos);
  CHECK(outcome.output.find("root:") == std::string::npos);
  CHECK(outcome.output.find("cannot access '/root'") != std::string::npos);
  // Control: its owner reads the same file at the same place.
  REQUIRE(::chown(folder.path("canary").c_str(), spec.uid, spec.gid) == 0);
  spec.argv = {"cat", "/shown/canary"};
  spec.id += "-control";
  CHECK(run(spec).output == "canary");
}

TEST_CASE("the generated /etc names the user and nobody of the host") {
  if (!can_start_sandboxes()) return;
  Spec spec = shell("cat /etc/passwd; cat /etc/hosts; hostname; id -un; cat /etc/resolv.conf");
  spec.hosts = {{"rank-0", "127.0.1.1"}, {"box", "127.0.1.2"}};
  spec.user_name = "vision";
  const Outcome outcome = run(spec);
  const std::string id = std::to_string(spec.uid);
  CHECK(outcome.output ==
        "root:x:0:0:root:/:/usr/sbin/nologin\nvision:x:" + id + ":" + id +
            "::/tmp:/bin/sh\n"
            "nobody:x:65534:65534:nobody:/:/usr/sbin/nologin\n"
            "127.0.0.1 localhost\n::1 localhost ip6-localhost\n127.0.1.1 rank-0\n127.0.1.2 box\n"
            "box\nvision\n");
}

TEST_CASE("the program has no rights of root, now or after any exec") {
  if (!can_start_sandboxes()) return;
  const Outcome outcome = run(shell(
      "grep -E '^(Cap|NoNewPrivs|Seccomp:|Groups|Uid|Gid)' /proc/self/status; su -c id 2>&1; id"));
  for (const char* set : {"CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"})
    CHECK(outcome.output.find(std::string{set} + ":\t0000000000000000") != std::string::npos);
  CHECK(outcome.output.find("NoNewPrivs:\t1") != std::string::npos);
  CHECK(outcome.output.find("Seccomp:\t2") != std::string::npos);
  CHECK(outcome.output.find("Groups:\t \n") != std::string::npos);
  CHECK(outcome.output.find("uid=0") == std::string::npos);
}

TEST_CASE("what the caller has open does not leak, and its program cannot be reached") {
  if (!can_start_sandboxes()) return;
  std::vector<int> leaked;
  for (int i = 0; i < 100; ++i) leaked.push_back(::open("/", O_RDONLY | O_DIRECTORY));
  const Outcome outcome =
      run(python("import os, glob\n"
                 "print(sorted(int(n) for n in os.listdir('/proc/self/fd'))[:4])\n"
                 "opened = []\n"
                 "for path in glob.glob('/proc/*/exe') + ['/proc/1/exe', '/proc/2/exe']:\n"
                 "  try: os.open(path, os.O_WRONLY); opened.append(path)\n"
                 "  except OSError: pass\n"
                 "try: opened.append(os.readlink('/proc/1/exe'))\n"
                 "except OSError: pass\n"
                 "print(opened)"));
  for (const int fd : leaked) ::close(fd);
  // 3 is the listing itself.
  CHECK(outcome.output == "[0, 1, 2, 3]\n[]\n");
}

TEST_CASE("a handle to the host that slips in opens nothing") {
  if (!can_start_sandboxes()) return;
  if (landlock_version() == 0) {
    MESSAGE("this kernel has no second fence around files");
    return;
  }
  const int root = ::open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  Spec spec = shell(
      "exec 5<&0 </dev/null; exec python3 -c \"import os\n"
      "print('var' in os.listdir(5) and 'root' in os.listdir(5))\n"  // control: the host's root
      "for path in ['etc/hostname', 'etc/passwd', 'tmp', '../etc/hostname']:\n"
      "  try: os.open(path, os.O_RDONLY, dir_fd=5); print('opened', path)\n"
      "  except OSError as e: print(e.errno)\"");
  spec.stdin_fd = root;
  CHECK(run(spec).output == "True\n13\n13\n13\n13\n");
  ::close(root);
}

TEST_CASE("a folder that is swapped for a link while sandboxes start is never left by it") {
  if (!can_start_sandboxes()) return;
  const TestFolder folder;
  std::filesystem::create_directories(folder.path("team/data"));
  std::ofstream{folder.path("team/data/mine")} << "mine";
  std::filesystem::create_directories(folder.path("host"));
  std::ofstream{folder.path("host/sentinel")} << "sentinel";
  std::filesystem::create_symlink(folder.path("host"), folder.path("team/link"));
  const pid_t swapper = ::fork();
  if (swapper == 0) {
    const std::string data = folder.path("team/data"), link = folder.path("team/link");
    for (;;) ::renameat2(AT_FDCWD, data.c_str(), AT_FDCWD, link.c_str(), RENAME_EXCHANGE);
  }
  int started = 0, refused = 0;
  for (int i = 0; i < 60; ++i) {
    Spec spec = spec_of({"ls", "/data"});
    spec.mounts = {{folder.path("team/data"), "/data", true}};
    Result<Running> running = start(spec);
    if (!running) {
      CHECK(running.error().message.find("changed or is a link") != std::string::npos);
      ++refused;
      continue;
    }
    CHECK(running->finish()->code == 0);
    spec.id += "-again";
    std::array<int, 2> ends{};
    REQUIRE(::pipe2(ends.data(), O_CLOEXEC) == 0);
    spec.stdout_fd = ends[1];
    Result<Running> again = start(spec);
    ::close(ends[1]);
    if (again) {
      CHECK(read_line(ends[0]) == "mine");
      ++started;
    }
    ::close(ends[0]);
  }
  ::kill(swapper, SIGKILL);
  ::waitpid(swapper, nullptr, 0);
  // Control: the swap really happened under both.
  CHECK(started > 0);
  CHECK(refused > 0);
}

TEST_CASE("settings of the kernel can be neither written nor mounted") {
  if (!can_start_sandboxes()) return;
  const Outcome outcome = run(python(
      "import os\n"
      "for path in ['/proc/sysrq-trigger', '/proc/sys/kernel/core_pattern', "
      "'/proc/sys/vm/drop_caches',\n"
      "             '/proc/sys/kernel/modprobe', '/proc/sys/net/ipv4/ip_forward', "
      "'/proc/self/oom_score_adj',\n"
      "             '/proc/self/uid_map', '/proc/irq/default_smp_affinity', "
      "'/proc/kcore', '/dev/kmsg',\n"
      "             '/sys/devices/system/cpu/cpu1/online', '/proc/self/attr/current', "
      "'/proc/1/mem']:\n"
      "  for mode in (os.O_WRONLY, os.O_RDWR):\n"
      "    try: os.write(os.open(path, mode), b'0'); print('written', path)\n"
      "    except OSError: pass\n"
      "for path in ['/proc/kallsyms', '/proc/keys', '/proc/key-users', '/proc/timer_list']:\n"
      "  try: print('read', open(path).read())\n"
      "  except OSError: pass\n"
      "print(os.path.exists('/sys/fs/cgroup'), "
      "open('/proc/self/cgroup').read().count('heddle'))"));
  CHECK(outcome.output == "False 0\n");
}

TEST_CASE("devices that are not held can be neither found, made nor opened; held ones can") {
  if (!can_start_sandboxes()) return;
  const TestFolder nodes;
  for (unsigned minor = 0; minor < 8; ++minor)
    REQUIRE(::mknod(nodes.path("nvidia" + std::to_string(minor)).c_str(), S_IFCHR | 0666,
                    makedev(195, minor)) == 0);
  // Control: on the host the nodes are real; they have no driver here.
  CHECK(::open(nodes.path("nvidia3").c_str(), O_RDWR) == -1);
  CHECK((errno == ENXIO || errno == EACCES));
  const int refused_on_host = errno;
  for (const CgroupMode mode : modes()) {
    CAPTURE(static_cast<int>(mode));
    Spec spec = python(
        "import os, errno\n"
        "def answer(path):\n"
        "  try: os.open(path, os.O_RDWR); return 'opened'\n"
        "  except OSError as e: return errno.errorcode[e.errno]\n"
        "print(*[answer(f'/dev/nvidia{n}') for n in range(8)])\n"
        "print(*[answer(f'/shown/nvidia{n}') for n in range(8)])\n"
        "for n in range(8):\n"
        "  try: os.mknod(f'/tmp/n{n}', 0o20666, os.makedev(195, n)); print('made')\n"
        "  except OSError as e: print(errno.errorcode[e.errno], end=' ')\n"
        "open('/dev/null', 'w').write('x'); print(len(open('/dev/urandom', 'rb').read(4)), "
        "os.openpty() != None)");
    // The host's nodes shown by mistake: nodev keeps them shut.
    spec.mounts = {{nodes.path(), "/shown", true}};
    spec.devices = {{nodes.path("nvidia1"), "/dev/nvidia1"},
                    {nodes.path("nvidia4"), "/dev/nvidia4"}};
    const Outcome outcome = run_with(spec, mode);
    const std::string held = refused_on_host == ENXIO ? "ENXIO" : "EACCES";
    CHECK(outcome.output == "ENOENT " + held + " ENOENT ENOENT " + held +
                                " ENOENT ENOENT ENOENT\n"
                                "EACCES EACCES EACCES EACCES EACCES EACCES EACCES EACCES\n"
                                "EPERM EPERM EPERM EPERM EPERM EPERM EPERM EPERM 4 True\n");
  }
}

TEST_CASE("the limits alone bar a device whose node got in") {
  if (!can_start_sandboxes()) return;
  // The rule below the mounts: here the node of a device that is not in the list is opened by a
  // root process that only joined the group.
  for (const CgroupMode mode : modes()) {
    if (mode == CgroupMode::kNone) continue;
    CAPTURE(static_cast<int>(mode));
    CgroupLimits limits;
    limits.devices = {{false, 1, 3}};
    limits.holds_devices = true;
    auto group = make_cgroup(mode, "heddle-test", "devices-" + std::to_string(::getpid()), limits);
    REQUIRE(group);
    const pid_t child = ::fork();
    if (child == 0) {
      if (mode == CgroupMode::kV2) {
        const std::string file =
            "/proc/self/fd/" + std::to_string((*group)->clone_fd()) + "/cgroup.procs";
        std::ofstream{file} << "0" << std::flush;
      } else if (!(*group)->join()) {
        ::_exit(9);
      }
      const bool null_opens = ::open("/dev/null", O_RDWR) >= 0;
      const bool zero_is_barred = ::open("/dev/zero", O_RDWR) < 0 && errno == EPERM;
      ::_exit(null_opens && zero_is_barred ? 0 : 1);
    }
    int status = 1;
    CHECK(::waitpid(child, &status, 0) == child);
    CHECK(status == 0);
    CHECK((*group)->remove());
  }
}

TEST_CASE("what one sandbox leaves behind, the next one does not find") {
  if (!can_start_sandboxes()) return;
  const std::string leave =
      "import os, ctypes\n"
      "for p in ['/tmp', '/dev/shm', '/var/tmp']: open(p + '/canary', 'w').write('canary')\n"
      "print(ctypes.CDLL(None).shmget(4711, 4096, 0o1666) >= 0)";
  CHECK(run(python(leave)).output == "True\n");
  const std::string search =
      "import os, ctypes\n"
      "print([p for p in ['/tmp', '/dev/shm', '/var/tmp'] if os.listdir(p)], "
      "ctypes.CDLL(None).shmget(4711, 4096, 0) >= 0)";
  CHECK(run(python(search)).output == "[] False\n");
  CHECK_FALSE(std::filesystem::exists("/tmp/canary"));
}

TEST_CASE("a crash leaves no core file") {
  if (!can_start_sandboxes()) return;
  const Outcome outcome =
      run(shell("grep -i core /proc/self/limits | tr -s ' '; sh -c 'kill -SEGV $$'; ls -A /tmp; "
                "ulimit -c 1 && echo raised"));
  // Not 0: a host whose cores go through a pipe would write one all the same.
  CHECK(outcome.output.starts_with("Max core file size 1 1 bytes"));
  CHECK(outcome.output.find("core\n") == std::string::npos);
  CHECK(outcome.output.find("raised") == std::string::npos);
}

}  // namespace heddle::sandbox
