"""Malformed requests over the wire, and clients that are slow, deaf or many: right answers, and nothing changes."""

import json
import pathlib
import selectors
import socket
import time

import pytest
from box import wait_until
from malformed import REQUESTS, request


@pytest.fixture(scope="module")
def world(box):
    """Something of each kind for requests to hit."""
    work = box.mal.submit(["true"])
    box.mal.wait_end(work)
    return {"work": work, "team": box.teams["mallory"]["id"]}


def facts(box):
    """Everything that a request could have changed."""
    lists = [
        "/v1/teams",
        "/v1/users",
        "/v1/tokens",
        "/v1/sites",
        "/v1/nodes",
        "/v1/workloads?all=true",
        "/v1/allocations",
        "/v1/teams/vision/members",
        "/v1/teams/vision/shares",
        "/v1/teams/mallory/members",
        "/v1/teams/mallory/shares",
    ]
    found = {}
    for target in lists:
        path, _, query = target.partition("?")
        found[target] = box.admin.all(path, limit=1000, **({"all": "true"} if query else {}))
    for work in found["/v1/workloads?all=true"]:
        del work["cost_micros"]  # of what runs, it grows by itself
    found["audit"] = box.admin.all("/v1/audit", limit=1000)
    found["files"] = sorted(str(p) for p in (box.state / "local").rglob("*") if "shared" not in p.parts)
    return found


def raw(box, text, token=None, timeout=5):
    """Sends bytes as they are; (status, headers, body) of the first answer, or None when there was none."""
    if isinstance(text, str):
        text = text.format(host=f"{box.host}:{box.port}", token=token or box.admin.token).encode()
    with socket.create_connection((box.host, box.port), timeout=timeout) as s:
        try:
            s.sendall(text)
        except (BrokenPipeError, ConnectionResetError):
            pass  # refused before the end; the answer may be there all the same
        got = b""
        try:
            while b"\r\n\r\n" not in got:
                piece = s.recv(65536)
                if not piece:
                    return None
                got += piece
            head, _, body = got.partition(b"\r\n\r\n")
            lines = head.decode().split("\r\n")
            headers = dict(line.lower().split(": ", 1) for line in lines[1:])
            while len(body) < int(headers.get("content-length", 0)):
                piece = s.recv(65536)
                if not piece:
                    break
                body += piece
        except (ConnectionResetError, TimeoutError):
            return None
        return int(lines[0].split()[1]), headers, body.decode()


def test_every_malformed_request_is_refused_by_name_and_changes_nothing(box, victim, world):
    before = facts(box)
    wrong, count = [], 0
    for sent, status, pointer in REQUESTS:
        if isinstance(sent, tuple):
            head = sent[0].format(host=f"{box.host}:{box.port}", token=box.admin.token)
            answer, shown = raw(box, head.encode() + sent[1]), sent[0][:40] + str(sent[1][:40])
        else:
            sent = sent.replace("{{work}}", world["work"])
            answer, shown = raw(box, sent), sent[:300]
        count += 1
        expected = status if isinstance(status, tuple) else (status,)
        if answer is None or answer[0] not in expected:
            wrong.append((shown, status, answer and (answer[0], answer[2][:200])))
            continue
        if answer[0] < 400:
            continue
        problem = json.loads(answer[2])
        pointers = [e["pointer"] for e in problem.get("errors", [])]
        fine = (
            answer[1]["content-type"] == "application/problem+json"
            and problem["status"] == answer[0]
            and problem["request_id"] == answer[1]["x-request-id"]
            and (not pointer or pointers[:1] == [pointer])
            and len(answer[2]) < 4_000
        )
        if not fine:
            wrong.append((shown, pointer, answer[2][:300]))
    assert wrong == [], "\n".join(map(str, wrong))
    assert count >= 150
    after = facts(box)
    # The trail also keeps what was refused; of what was done it has nothing new.
    assert [e["result"] for e in after.pop("audit") if e not in before["audit"] and e["result"] == "done"] == []
    del before["audit"]
    assert after == before


def resident_kib(box):
    return box.server.memory_kib()


@pytest.mark.parametrize(
    "bomb",
    [
        b"[" * 1_000_000,
        b'{"a":' * 200_000,
        b'{"command":[' + b"1," * 500_000,
        b'"' + b"\\u0000" * 160_000 + b'"',
        b'{"env":{' + b",".join(b'"A%d":"x"' % n for n in range(60_000)) + b"}}",
        b"1" * 1_000_000,
        b"-" * 1_000_000,
        b'{"command":["a"],"priority":1' + b"0" * 900_000 + b"}",
        b"\xf0\x9f\x92\xa9" * 250_000,
    ],
    ids=range(9),
)
def test_a_small_body_is_never_much_work(box, bomb):
    box.mal.ask("POST", "/v1/workloads", bomb)
    before, began = resident_kib(box), time.monotonic()
    answer = box.mal.ask("POST", "/v1/workloads", bomb)
    took = time.monotonic() - began
    assert answer.status == 400 and len(answer.body) < 4_000
    assert took < 0.5, took
    assert resident_kib(box) - before < 20 * 1024


def test_yaml_bombs_are_refused_by_the_client_at_once(box, tmp_path):
    laughs = "a: &a [x,x,x,x,x,x,x,x,x]\n" + "".join(
        f"{n}: &{n} [{','.join(['*' + chr(ord(n) - 1)] * 9)}]\n" for n in "bcdefghi"
    )
    bombs = {
        "aliases": laughs,
        "one alias": "command: &c [true]\nenv: *c\n",
        "merge": "a: &a {b: c}\n<<: *a\ncommand: [true]\n",
        "deep": "[" * 100_000,
        "deep blocks": "".join(" " * n + "a:\n" for n in range(2_000)),
        "long": "command: [" + "a, " * 200_000 + "]\n",
        "tag": "command: !!python/object/apply:os.system ['id']\n",
        "doubled": "command: [true]\ncommand: [false]\n",
        "binary": "\0\1\2\3" * 1000,
        "unfinished": 'command: ["',
        "anchors": "".join(f"a{n}: &a{n} x\n" for n in range(20_000)),
    }
    for name, text in bombs.items():
        file = tmp_path / "job.yaml"
        file.write_text(text)
        began = time.monotonic()
        done = box.mal.reader().run("submit", file)
        assert done.returncode not in (0, 10) and done.returncode > 0, (name, done)
        assert done.stderr.startswith("error: ") and len(done.stderr) < 4_000, (name, done.stderr[:500])
        assert time.monotonic() - began < 5, name


class Crowd:
    """Many connections that do what `speak(socket, number)` says and are held open."""

    def __init__(self, box, count, speak):
        self.sockets = []
        for number in range(count):
            s = socket.create_connection((box.host, box.port), timeout=10)
            self.sockets.append(s)
            speak(s, number)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for s in self.sockets:
            s.close()


def latencies(person, count=40):
    took = []
    for _ in range(count):
        began = time.monotonic()
        assert person.ask("GET", "/v1/workloads").status == 200
        took.append(time.monotonic() - began)
    return sorted(took)


def test_slow_and_deaf_clients_do_not_hold_up_a_neighbour(box):
    alone = latencies(box.ana)
    before = resident_kib(box)

    def slow(s, number):
        part = request("POST /v1/workloads", "Content-Type: application/json", "Content-Length: 1000")
        s.send(
            part.format(host=f"{box.host}:{box.port}", token=box.mal.token).encode()[: 20 + number]
            if number % 2
            else part.format(host=f"{box.host}:{box.port}", token=box.mal.token).encode() + b"{"
        )

    def deaf(s, _):
        s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        s.send(
            request("GET /v1/events", "Accept: text/event-stream")
            .format(host=f"{box.host}:{box.port}", token=box.mal.token)
            .encode()
        )

    with Crowd(box, 200, slow), Crowd(box, 200, deaf):
        for _ in range(20):
            box.mal.wait_end(box.mal.submit(["true"]))
        beside = latencies(box.ana)
        assert box.nobody.ask("GET", "/v1/health").status == 200
    median = len(alone) // 2
    assert beside[median] < max(10 * alone[median], 0.25), (alone[median], beside[median])
    assert resident_kib(box) - before < 64 * 1024
    wait_until(lambda: open_descriptors(box) < 60, "the crowd's connections are let go of")


def open_descriptors(box):
    return len(list(pathlib.Path(f"/proc/{box.server.process.pid}/fd").iterdir()))


def test_a_half_sent_head_is_ended_after_its_time(box):
    with socket.create_connection((box.host, box.port), timeout=30) as s:
        s.send(b"GET /v1/te")
        began = time.monotonic()
        while s.recv(1000):
            pass
        assert 5 < time.monotonic() - began < 25


def test_a_pipeline_of_requests_gets_an_answer_each_in_order(box):
    one = request("GET /v1/health").format(host=f"{box.host}:{box.port}", token=box.mal.token)
    with socket.create_connection((box.host, box.port), timeout=10) as s:
        s.sendall((one * 50).encode())
        got = b""
        selector = selectors.DefaultSelector()
        selector.register(s, selectors.EVENT_READ)
        while got.count(b"HTTP/1.1 200") < 50:
            assert selector.select(10), got[-200:]
            got += s.recv(65536)
