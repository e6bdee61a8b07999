"""Looks for everything that is not its own; says what it got, as JSON. Also run outside, to see that it can find."""

import ctypes
import json
import os
import resource
import signal
import socket
import stat
import sys

targets = json.load(open("targets.json"))
libc = ctypes.CDLL(None, use_errno=True)
SEIZE = 0x4206  # like attaching, but the one who is caught goes on
got = {}


def attempt(name, act):
    """What `act` came to: {"got": value} when the attack went through, else why not."""
    try:
        got[name] = {"got": act()}
    except (OSError, ValueError) as error:
        got[name] = {"refused": str(error)}


def checked(result):
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return result


def read(path):
    with open(path, "rb") as file:
        return file.read(8192).decode(errors="replace")


def tree(top, seen, limit=200_000):
    """Every readable plain file below `top`; system folders that hold programs only are left out."""
    for folder, folders, files in os.walk(top):
        folders[:] = [f for f in folders if os.path.join(folder, f) not in ("/proc", "/usr", "/sys/devices")]
        for name in files:
            path = os.path.join(folder, name)
            try:
                facts = os.lstat(path)
                if not stat.S_ISREG(facts.st_mode) or (facts.st_dev, facts.st_ino) in seen or len(seen) > limit:
                    continue
                seen.add((facts.st_dev, facts.st_ino))
                with open(path, "rb") as file:
                    yield path, file.read(4 << 20)
            except OSError:
                continue


def canaries_in(tops):
    own = os.path.realpath("targets.json")
    seen = set()
    return sorted(
        {
            f"{canary} in {path}"
            for top in tops
            for path, data in tree(top, seen)
            if path != own
            for canary in targets["canaries"]
            if canary.encode() in data
        }
    )


def processes():
    found = []
    for name in os.listdir("/proc"):
        if not name.isdigit() or int(name) == os.getpid():
            continue
        for file in ("cmdline", "environ", "maps"):
            try:
                data = read(f"/proc/{name}/{file}").replace("\0", " ")
            except OSError as error:
                data = error.strerror
            found.append(f"{name} {file}: {data}")
    return found


def talk(address, family=socket.AF_INET):
    with socket.socket(family, socket.SOCK_STREAM) as s:
        s.settimeout(3)
        s.connect(address)
        return s.recv(100).decode()


def make_node(name, kind, device, path):
    def act():
        os.mknod(path, kind | 0o666, device)
        try:
            os.close(os.open(path, os.O_RDWR))
            return "made and opened"
        finally:
            os.unlink(path)

    attempt(name, act)


def put(path):
    def act():
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT, 0o666))
        return "written"

    attempt(f"write {path}", act)


for path in targets.get("paths", []):
    attempt(f"list {path}", lambda path=path: os.listdir(path))
    attempt(f"read {path}", lambda path=path: read(path))
    if targets.get("inside", True):
        attempt(f"make {path}/new", lambda path=path: os.mkdir(path + "/new"))
for prefix in ("/proc/1/root", "/proc/1/cwd", "/proc/self/root/..", "../../../../../.."):
    attempt(f"through {prefix}", lambda prefix=prefix: os.listdir(prefix + targets["state"]))
got["canaries"] = canaries_in(targets["tops"])

got["processes"] = processes()
got["own_uid"] = os.getuid()
for pid in targets.get("pids", []):
    attempt(f"kill {pid}", lambda pid=pid: os.kill(pid, 0))
    attempt(f"ptrace {pid}", lambda pid=pid: checked(libc.ptrace(SEIZE, pid, 0, 0)))
    attempt(f"pidfd {pid}", lambda pid=pid: os.close(os.pidfd_open(pid)))
    attempt(f"environ {pid}", lambda pid=pid: read(f"/proc/{pid}/environ"))
got["descriptors"] = sorted(int(n) for n in os.listdir("/proc/self/fd"))[:-1]
got["environment"] = dict(os.environ)
got["ipc"] = [len(open(f"/proc/sysvipc/{k}").readlines()) - 1 for k in ("shm", "msg", "sem")]
got["leftovers"] = sorted(os.listdir("/tmp") + os.listdir("/dev/shm"))
got["core_limit"] = resource.getrlimit(resource.RLIMIT_CORE)

for name, host, port in targets.get("tcp", []):
    attempt(f"tcp {name}", lambda host=host, port=port: talk((host, port)))
for name in targets.get("abstract", []):
    attempt(f"abstract {name}", lambda name=name: talk("\0" + name, socket.AF_UNIX))
attempt("raw socket", lambda: socket.socket(socket.AF_INET, socket.SOCK_RAW, 1).close())
attempt("packet socket", lambda: socket.socket(socket.AF_PACKET, socket.SOCK_RAW).close())
got["unix_sockets"] = [line.split()[-1] for line in open("/proc/net/unix").readlines()[1:]]
got["interfaces"] = [name for _, name in socket.if_nameindex()]

if targets.get("inside", True):
    attempt("ptrace 1", lambda: checked(libc.ptrace(SEIZE, 1, 0, 0)))
    attempt("memory of 1", lambda: read("/proc/1/mem"))
    attempt("program of 1", lambda: os.close(os.open("/proc/1/exe", os.O_WRONLY)))
    for minor in (0, 1, 7, 255):
        make_node(f"node nvidia {minor}", stat.S_IFCHR, os.makedev(195, minor), "/tmp/node")
        make_node(f"node nvidia {minor} at work", stat.S_IFCHR, os.makedev(195, minor), "node")
    make_node("node memory", stat.S_IFCHR, os.makedev(1, 1), "/tmp/node")
    make_node("node disk", stat.S_IFBLK, os.makedev(254, 0), "/tmp/node")
    for path in ("/dev/nvidia0", "/dev/nvidiactl", "/dev/mem", "/dev/kmsg", "/dev/vda", "/dev/fuse", "/dev/kvm"):
        attempt(f"open {path}", lambda path=path: os.close(os.open(path, os.O_RDWR)))
    for path in targets["outside"]:
        put(path)
    attempt("mount", lambda: checked(libc.mount(b"none", b"/tmp", b"tmpfs", 0, None)))
    attempt("remount", lambda: checked(libc.mount(None, b"/usr", None, 32 | 4096, None)))
    attempt("unshare", lambda: checked(libc.unshare(0x10000000)))
    attempt("setuid", lambda: os.setuid(0))
    attempt("chown", lambda: os.chown("targets.json", 0, 0))
    attempt("raise core limit", lambda: resource.setrlimit(resource.RLIMIT_CORE, (1 << 30, 1 << 30)))
    attempt("nice", lambda: os.setpriority(os.PRIO_PROCESS, 0, -5))
    attempt("sched", lambda: os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1)))
    attempt("kill all", lambda: (signal.signal(signal.SIGTERM, signal.SIG_IGN), os.kill(-1, signal.SIGTERM)) and None)
json.dump(got, sys.stdout)
