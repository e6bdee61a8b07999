"""Jobs that eat the box, do not want to end or leave traps behind, beside honest work and a busy API."""

import json
import os
import pathlib
import secrets
import threading
import time

import pytest
from box import ENDED, wait_until
from victim import processes_of_team

SLOWEST_ANSWER_S = 5  # of the API while a hog runs; a busy machine needs more than a second
PYTHON = "/usr/bin/python3"


@pytest.fixture(autouse=True)
def neighbours(box, victim):
    """While anything of this file runs, the API answers and the victim's work goes on; nothing is left afterwards."""
    over, slowest = threading.Event(), [0.0]

    def ask():
        while True:
            began = time.monotonic()
            assert box.ana.ask("GET", "/v1/workloads").status == 200
            slowest[0] = max(slowest[0], time.monotonic() - began)
            if over.wait(0.2):
                return

    asking = threading.Thread(target=ask)
    asking.start()
    yield
    over.set()
    asking.join()
    assert 0 < slowest[0] < SLOWEST_ANSWER_S
    victim.is_well()
    for work in box.mal.all("/v1/workloads"):
        box.mal.cancel(work["id"])
        box.mal.wait_end(work["id"])
    wait_until(lambda: not processes_of_team(box, "mallory"), "no process of the hostile team left")


def run_python(box, text, **fields):
    return box.mal.submit([PYTHON, "-B", "-c", text], **fields)


def test_a_fork_bomb_is_bounded_and_gone_when_cancelled(box):
    work = run_python(
        box,
        "import os, signal\nmade = 0\ntry:\n  while made < 20000:\n    if os.fork() == 0:\n"
        "      while True: signal.pause()\n"
        "    made += 1\nexcept OSError as e: pass\nprint('bounded at', made, flush=True)\nwhile True: signal.pause()",
        resources={"gpus": 2},
        grace="1s",
    )
    made = int(box.mal.wait_line(work, "bounded at").split()[2])
    assert 1000 < made <= 4096
    assert made <= len(processes_of_team(box, "mallory")) <= 4100
    box.mal.cancel(work)
    assert box.mal.wait_end(work)["end"]["cause"] == "cancelled"
    assert processes_of_team(box, "mallory") == []


def test_a_memory_hog_ends_as_out_of_memory_and_a_kill_does_not(box):
    hog = run_python(box, "a = []\nwhile True: a.append(bytearray(b'x' * (4 << 20)))")
    killed = run_python(box, "import os, signal; os.kill(os.getpid(), signal.SIGKILL)")
    seen = box.mal.wait_end(hog)
    assert seen["end"]["cause"] == "out_of_memory", seen["end"]
    assert any("memory" in line for line in box.mal.lines(hog, "heddle"))
    end = box.mal.wait_end(killed)["end"]
    assert (end["cause"], end["signal"]) == ("signalled", 9)
    assert box.mal.get(f"/v1/workloads/{hog}/receipt")["peak_memory_bytes"] > 128 << 20


@pytest.mark.parametrize("place", ["/tmp", "/dev/shm"])
def test_memory_file_systems_are_charged_to_who_fills_them(box, place):
    work = run_python(
        box,
        f"import sys\nfile = open('{place}/fill', 'wb')\n"
        "try:\n  while True: file.write(bytes(1 << 20)); file.flush()\n"
        "except OSError as e: print('full', e.strerror)",
    )
    seen = box.mal.wait_end(work)
    assert seen["end"]["cause"] == "out_of_memory" or box.mal.lines(work)[-1:] == ["full No space left on device"]
    small = run_python(
        box,
        f"made = 0\ntry:\n  while True: open('{place}/%d' % made, 'w').close(); made += 1\n"
        "except OSError as e: print('full', made, e.strerror)",
    )
    seen = box.mal.wait_end(small)
    assert seen["end"]["cause"] == "out_of_memory" or box.mal.lines(small)[-1].startswith("full ")


def test_what_was_left_in_memory_is_gone_for_the_next(box):
    mark = "left-" + secrets.token_hex(8)
    left = run_python(box, f"for p in ('/tmp', '/dev/shm', '/var/tmp'): open(p + '/{mark}', 'w').write('{mark}')")
    box.mal.wait_end(left)
    look = box.mal.submit(["/bin/sh", "-c", "ls -A /tmp /dev/shm /run/shm /var/tmp/"])
    box.mal.wait_end(look)
    assert mark not in "".join(box.mal.lines(look)) and "/dev/shm:" in box.mal.lines(look)
    for place in ("/tmp", "/dev/shm", "/var/tmp"):
        assert not (pathlib.Path(place) / mark).exists()


def test_ten_gigabytes_of_output_are_quick_and_bounded_on_disk(box):
    began = time.monotonic()
    text = "import os\nx = b'x' * (1 << 20)\nleft = 10**10\nwhile left > 0: left -= os.write(1, x)\nprint('\\nthe end')"
    work = run_python(box, text)
    seen = box.mal.wait_end(work, within_s=240)
    took = time.monotonic() - began
    assert seen["state"] == "succeeded"
    kept = sum(p.stat().st_size for p in (box.state / "local" / "logs" / work).rglob("*"))
    assert 1 << 20 < kept < 20 << 20, kept
    assert box.mal.lines(work, tail=1) == ["the end"]
    page = box.mal.get(f"/v1/workloads/{work}/logs", cursor="0.0.0")
    assert len(json.dumps(page)) < 16 << 20
    assert took < 200, took


def test_long_lines_come_whole_in_parts(box):
    work = box.mal.submit(["/bin/sh", "-c", "head -c 200000 /dev/zero | tr '\\0' y; echo; echo z"])
    box.mal.wait_end(work)
    page = box.mal.get(f"/v1/workloads/{work}/logs")
    text, lines = "", []
    for line in page["items"]:
        text += line["text"]
        if not line["partial"]:
            lines.append(text)
            text = ""
    assert lines == ["y" * 200_000, "z"]
    assert max(len(line["text"]) for line in page["items"]) <= 65536


def test_who_ignores_the_signal_is_gone_after_its_grace_and_only_then_is_the_device_given(box):
    work = run_python(
        box,
        "import os, signal\n"
        "for s in range(1, 65):\n  try: signal.signal(s, signal.SIG_IGN)\n  except OSError: pass\n"
        "for _ in range(20): os.fork()if _ < 4 else None\n"
        "print('deaf', flush=True)\nwhile True: signal.pause()",
        nodes=2,
        resources={"gpus": 7},
        grace="2s",
    )
    box.mal.wait_line(work, "deaf")
    # The first line may come before the last process is forked.
    wait_until(lambda: len(processes_of_team(box, "mallory")) > 16, "a crowd of deaf processes")
    heir = box.ana.submit([PYTHON, "-c", "print('mine')"], resources={"gpus": 7})
    assert box.ana.show(heir)["state"] == "waiting"
    asked = time.monotonic()
    box.mal.cancel(work)
    box.ana.wait_end(heir)
    assert time.monotonic() - asked >= 1.9
    assert processes_of_team(box, "mallory") == []
    assert box.mal.show(work)["end"]["cause"] == "cancelled"
    freed = {a["node_id"]: a["released_at"] for a in box.mal.all("/v1/allocations", workload=work)}
    for taken in box.ana.all("/v1/allocations", workload=heir):
        assert taken["created_at"] >= freed[taken["node_id"]]


def test_who_daemonises_away_is_gone_when_the_job_ends(box):
    work = run_python(
        box,
        "import os, signal, select, time\nfor i in range(8):\n  if os.fork() == 0:\n    os.setsid()\n"
        "    if os.fork(): os._exit(0)\n"
        "    os.setsid()\n    [os.close(n) for n in (0, 1, 2)]\n    signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
        "    while True:\n      open('/shared/daemon', 'w').write(str(time.time())); select.select([], [], [], 0.02)\n"
        "while not os.path.exists('/shared/daemon'): select.select([], [], [], 0.02)\nprint('over', flush=True)",
    )
    assert box.mal.wait_end(work)["state"] == "succeeded"
    assert processes_of_team(box, "mallory") == []
    beat = box.team_folder("mallory") / "shared" / "daemon"
    assert beat.exists()
    beat.unlink()
    box.mal.wait_end(box.mal.submit(["true"]))
    assert not beat.exists()


@pytest.fixture
def sentinel(tmp_path):
    """A folder of the host that everybody may write to, and that nobody writes to."""
    for path in (tmp_path.parent.parent, tmp_path.parent, tmp_path):
        path.chmod(0o777 if path == tmp_path else 0o755)
    (tmp_path / "file").write_text("untouched")
    (tmp_path / "file").chmod(0o666)

    def facts():
        return sorted((str(p), p.lstat().st_ino, p.lstat().st_mtime_ns, p.lstat().st_size) for p in tmp_path.rglob("*"))

    before = facts()
    yield tmp_path
    assert facts() == before and (tmp_path / "file").read_text() == "untouched"


TRAPS = {
    "folder becomes a link": "shutil.rmtree('sub'); os.symlink(target, 'sub')",
    "folder becomes a link upwards": "shutil.rmtree('sub'); os.symlink('../../../..' + target, 'sub')",
    "folder becomes a link to a process": "shutil.rmtree('sub'); os.symlink('/proc/self/root' + target, 'sub')",
    "file becomes a link": "os.unlink('sub/file'); os.symlink(target + '/file', 'sub/file')",
    "file becomes a dangling link": "os.unlink('sub/file'); os.symlink(target + '/made', 'sub/file')",
    "file becomes a pipe": "os.unlink('sub/file'); os.mkfifo('sub/file')",
    "file becomes a folder": "os.unlink('sub/file'); os.mkdir('sub/file'); os.mkdir('sub/file/x')",
    "folder becomes a file": "shutil.rmtree('sub'); open('sub', 'w').close()",
    "folder becomes a pipe": "shutil.rmtree('sub'); os.mkfifo('sub')",
    "folder is closed": "os.chmod('sub', 0o500); os.chmod('.', 0o500)",
    "draft is a link": "[os.symlink(target + '/file', 'sub/.heddle-draft-%d' % n) for n in server]",
    "draft is a folder": "[os.makedirs('sub/.heddle-draft-%d/x' % n) for n in server]",
}


@pytest.mark.parametrize("trap", TRAPS)
def test_traps_in_the_working_folder_catch_nobody_before_the_next_attempt(box, sentinel, trap):
    program = (
        "import os, shutil, sys\ntarget = sys.argv[1]; server = [int(sys.argv[2])]\n"
        f"if os.environ['HEDDLE_ATTEMPT'] == '1':\n  {TRAPS[trap]}\n  sys.exit(7)\n"
        "print('second', open('sub/file').read())"
    )
    work = box.mal.submit(
        [PYTHON, "-B", "-c", program, str(sentinel), str(box.server.process.pid)],
        files=[{"path": "sub/file", "content": "sent"}, {"path": "other", "content": "x" * 100}],
        retries=1,
    )
    seen = box.mal.wait_end(work, within_s=60)
    assert seen["attempt"] == 2
    if seen["state"] == "succeeded":
        assert box.mal.lines(work)[-1] == "second sent"
    else:
        assert seen["end"]["cause"] == "start_failed", seen["end"]
        assert "'sub/file'" in seen["end"]["message"] and str(box.state) not in seen["end"]["message"]


def test_traps_in_place_of_what_the_server_reads_or_removes(box, sentinel):
    """The team replaces its shared folder's entries and its working folder's by links and pipes; the server goes on."""
    work = run_python(
        box,
        "import os, sys\nfor p in ('/work', '/shared'):\n"
        f"  for n, t in (('a', {str(sentinel)!r}), ('b', '/'), ('c', '..')):\n"
        "    try: os.symlink(t, p + '/' + n)\n    except FileExistsError: pass\n"
        "  try: os.mkfifo(p + '/pipe')\n  except FileExistsError: pass\n"
        "for p in ('/work', '/shared'):\n"
        "  for act in (os.rmdir, lambda p: os.rename(p, p + '2'), lambda p: os.rename(p, '/tmp/x')):\n"
        "    try: act(p); print('moved', p)\n    except OSError: pass\nprint('done')",
    )
    assert box.mal.wait_end(work)["state"] == "succeeded"
    assert box.mal.lines(work) == ["done"]
    assert box.mal.wait_end(box.mal.submit(["true"]))["state"] == "succeeded"


def test_a_crash_leaves_no_core(box):
    text = (
        "import os, signal, resource\nprint(resource.getrlimit(resource.RLIMIT_CORE), flush=True)\n"
        "os.kill(os.getpid(), signal.SIGSEGV)"
    )
    work = run_python(box, text)
    end = box.mal.wait_end(work)["end"]
    assert (end["cause"], end["signal"]) == ("signalled", 11)
    # 1, not 0: the only limit that also keeps the kernel from handing the core to a program of the host.
    assert box.mal.lines(work) == ["(1, 1)"]
    folder = box.team_folder("mallory")
    assert not [p for p in folder.rglob("*") if "core" in p.name]


def test_descriptors_threads_and_sockets_are_bounded(box):
    work = run_python(
        box,
        "import os, socket, threading, select\nkept = []\n"
        "def fill(make):\n  made = 0\n  try:\n    while made < 200000: kept.append(make()); made += 1\n"
        "  except (OSError, RuntimeError) as e: pass\n  return made\n"
        "n = fill(lambda: socket.socketpair()); kept.clear()\n"
        "m = fill(os.pipe); [os.close(f) for p in kept for f in p]; kept.clear()\n"
        "print(n, m)",
        gpu=0.5,
    )
    seen = box.mal.wait_end(work)
    assert seen["state"] == "succeeded" or seen["end"]["cause"] == "out_of_memory", (seen, box.mal.lines(work, "err"))
    for count in "".join(box.mal.lines(work)).split():
        assert int(count) < 200_000


def test_kill_everything_hits_only_itself(box, victim):
    work = run_python(box, "import os\ntry: os.kill(-1, 9)\nexcept ProcessLookupError: os.kill(os.getpid(), 9)")
    end = box.mal.wait_end(work)["end"]
    assert end["signal"] == 9, end
    victim.is_well()
    assert os.path.exists(f"/proc/{box.server.process.pid}")
    assert box.mal.show(work)["state"] in ENDED
