"""A server that attacks who asks it: what it says is shown as text, nothing of it is run, opened or believed."""

import json
import resource

import pytest
from double import Double, workload
from heddle_program import Reader, Terminal
from test_borders import steering

TOKEN = "heddle_tk_1_" + "c" * 64
VALUES = [
    "file:///etc/passwd",
    "javascript:alert(1)",
    "http://169.254.169.254/latest",
    "\x1b]8;;file:///etc/passwd\x07click\x1b]8;;\x07",
    "\x1b]52;c;ZXZpbA==\x07",
    "\x1b[2J\x1b[1;1H$ ",
    "\r\nerror: all is well",
    "\u202etxt.exe",
    "-rf",
    "--server=http://evil.example",
    "$(touch made)",
    "`touch made`",
    "; touch made",
    "../../made",
    "/etc/cron.d/made",
    "%n%s%p",
    "a\0b",
    "\ud83d\udca9" * 5_000,
]


@pytest.fixture
def reader(tmp_path):
    token = tmp_path / "token"
    token.write_text(TOKEN + "\n")
    return lambda url: Reader(tmp_path, url, token)


def hostile_problem(text):
    fields = {
        "type": text,
        "title": text,
        "status": 400,
        "detail": text,
        "code": text,
        "request_id": text,
        "next": text,
    }
    return {**fields, "errors": [{"pointer": text, "code": text, "given": text}] * 100}


@pytest.mark.parametrize("text", VALUES, ids=range(len(VALUES)))
def test_hostile_values_are_shown_as_text_and_nothing_is_made(reader, tmp_path, text):
    hostile = workload(
        name=text,
        team_name=text,
        owner_name=text,
        project=text,
        pool_name=text,
        state=text,
        command=[text],
        env={text: text},
        node_names=[text],
        notes=[text],
        end={"cause": text, "exit_code": 0, "signal": None, "message": text},
        reason={"code": text, "sentence": text, "next": text, "pool_id": None, "pool_name": text, "numbers": {}},
    )

    def answer(handler, _):
        path = handler.path.split("?")[0]
        single = path.startswith("/v1/workloads/") and path.count("/") == 3
        handler.answer(hostile if single else {"items": [hostile], "next_cursor": None})

    before = {p.name for p in tmp_path.iterdir()}
    for script in (answer, lambda handler, _: handler.answer(hostile_problem(text), 400, "application/problem+json")):
        with Double(script) as server:
            for words in (("ps",), ("show", "wl_1"), ("why", "wl_1"), ("status",)):
                terminal = Terminal(reader(server.url), *words)
                code = terminal.end()
                seen = terminal.recorded.decode(errors="surrogateescape")
                assert 0 <= code < 128 and steering(seen) == [], (words, steering(seen))
                assert len(seen) < 200_000
        assert {r[2].get("Authorization") for r in server.requests} == {"Bearer " + TOKEN}
    assert {p.name for p in tmp_path.iterdir()} <= before | {".config", ".local", ".cache"}


ENDLESS = {
    "body": b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 99999999999\r\n\r\n[",
    "chunks": b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n",
    "headers": b"HTTP/1.1 200 OK\r\n",
    "interim answers": b"",
}
MORE = {
    "body": b"[" * 65536,
    "chunks": b"10000\r\n" + b"[" * 65536 + b"\r\n",
    "headers": b"X-More: " + b"a" * 60_000 + b"\r\n",
    "interim answers": b"HTTP/1.1 100 Continue\r\n\r\n" * 1000,
}


@pytest.mark.parametrize("kind", ENDLESS)
def test_an_endless_answer_ends(reader, kind):
    def script(handler, _):
        handler.close_connection = True
        try:
            handler.wfile.write(ENDLESS[kind])
            while True:
                handler.wfile.write(MORE[kind])
        except OSError:
            pass

    with Double(script) as server:
        done = reader(server.url).run("ps", "--timeout", "5s")
    assert done.returncode in (8, 9, 10), done
    assert done.stderr.startswith("error: ") and len(done.stderr) < 4_000
    assert resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss < 512 * 1024


def test_deep_and_odd_json_is_no_crash(reader):
    for body in (
        "[" * 200_000,
        '{"items":' * 50_000,
        "null",
        "1e999",
        '{"items":[null,1,"a",[],{}]}',
        '{"items":{"a":1}}',
        json.dumps({"items": [{k: v for k in workload()} for v in (None, -1, [], {}, True)]}),
    ):
        with Double(lambda handler, _, body=body: handler.answer(body)) as server:
            for words in (("ps",), ("show", "wl_1"), ("nodes",)):
                done = reader(server.url).run(*words)
                assert 0 <= done.returncode < 128, (body[:50], words, done)
