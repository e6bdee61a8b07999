"""A hostile team beside an honest one on the real system. Each attack has a control that shows it can succeed."""

import json
import os
import pathlib
import secrets
import socket
import subprocess
import sys
import threading

import pytest
from box import JOBS

NOBODY = 65534
FIRST_TEAM_UID, UIDS_PER_TEAM = 1 << 28, 65_536
OUTSIDE = [
    "/new",
    "/usr/new",
    "/usr/bin/python3",
    "/bin/sh",
    "/etc/passwd",
    "/etc/new",
    "/dev/new",
    "/run/new",
    "/var/new",
    "/lib/new",
    "/proc/sys/kernel/core_pattern",
    "/proc/sysrq-trigger",
    "/proc/self/oom_score_adj",
    "/proc/1/oom_score_adj",
    "/sys/kernel/uevent_helper",
    "/sys/fs/cgroup/cgroup.procs",
    "/sys/devices/system/cpu/cpu0/online",
]


@pytest.fixture(scope="module")
def listener():
    """A service on the loopback addresses of the host, as TCP and as abstract socket."""
    name = "host-" + secrets.token_hex(4)
    tcp, abstract = socket.create_server(("0.0.0.0", 0)), socket.socket(socket.AF_UNIX)
    abstract.bind("\0" + name)
    abstract.listen()
    over = threading.Event()

    def serve(one):
        one.settimeout(0.2)
        while not over.is_set():
            try:
                with one.accept()[0] as peer:
                    peer.send(b"reached the host")
            except TimeoutError:
                continue

    threads = [threading.Thread(target=serve, args=(one,)) for one in (tcp, abstract)]
    for thread in threads:
        thread.start()
    yield tcp.getsockname()[1], name
    over.set()
    for thread in threads:
        thread.join()
    tcp.close()
    abstract.close()


def targets_of(box, victim, listener):
    team = victim.folder
    state = box.state
    host = subprocess.run(["hostname", "-I"], capture_output=True, text=True).stdout.split()
    return {
        "state": str(state),
        "tops": ["/"],
        "canaries": [*victim.canaries.values(), victim.token_of_ana, box.admin.token],
        "paths": [
            str(p)
            for p in (
                state,
                state / "admin.token",
                state / "heddle.db",
                state / "local" / "logs",
                state / "local" / "logs" / victim.work,
                team,
                team / "shared",
                team / "shared" / "secret",
                team / "work" / victim.work,
                team / "work" / victim.work / "secret",
                box.server.folder,
                "/root",
                "/home",
                "/run/heddle-0",
                "/dev/shm/heddle-0",
                "/sys/fs/cgroup",
                "/var/lib",
                "/boot",
            )
        ],
        "pids": [box.server.process.pid, victim.pid, os.getpid()],
        "tcp": [
            ["host", "127.0.0.1", listener[0]],
            ["api", "127.0.0.1", box.port],
            ["victim", "127.0.0.1", victim.port],
            *[[f"address {h}", h, listener[0]] for h in host if ":" not in h],
        ],
        "abstract": [listener[1], victim.abstract],
        "outside": OUTSIDE,
    }


@pytest.fixture(scope="module")
def seen(box, victim, listener):
    """What a job of team mallory finds when it looks everywhere."""
    return box.mal.report(box.mal.submit_job("curious", targets_of(box, victim, listener), gpu=0.5, name="curious"))


def refused(seen, word):
    """Attempts whose name begins with `word`; none of them went through, and there were some."""
    tried = {name: came for name, came in seen.items() if name.startswith(word)}
    assert tried
    assert {name: came for name, came in tried.items() if "refused" not in came} == {}


def test_the_same_search_outside_finds_everything(box, victim, listener, tmp_path):
    targets = targets_of(box, victim, listener)
    targets.update(inside=False, tops=[str(box.server.folder)], pids=[victim.pid])
    (tmp_path / "targets.json").write_text(json.dumps(targets))
    done = subprocess.run(
        [sys.executable, JOBS / "curious.py"], cwd=tmp_path, capture_output=True, text=True, timeout=60, check=True
    )
    found = json.loads(done.stdout)
    assert "canary-file" in str(found["canaries"]) and "canary-upload" in str(found["canaries"])
    assert found["tcp host"] == {"got": "reached the host"}
    assert found[f"abstract {listener[1]}"] == {"got": "reached the host"}
    assert "got" in found[f"list {box.state}"] and "got" in found[f"kill {victim.pid}"]
    assert victim.canaries["environment"] in str(found[f"environ {victim.pid}"])
    assert victim.canaries["argument"] in str(found["processes"])


def test_files_of_others_cannot_be_seen(seen):
    for word in ("list ", "read ", "make ", "through "):
        refused(seen, word)
    assert seen["canaries"] == []


def test_processes_of_others_cannot_be_seen_or_touched(seen, victim):
    assert not [p for p in seen["processes"] if not p.startswith("1 ")]
    for word in ("kill ", "ptrace", "pidfd", "environ ", "memory of 1", "program of 1"):
        refused({k: v for k, v in seen.items() if k != "kill all"}, word)
    victim.is_well()


def test_networks_of_others_cannot_be_reached(seen):
    for word in ("tcp ", "abstract ", "raw socket", "packet socket"):
        refused(seen, word)
    assert seen["interfaces"] == ["lo"]
    assert not [name for name in seen["unix_sockets"] if name.startswith(("@", "/"))]


def test_a_device_that_is_not_held_cannot_be_made_or_opened(seen):
    refused(seen, "node ")
    refused(seen, "open /dev/")


def test_nothing_outside_its_folders_can_be_written(seen):
    refused(seen, "write ")
    for word in ("mount", "remount", "unshare", "setuid", "chown", "raise core", "nice", "sched"):
        refused(seen, word)


def test_it_starts_with_nothing_but_its_own(seen, box, victim):
    assert seen["descriptors"] == [0, 1, 2]
    assert seen["ipc"] == [0, 0, 0] and seen["leftovers"] == []
    text = json.dumps(seen["environment"])
    assert not [c for c in [*victim.canaries.values(), box.mal.token, box.admin.token] if c in text]
    assert FIRST_TEAM_UID <= seen["own_uid"] < 1 << 31 and seen["own_uid"] != victim.uid


def as_user(uid, *command):
    who = {"user": uid, "group": uid, "extra_groups": []}
    return subprocess.run(command, capture_output=True, text=True, errors="replace", **who)


def test_argument_lists_of_the_machine_hold_no_secret(box, victim):
    """Argument lists are the one thing that every user of the machine may read."""
    lists = as_user(NOBODY, "/bin/sh", "-c", "cat /proc/[0-9]*/cmdline | tr '\\0' ' '").stdout
    assert "heddled" in lists and "heddle-shim" in lists
    # What the team itself put into its arguments is shown by the machine's own /proc; nothing else of ours is.
    words = [v for k, v in victim.canaries.items() if k != "argument"] + [victim.token_of_ana, box.admin.token]
    assert not [word for word in words if word in lists]
    for pid in [box.server.process.pid, *children_of(box.server.process.pid)]:
        line = as_user(NOBODY, "cat", f"/proc/{pid}/cmdline").stdout
        if "heddle" in line:
            assert victim.canaries["argument"] not in line
            assert as_user(NOBODY, "cat", f"/proc/{pid}/environ").returncode != 0


def children_of(pid):
    found = []
    for task in pathlib.Path(f"/proc/{pid}/task").glob("*/children"):
        for child in task.read_text().split():
            found += [int(child), *children_of(child)]
    return found


def test_other_users_of_the_machine_read_nothing(box, victim):
    """Also as the hostile team's own user, should it ever get outside."""
    mallory = box.mal.submit(["true"])
    box.mal.wait_end(mallory)
    hostile = (box.team_folder("mallory") / "shared").stat().st_uid
    for uid in (NOBODY, hostile):
        for path in (
            box.state,
            box.state / "admin.token",
            victim.folder / "shared",
            victim.folder / "work" / victim.work,
            victim.folder / "shared" / "secret",
            box.state / "local" / "logs" / victim.work,
        ):
            assert as_user(uid, "cat", str(path)).returncode != 0
            assert as_user(uid, "ls", str(path)).returncode != 0
        assert as_user(uid, "kill", "-0", str(victim.pid)).returncode != 0
        assert as_user(uid, "cat", f"/proc/{victim.pid}/environ").returncode != 0
    assert as_user(victim.uid, "kill", "-0", str(victim.pid)).returncode == 0
    for made in (box.state, *box.state.rglob("*")):
        if made.is_symlink() or "teams" in made.parts or not made.exists():
            continue
        assert made.stat().st_mode & 0o066 == 0, f"{made} {oct(made.stat().st_mode)}"
