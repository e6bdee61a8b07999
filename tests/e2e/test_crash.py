"""heddled and shims are killed at random moments under load: no work is lost, run twice or charged twice.

HEDDLE_CRASH_KILLS is how often the server is killed (40), HEDDLE_CRASH_SEED decides when; both are printed.
"""

import collections
import json
import os
import random
import subprocess
import threading

from machine import Machine
from waiting import until
from web import Web, has_ended

KILLS = int(os.environ.get("HEDDLE_CRASH_KILLS", "40"))
SEED = int(os.environ.get("HEDDLE_CRASH_SEED", "0")) or int.from_bytes(os.urandom(3), "big")
SHIM_KILLS = max(3, KILLS // 8)
MARK = 'echo "$HEDDLE_WORKLOAD_ID $HEDDLE_ATTEMPT $HEDDLE_REPLICA" >> "$HEDDLE_SHARED/ran"; '

# name: (command, fields, how it ends, attempts when no shim is killed)
KINDS = {
    "quick": ("exit 0", {}, "succeeded", 1),
    "short": ("sleep 0.4", {}, "succeeded", 1),
    "second": ("sleep 1.5", {}, "succeeded", 1),
    "fails": ("exit 3", {"retries": 1}, "failed", 2),
    "again": ('[ "$HEDDLE_ATTEMPT" -gt 1 ]', {"retries": 9}, "succeeded", 2),
    "gang": ("sleep 0.5", {"nodes": 2, "resources": {"gpus": 1}}, "succeeded", 1),
    "unwanted": ("sleep 10000", {"grace": "1s"}, "cancelled", 1),
}


class Load(threading.Thread):
    """Submits, and now and then cancels, until it is told to stop. Every submit is repeated until acknowledged."""

    def __init__(self, web, seed):
        super().__init__(name=f"load-{seed}")
        self.web, self.random = web, random.Random(seed)
        self.acknowledged = {}  # id: kind
        self.stopping = threading.Event()
        self.trouble = None

    def run(self):
        try:
            number = 0
            while not self.stopping.is_set():
                number += 1
                kind = self.random.choice(list(KINDS))
                work = submit(self.web, kind, f"{kind}-{self.name}-{number}")
                assert work not in self.acknowledged, f"{work} answers two submits"
                self.acknowledged[work] = kind
                if kind == "unwanted":
                    self.stopping.wait(self.random.uniform(0, 0.3))
                    self.web.cancel(work)
                self.stopping.wait(self.random.uniform(0, 0.15))
        except BaseException as error:  # pylint: disable=broad-except
            self.trouble = error


def submit(web, kind, key):
    command, fields, _, _ = KINDS.get(kind, ("while :; do sleep 1; done", {}, "", 1))
    whole = {"name": key, "team": "vision", "resources": {"gpu": 0.125}, **fields}
    return web.submit(key, command=["/bin/sh", "-c", MARK + command], **whole)


def kill_some_shim(machine, dice, spared, killed):
    """One shim of a run that may be lost; its allocation is noted."""
    runs = [(name, folder) for name, folder in sorted(machine.runs()) if name not in spared]
    dice.shuffle(runs)
    for name, folder in runs:
        if machine.kill_shim(folder):
            killed.append(name)
            return


def live_for(server, seconds):
    """The server must not end by itself meanwhile."""
    try:
        raise AssertionError(f"heddled ended with {server.process.wait(seconds)}: {server.last_words()}")
    except subprocess.TimeoutExpired:
        pass


def crash_again_and_again(server, machine, dice, spared):
    """Kills the server KILLS times and leaves it running; the allocations whose shim was killed."""
    killed = []
    shim_turns = set(dice.sample(range(KILLS), min(KILLS, SHIM_KILLS)))
    for turn in range(KILLS):
        # Also in the middle of its start, when it takes over what runs.
        live_for(server, dice.uniform(0, 0.12) if dice.random() < 0.3 else dice.uniform(0.12, 0.9))
        if turn in shim_turns:
            kill_some_shim(machine, dice, spared, killed)
            if dice.random() < 0.5:
                live_for(server, dice.uniform(0, 0.1))
        server.kill()
        if turn in shim_turns and dice.random() < 0.5:
            kill_some_shim(machine, dice, spared, killed)  # while nobody is there to see it
        server.launch()
    return killed


def all_work(web):
    items, path = [], "/v1/workloads?all=true&limit=200"
    while path:
        page = web.get(path)
        items += page["items"]
        path = page["next_cursor"] and f"/v1/workloads?all=true&limit=200&cursor={page['next_cursor']}"
    return {w["id"]: w for w in items}


def wait_all_ended(web, work):
    left = []

    def look():
        found = all_work(web)
        left[:] = [found[w]["name"] for w in work if w in found and not has_ended(found[w])]
        return None if left else found

    return until(look, 90, lambda: f"{len(left)} workloads do not end: {left[:10]}")


def check_fates(web, found, acknowledged, killed):
    """Each ended as its kind does, with no more attempts than killed shims and due retries explain."""
    counts = collections.Counter()
    for work, kind in acknowledged.items():
        assert work in found, f"{work} ({kind}) was acknowledged and is lost"
        workload = found[work]
        leases = web.get(f"/v1/allocations?workload={work}&limit=1000")["items"]
        losses = len({a["attempt"] for a in leases if a["id"] in killed})
        _, _, state, attempts = KINDS[kind]
        said = f"{work} ({kind}) {workload['state']}, attempt {workload['attempt']}, {losses} losses: {workload['end']}"
        assert workload["state"] == state, said
        low = 0 if kind == "unwanted" else attempts
        assert low <= workload["attempt"] <= attempts + losses, said
        web.check_receipt(work)
        counts[kind] += 1
        counts["lost runs"] += losses
    return counts


def check_marks(server, found, acknowledged):
    """Nothing ran twice, and what succeeded ran."""
    ran = collections.Counter()
    for file in server.state.glob("local/teams/*/shared/ran"):
        ran.update(file.read_text().splitlines())
    twice = {line: times for line, times in ran.items() if times > 1}
    assert not twice, f"ran twice: {twice}"
    for work, kind in acknowledged.items():
        if found[work]["state"] == "succeeded":
            for replica in range(found[work]["nodes"]):
                assert f"{work} {found[work]['attempt']} {replica}" in ran, f"{work} ({kind}) succeeded without a run"
    assert {line.split()[0] for line in ran} <= set(found), "something ran that no workload stands for"
    return sum(ran.values())


def log_events(server):
    return [json.loads(line) for line in server.log.read_text().splitlines() if line.startswith("{")]


def test_killed_at_random_moments_no_work_is_lost_run_twice_or_charged_twice(server):
    print(f"HEDDLE_CRASH_SEED={SEED} HEDDLE_CRASH_KILLS={KILLS}")
    dice = random.Random(SEED)
    server.start()
    server.listen = server.address.removeprefix("http://")  # the same port from now on
    web, machine = Web(server), Machine(server)
    web.insist("POST", "/v1/teams", {"name": "vision"}, "team")

    steady = {submit(web, "steady", f"steady-{n}"): None for n in range(3)}
    for work in steady:
        web.wait_running(work)
        lease = web.get(f"/v1/allocations?workload={work}")["items"][0]["id"]
        steady[work] = (lease, machine.program_of(lease))
    loads = [Load(web, SEED + n) for n in range(2)]
    for load in loads:
        load.start()
    try:
        killed = crash_again_and_again(server, machine, dice, {lease for lease, _ in steady.values()})
    finally:
        for load in loads:
            load.stopping.set()
        for load in loads:
            load.join()
    for load in loads:
        assert load.trouble is None, load.trouble
    acknowledged = {**loads[0].acknowledged, **loads[1].acknowledged}

    found = wait_all_ended(web, acknowledged)
    counts = check_fates(web, found, acknowledged, set(killed))
    assert set(found) == set(acknowledged) | set(steady), "there is work that nobody was told of"
    for work, (lease, program) in steady.items():
        workload = found[work]
        assert workload["state"] == "running" and workload["attempt"] == 1
        assert machine.program_of(lease) == program and program.is_alive(), "a long job was disturbed"
        web.cancel(work)
    for work in steady:
        assert web.wait_ended(work)["state"] == "cancelled"
        web.check_receipt(work)
    runs = check_marks(server, found, acknowledged)
    assert server.stop() == 0
    machine.wait_nothing_left(found)
    events = log_events(server)
    audits = [e for e in events if e["event"] == "auditor"]
    assert not audits, audits[:3]
    errors = [e for e in events if e["level"] == "error"]
    assert not errors, errors[:3]
    ready = sum(e["event"] == "server_started" for e in events)
    assert ready > KILLS / 3, "too few starts came to their end"
    print(
        f"{KILLS} kills, {ready} starts came to their end, {len(killed)} shims killed, {len(acknowledged)} workloads "
        f"{dict(sorted(counts.items()))}, {runs} runs"
    )


def test_stopped_in_the_middle_of_work_it_exits_cleanly_and_the_work_goes_on(server):
    server.start()
    web, machine = Web(server), Machine(server)
    web.insist("POST", "/v1/teams", {"name": "vision"}, "team")
    work = {}
    for turn in range(6):
        for number in range(12):
            work[submit(web, "quick", f"quick-{turn}-{number}")] = "quick"
        assert server.stop() == 0, server.last_words()
        server.start()
    found = wait_all_ended(web, work)
    check_fates(web, found, work, set())
    check_marks(server, found, work)
    assert server.stop() == 0
    machine.wait_nothing_left(work)
