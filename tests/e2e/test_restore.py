"""A backup made while jobs run is put back: nothing runs twice, nothing is charged twice."""

import subprocess

import pytest
from machine import Machine
from waiting import until
from web import Web, has_ended

MARK = 'echo "$HEDDLE_WORKLOAD_ID $HEDDLE_ATTEMPT" >> "$HEDDLE_SHARED/ran"; '


@pytest.fixture
def box(server):
    server.start()
    server.web = Web(server)
    server.web.insist("POST", "/v1/teams", {"name": "vision"})
    return server


def heddled(server, *words):
    return subprocess.run(
        [str(server.bin / "heddled"), *words, "--state", str(server.state)], capture_output=True, text=True, timeout=60
    )


def submit(web, name, command, **more):
    fields = {"name": name, "team": "vision", "resources": {"gpu": 0.125}, **more}
    return web.submit(name, command=["/bin/sh", "-c", MARK + command], **fields)


def gate(server, name):
    """A command that goes on once the test opens the gate."""
    return f'until [ -e "$HEDDLE_SHARED/{name}" ]; do sleep 0.05; done'


def shared_folder(server):
    return until(lambda: list(server.state.glob("local/teams/*/shared")), 20, lambda: "no team has a folder")[0]


def open_gate(server, name):
    (shared_folder(server) / name).touch()


def marks(server):
    file = shared_folder(server) / "ran"
    return file.read_text().splitlines() if file.exists() else []


def follow_cursor(web):
    page = web.get("/v1/events?limit=1000")
    return page["next_cursor"]


def test_after_a_restore_nothing_runs_or_is_charged_twice(box, tmp_path):
    web, machine = box.web, Machine(box)
    runs_on = submit(web, "runs-on", gate(box, "late"))
    ends_after = submit(web, "ends-after", gate(box, "early") + "; exit 0")
    fails_after = submit(web, "fails-after", gate(box, "early") + "; exit 4")
    lost_after = submit(web, "lost-after", gate(box, "early") + '; [ "$HEDDLE_ATTEMPT" -gt 1 ]', retries=3)
    ended_before = submit(web, "ended-before", "true")
    waits = submit(web, "waits", gate(box, "early"), resources={"gpus": 8}, nodes=2)
    for work in (runs_on, ends_after, fails_after, lost_after):
        web.wait_running(work)
    web.wait_ended(ended_before)
    receipt_before = web.check_receipt(ended_before)

    backup = tmp_path / "backup"
    done = heddled(box, "backup", str(backup))
    assert done.returncode == 0, done.stderr
    assert heddled(box, "backup", str(backup)).returncode == 7

    # Life goes on after the backup: some end, new ones come, one starts and still runs in the end.
    open_gate(box, "early")
    for work in (ends_after, fails_after, lost_after):
        web.wait_ended(work)
    unknown = submit(web, "unknown", "true")
    web.wait_ended(unknown)
    unknown_runs = submit(web, "unknown-runs", "sleep 10000")
    web.wait_running(unknown_runs)
    charged = {w: web.check_receipt(w) for w in (ends_after, fails_after)}
    lease = web.get(f"/v1/allocations?workload={runs_on}")["items"][0]["id"]
    program = machine.program_of(lease)
    cursor = follow_cursor(web)
    assert box.stop() == 0
    ran_before = marks(box)

    done = heddled(box, "restore", str(backup))
    assert done.returncode == 0, done.stderr
    assert "kept in" in done.stdout
    box.start()

    # What had ended ends as it had ended, charged once and for the same time.
    assert web.wait_ended(ends_after)["state"] == "succeeded"
    assert web.wait_ended(fails_after)["end"]["exit_code"] == 4
    assert web.wait_ended(lost_after)["attempt"] == 2
    for work, before in charged.items():
        assert web.check_receipt(work)["charged_gpu_milli_ms"] == before["charged_gpu_milli_ms"]
    assert web.check_receipt(ended_before)["cost_micros"] == receipt_before["cost_micros"]
    # What ran on ran on.
    assert web.get(f"/v1/workloads/{runs_on}")["state"] == "running"
    assert machine.program_of(lease) == program and program.is_alive()
    # What came after the backup is not known any more, and is gone from the machine.
    for work in (unknown, unknown_runs):
        assert web.ask("GET", f"/v1/workloads/{work}")[0] == 404
    until(lambda: not machine.programs([unknown_runs]), 20, lambda: "a program outlived the ledger")
    assert web.ask("GET", f"/v1/events?cursor={cursor}")[0] == 410

    open_gate(box, "late")
    assert web.wait_ended(runs_on)["attempt"] == 1
    web.check_receipt(runs_on)
    assert web.wait_ended(waits)["state"] == "succeeded"
    new = submit(web, "new", "true")
    assert web.wait_ended(new)["state"] == "succeeded"
    assert new not in (unknown, unknown_runs)
    ran = marks(box)
    assert ran[: len(ran_before)] == ran_before
    assert len(set(ran)) == len(ran) - 1, ran  # the two replicas of `waits`
    assert all(has_ended(w) for w in web.get("/v1/workloads?all=true")["items"])
    assert '"event":"auditor"' not in box.log.read_text()
    assert box.stop() == 0
    machine.wait_nothing_left([runs_on, ends_after, unknown_runs, waits, new])


def test_what_waited_at_the_backup_and_ended_since_is_not_run_again(box, tmp_path):
    web = box.web
    blocks = submit(web, "blocks", gate(box, "first"), resources={"gpus": 8}, nodes=2)
    web.wait_running(blocks)
    waited = submit(web, "waited", "true")
    stopped = submit(web, "stopped", "trap 'exit 0' TERM; while :; do sleep 0.05; done")
    backup = tmp_path / "backup"
    assert heddled(box, "backup", str(backup)).returncode == 0
    open_gate(box, "first")
    web.wait_ended(waited)
    web.wait_running(stopped)
    until(lambda: f"{stopped} 1" in marks(box), 20, lambda: "it does not run")
    assert box.stop() == 0
    assert heddled(box, "restore", str(backup)).returncode == 0
    box.start()
    assert web.wait_ended(waited)["state"] == "succeeded"
    assert marks(box).count(f"{waited} 1") == 1
    web.check_receipt(waited)
    # What ran when the server was stopped was not done: it is ended and runs again as another attempt.
    found = web.wait(stopped, lambda w: w["attempt"] == 2 and w["state"] == "running")
    assert found["attempt"] == 2
    until(lambda: f"{stopped} 2" in marks(box), 20, lambda: "it does not run again")
    assert marks(box).count(f"{stopped} 1") == 1
    web.cancel(stopped)
    assert web.wait_ended(stopped)["state"] == "cancelled"
    web.check_receipt(stopped)


def test_a_restore_beside_a_running_server_is_refused(box, tmp_path):
    backup = tmp_path / "backup"
    assert heddled(box, "backup", str(backup)).returncode == 0
    done = heddled(box, "restore", str(backup))
    assert done.returncode == 7
    assert str(box.process.pid) in done.stderr
