"""What the machine can do to a server: full, read-only and damaged disks, a second server, clocks that jump."""

import hashlib
import os
import pathlib
import subprocess

import pytest
from heddle_program import Reader
from machine import Machine
from waiting import until
from web import Web, has_ended, moment_ms

needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="mounts a small disk of its own")
FAKETIME = next(pathlib.Path("/usr/lib").glob("*/faketime/libfaketimeMT.so.1"), None)


def started(server):
    server.start()
    server.web = Web(server)
    server.web.insist("POST", "/v1/teams", {"name": "vision"}, "team")
    return server.web


def submit(web, name, script, **more):
    fields = {"name": name, "team": "vision", "resources": {"gpu": 0.125}, **more}
    return web.submit(name, command=["/bin/sh", "-c", script], **fields)


def refused_start(server):
    """The exit code and the last words of a server that does not start."""
    with pytest.raises(RuntimeError):
        server.start()
    return server.process.returncode, server.last_words()


def digests(folder):
    return {p.name: hashlib.sha256(p.read_bytes()).hexdigest() for p in folder.glob("heddle.db*") if p.is_file()}


def status_words(server):
    done = Reader(server.folder, server.address, server.state / "admin.token").run("status")
    assert done.returncode == 0, done.stderr
    return done.stdout


# ---- disks ----


@pytest.fixture
def small_disk(server):
    """The server's state lies on a disk of its own, of 24 MB."""
    server.state.mkdir(mode=0o700)
    subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=24m,mode=700", "tmpfs", str(server.state)], check=True, timeout=20
    )
    yield server
    server.stop()
    Machine(server).end_everything()
    subprocess.run(["umount", "--lazy", str(server.state)], check=True, timeout=20)


def fill(server):
    """Leaves not a byte; the file that holds them."""
    filler = server.state / "filler"
    with filler.open("ab", buffering=0) as out:
        for size in (1 << 20, 1 << 12, 1):
            try:
                while True:
                    out.write(b"x" * size)
            except OSError:
                pass
    return filler


def submit_until_refused(web):
    """Large jobs until one is refused: the store has some room of its own. The answer and the ids of the others."""
    accepted = []
    for number in range(500):
        job = {"name": f"big-{number}", "team": "vision", "command": ["true", "x" * 60_000], "resources": {"gpus": 8}}
        status, answer = web.ask("POST", "/v1/workloads", {**job, "nodes": 2}, f"big-{number}")
        if status != 201:
            return status, answer, accepted
        accepted.append(answer["id"])
    raise AssertionError("a full disk took 500 jobs")


def use_up(web):
    """Small writes until none fits any more."""
    refused = 0
    for number in range(2000):
        status, _ = web.ask("POST", "/v1/teams", {"name": f"t-{number}"}, f"t-{number}")
        refused = refused + 1 if status == 507 else 0
        if refused == 5:
            return
    raise AssertionError("a full disk took 2000 teams")


@needs_root
def test_a_full_disk_refuses_by_name_loses_no_exit_and_goes_on_by_itself(small_disk):
    server, web = small_disk, started(small_disk)
    runs_on = submit(web, "runs-on", "sleep 10000", grace="0s")
    ends = submit(web, "ends", 'until [ -e "$HEDDLE_SHARED/gate" ]; do sleep 0.05; done; exit 5')
    for work in (runs_on, ends):
        web.wait_running(work)
    machine = Machine(server)
    lease = {w: web.get(f"/v1/allocations?workload={w}")["items"][0]["id"] for w in (runs_on, ends)}
    program = machine.program_of(lease[runs_on])
    gate = next(server.state.glob("local/teams/*/shared")) / "gate"

    filler = fill(server)
    status, problem, accepted = submit_until_refused(web)
    assert status == 507 and problem["code"] == "storage_full"
    assert "full" in problem["detail"] and "Free some space" in problem["next"]
    use_up(web)
    until(lambda: "cannot reach its store" in status_words(server), 20, lambda: "nothing is said of the trouble")
    # Reads go on, running work goes on, and an end waits until it can be written down.
    os.link(filler, gate)  # a name takes no room
    until(lambda: not machine.programs([ends]), 20, lambda: "it does not end")
    assert web.get(f"/v1/workloads/{ends}")["state"] == "running"
    assert web.ask("POST", f"/v1/workloads/{runs_on}/cancel", {})[0] == 507
    assert machine.program_of(lease[runs_on]) == program and program.is_alive()
    # Even when the server is killed meanwhile. A full disk is no reason not to come back later.
    server.kill()
    code, words = refused_start(server)
    assert code == 9 and "full" in words

    gate.unlink()
    filler.unlink()
    server.start()
    found = web.wait_ended(ends)
    assert found["state"] == "failed" and found["end"]["exit_code"] == 5 and found["attempt"] == 1
    web.check_receipt(ends)
    assert machine.program_of(lease[runs_on]) == program and program.is_alive()
    assert {w["id"] for w in web.get("/v1/workloads?all=true&limit=200")["items"]} == {runs_on, ends, *accepted}
    web.cancel(runs_on)
    assert web.wait_ended(runs_on)["state"] == "cancelled"
    for work in accepted:
        web.cancel(work)
    assert '"event":"auditor"' not in server.log.read_text()
    assert server.stop() == 0


@needs_root
def test_when_a_full_disk_has_room_again_the_running_server_goes_on(small_disk):
    server, web = small_disk, started(small_disk)
    filler = fill(server)
    status, _, accepted = submit_until_refused(web)
    assert status == 507
    filler.unlink()
    until(lambda: not web.get("/v1/status")["stale"], 20, lambda: "it stays in trouble")
    for work in accepted:
        web.cancel(work)
    done = submit(web, "next", "true")
    assert web.wait_ended(done)["state"] == "succeeded"
    assert server.stop() == 0


@needs_root
def test_a_read_only_disk_is_refused_by_name_and_left_alone(small_disk):
    server, web = small_disk, started(small_disk)
    work = submit(web, "once", "true")
    web.wait_ended(work)
    assert server.stop() == 0
    (server.state / "address").unlink()
    before = digests(server.state)
    subprocess.run(["mount", "-o", "remount,ro", str(server.state)], check=True, timeout=20)
    code, words = refused_start(server)
    assert code == 9 and str(server.state) in words and "read-only" in words.lower()
    assert digests(server.state) == before
    subprocess.run(["mount", "-o", "remount,rw", str(server.state)], check=True, timeout=20)
    server.start()
    assert web.get(f"/v1/workloads/{work}")["state"] == "succeeded"
    assert server.stop() == 0


@pytest.mark.parametrize("place", ["header", "middle", "end"])
def test_a_damaged_database_is_refused_by_name_and_left_as_it_is(server, place):
    web = started(server)
    for number in range(20):
        submit(web, f"job-{number}", "true")
    assert server.stop() == 0
    file = server.state / "heddle.db"
    pages = file.stat().st_size // 4096
    at = {"header": 0, "middle": pages // 2 * 4096, "end": (pages - 1) * 4096}[place]
    with file.open("r+b") as out:
        out.seek(at)
        head = out.read(16)
        out.seek(at)
        out.write(bytes(byte ^ 0xFF for byte in head))
    before = digests(server.state)
    code, words = refused_start(server)
    assert code == 10, words
    assert str(file) in words and "damaged" in words and "heddled restore" in words
    assert digests(server.state) == before
    assert "Traceback" not in words


def test_a_second_server_on_the_same_folder_is_refused_and_names_the_first(server):
    web = started(server)
    second = subprocess.run(
        [str(server.bin / "heddled"), "--state", str(server.state), "--listen", "127.0.0.1:0"],
        capture_output=True,
        text=True,
        timeout=30,
    )
    assert second.returncode == 7
    assert f"process {server.process.pid}" in second.stderr and "next:" in second.stderr
    assert web.wait_ended(submit(web, "still-works", "true"))["state"] == "succeeded"
    assert (server.state / "address").read_text().strip() == server.address
    assert server.stop() == 0


# ---- clocks ----


@pytest.fixture
def wall_clock(server):
    """A function that sets the server's wall clock, now or before its start; all its other clocks stay true."""
    assert FAKETIME, "the Debian package faketime is missing"
    file = server.folder / "wall-clock"

    def put(shift):
        file.write_text(shift + "\n")

    put("+0")
    server.added_environment = {
        "LD_PRELOAD": str(FAKETIME),
        "FAKETIME_TIMESTAMP_FILE": str(file),
        "FAKETIME_NO_CACHE": "1",
        "FAKETIME_DONT_FAKE_MONOTONIC": "1",
    }
    return put


def times_of(work):
    names = ("created_at", "waiting_since", "starting_since", "running_since", "ended_at")
    return [moment_ms(work[name]) for name in names if work[name]]


@pytest.mark.parametrize(
    "shift, when", [("-2h", "while it runs"), ("-2h", "while it is away"), ("+365d", "while it is away")]
)
def test_a_wall_clock_that_is_set_expires_nothing_and_is_told(server, wall_clock, shift, when):
    web = started(server)
    long_job = submit(web, "long", "sleep 10000", time_limit="1h", grace="0s")
    web.wait_running(long_job)
    first = web.wait_ended(submit(web, "first", "true"))
    before = moment_ms(web.get("/v1/status")["time"])
    assert web.get("/v1/status")["trouble"] is None
    if when == "while it runs":
        wall_clock(shift)
        # Found out although nobody does anything, within some seconds.
        until(lambda: web.get("/v1/status")["trouble"], 25, lambda: "nobody sees that the clock was set")
    else:
        assert server.stop() == 0
        wall_clock(shift)
        server.start()

    second = web.wait_ended(submit(web, "second", "sleep 0.2"))
    assert second["state"] == "succeeded"
    line = times_of(first) + times_of(second)
    assert line == sorted(line), "time ran backwards"
    status = web.get("/v1/status")  # with the same token: it has not expired
    assert 0 <= moment_ms(status["time"]) - before < 60_000
    assert "clock" in status["trouble"] and "--confirm-clock" in status["trouble"]
    assert "trouble" in status_words(server) and "clock" in status_words(server)
    assert web.get(f"/v1/workloads/{long_job}")["state"] == "running"
    receipt = web.check_receipt(second["id"])
    assert 150 <= receipt["ran_ms"] < 30_000

    # Expiry is paused: what had not expired when the clock was set is good for as long as it is in doubt.
    brief = web.insist("POST", "/v1/tokens", {"name": "brief", "lives": "1s"})
    late = moment_ms(brief["expires_at"]) + 500
    until(lambda: moment_ms(web.get("/v1/status")["time"]) > late, 20, lambda: "time stands still")
    assert Web(server, brief["secret"]).ask("GET", "/v1/whoami")[0] == 200

    # Restarted, it still does not trust that clock; told that it is right, it does.
    assert server.stop() == 0
    server.start()
    assert "clock" in web.get("/v1/status")["trouble"]
    assert server.stop() == 0
    server.more = ["--confirm-clock", "--new-admin-token"]
    server.start()
    assert Web(server, brief["secret"]).ask("GET", "/v1/whoami")[0] == 401
    web = Web(server)
    third = web.wait_ended(submit(web, "third", "sleep 0.2"))
    assert times_of(third) == sorted(times_of(third)) and times_of(third)[0] >= line[-1]
    assert web.get("/v1/status")["trouble"] is None
    assert web.get(f"/v1/workloads/{long_job}")["state"] == "running", "its run-time limit is counted in its own time"
    web.cancel(long_job)
    assert web.wait_ended(long_job)["state"] == "cancelled"
    assert int(web.check_receipt(long_job)["charged_gpu_milli_ms"]) < 125 * 120_000
    assert '"event":"auditor"' not in server.log.read_text()
    assert server.stop() == 0


def test_everything_ends_in_the_end(server):
    """The fixture itself: a server that ran something leaves nothing behind."""
    web, machine = started(server), Machine(server)
    work = [submit(web, f"job-{n}", "sleep 0.1") for n in range(3)]
    for one in work:
        assert has_ended(web.wait_ended(one))
    assert server.stop() == 0
    machine.wait_nothing_left(work)
