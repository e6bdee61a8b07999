"""What `heddle` does when the server or the way to it is at fault."""

import json
import stat

import pytest
from double import Double, workload
from heddle_program import Reader, Terminal

TOKEN = "heddle_tk_1_" + "c" * 64


@pytest.fixture
def reader(tmp_path):
    token = tmp_path / "token"
    token.write_text(TOKEN + "\n")

    def make(url):
        return Reader(tmp_path, url, token)

    return make


def test_nobody_there_is_told_with_tries_and_exit_9(reader):
    done = reader("http://127.0.0.1:1").run("ps")
    assert done.returncode == 9
    assert "tried 3 times" in done.stderr and "connection refused" in done.stderr
    assert "Running work is not touched" in done.stderr
    assert done.stdout == ""


def test_nobody_there_as_json_is_a_problem_on_stderr(reader):
    done = reader("http://127.0.0.1:1").run("ps", "-o", "json")
    assert done.returncode == 9 and done.stdout == ""
    problem = json.loads(done.stderr)
    assert problem["code"] == "server_unreachable" and problem["origin"] == "client"


@pytest.mark.parametrize("words", [("ps",), ("teams", "create", "x"), ("whoami",)])
def test_a_redirect_to_another_port_gets_no_token_and_no_request(reader, words):
    with Double(lambda handler, _: handler.answer({"items": []})) as other:
        with Double(lambda handler, _: handler.answer("", 302, headers=[("Location", other.url + "/v1/x")])) as server:
            done = reader(server.url).run(*words)
    assert other.requests == []
    assert done.returncode == 9
    assert other.url in done.stderr and "Nothing was sent there" in done.stderr


def test_a_redirect_on_the_same_server_is_followed_for_reads_only(reader):
    def script(handler, _):
        if handler.path.startswith("/v1/moved"):
            handler.answer({"items": [workload()], "next_cursor": None})
        else:
            handler.answer("", 307, headers=[("Location", "/v1/moved")])

    with Double(script) as server:
        assert "train" in reader(server.url).run("ps").stdout
        assert reader(server.url).run("teams", "create", "x").returncode == 9
    assert [r[0] for r in server.requests] == ["GET", "GET", "POST"]


def test_a_redirect_without_end_ends(reader):
    with Double(lambda handler, _: handler.answer("", 302, headers=[("Location", "/v1/again")])) as server:
        assert reader(server.url).run("ps").returncode == 9
    assert len(server.requests) == 4


def test_an_answer_that_breaks_off_is_asked_for_again(reader):
    def script(handler, number):
        handler.drop() if number < 3 else handler.answer({"items": [workload()], "next_cursor": None})

    with Double(script) as server:
        done = reader(server.url).run("ps")
    assert done.returncode == 0 and "train" in done.stdout
    assert len(server.requests) == 3


def test_a_create_is_repeated_with_the_same_key(reader):
    def script(handler, number):
        handler.drop() if number == 1 else handler.answer({"id": "tm_1", "name": "x"}, 201)

    with Double(script) as server:
        assert reader(server.url).run("teams", "create", "x").returncode == 0
    keys = [r[2]["Idempotency-Key"] for r in server.requests]
    assert len(keys) == 2 and keys[0] == keys[1] and len(keys[0]) == 32


def test_a_write_without_a_key_is_not_repeated(reader):
    def script(handler, _):
        handler.answer({"name": "h1", "version": 7}) if handler.command == "GET" else handler.drop()

    with Double(script) as server:
        done = reader(server.url).run("nodes", "drain", "h1")
    assert done.returncode == 9
    assert [r[0] for r in server.requests] == ["GET", "PATCH"]
    assert server.requests[1][2]["If-Match"] == '"7"'


def test_an_answer_that_does_not_come_ends_with_exit_8(reader):
    import threading

    over = threading.Event()

    def script(handler, _):
        over.wait(20)
        handler.close_connection = True

    with Double(script) as server:
        done = reader(server.url).run("ps", "--timeout", "300ms")
        over.set()
    assert done.returncode == 8
    assert "no answer from" in done.stderr


@pytest.mark.parametrize(
    "status, body, code",
    [
        (502, "<html>bad gateway</html>", 9),
        (500, "oops", 10),
        (200, "<html>hello</html>", 10),
        (401, '{"code":"unauthenticated","detail":"The token has expired."}', 4),
        (403, '{"code":"permission_denied","detail":"No."}', 5),
        (429, '{"code":"rate_limited","detail":"Slow down.","retry_after_s":1}', 6),
        (409, '{"code":"idempotency_conflict","detail":"Same key."}', 7),
        (507, '{"code":"storage_full","detail":"Full."}', 9),
        (404, '{"code":"not_found","detail":"No."}', 3),
    ],
)
def test_each_answer_has_its_exit_code(reader, status, body, code):
    with Double(lambda handler, _: handler.answer(body, status, "application/problem+json")) as server:
        done = reader(server.url).run("whoami")
    assert done.returncode == code
    assert done.stderr.startswith("error: ") and done.stderr.count("\n") <= 7
    assert TOKEN not in done.stderr + done.stdout


def event(number, what="changed"):
    data = json.dumps({"at": "2026-06-02T12:00:00.000Z", "subject_id": f"wl_{number}", "what": what})
    return f"id: c{number}\nevent: {what}\ndata: {data}\n\n"


def test_a_stream_that_breaks_goes_on_without_a_gap(reader):
    def script(handler, number):
        if number == 1:
            handler.stream("retry: 10\n\n" + event(1) + event(2) + 'id: c3\ndata: {"half"')
        elif number == 2:
            handler.stream(event(3) + event(4))
        else:
            handler.answer('{"code":"permission_denied","detail":"Enough."}', 403, "application/problem+json")

    with Double(script) as server:
        done = reader(server.url).run("events", "-f", "-o", "jsonl")
    assert [json.loads(line)["subject_id"] for line in done.stdout.splitlines()] == ["wl_1", "wl_2", "wl_3", "wl_4"]
    assert [r[2].get("Last-Event-ID") for r in server.requests] == [None, "c2", "c4"]
    assert "connection lost, trying again (10 ms)" in done.stderr and "connected again" in done.stderr
    assert done.returncode == 5


def test_a_stream_that_goes_to_another_server_is_refused(reader):
    with Double(lambda handler, _: handler.answer("")) as other:
        with Double(lambda handler, _: handler.answer("", 302, headers=[("Location", other.url)])) as server:
            assert reader(server.url).run("events", "-f").returncode != 0
    assert other.requests == []


HOSTILE = "\x1b]52;c;ZXZpbA==\x07\x1b[2J\x1b[?1049h\x9b2J\u202egpj\r\n\x08<img onerror=x>\u2066"


def hostile_answer(handler, _):
    one = workload(
        name=HOSTILE,
        team_name=HOSTILE,
        owner_name=HOSTILE,
        project=HOSTILE,
        pool_name=HOSTILE,
        node_names=[HOSTILE],
        command=[HOSTILE],
        notes=[HOSTILE],
        currency=HOSTILE,
        reason={"code": HOSTILE, "sentence": HOSTILE, "next": HOSTILE, "pool_name": HOSTILE, "numbers": {}},
        end={"cause": HOSTILE, "message": HOSTILE},
    )
    path = handler.path
    if "/logs" in path:
        line = {"at": None, "stream": "out", "text": HOSTILE, "partial": False}
        handler.answer({"items": [line, {**line, "stream": "err"}], "at_end": True, "finished": True})
    elif "/why" in path:
        handler.answer({"sentence": HOSTILE, "reasons": [one["reason"]] * 2, "name": HOSTILE})
    elif "wl_1" in path:
        handler.answer({**one, "user": {"name": HOSTILE}})
    elif path.startswith("/v1/audit"):
        handler.answer({"items": [{"who_name": HOSTILE, "action": HOSTILE, "result": HOSTILE}]})
    elif path.startswith(("/v1/status", "/v1/whoami")):
        note = {"name": HOSTILE, "notes": [HOSTILE]}
        who = {"user": {"name": HOSTILE}, "teams": [{"name": HOSTILE, "role": HOSTILE}], "token": {"name": HOSTILE}}
        handler.answer({**who, "sites": [note], "trouble": HOSTILE, "currency": HOSTILE})
    elif path.startswith("/v1/missing") or "/nodes/" in path:
        problem = {"code": HOSTILE, "detail": HOSTILE, "next": HOSTILE, "request_id": HOSTILE}
        problem["errors"] = [{"pointer": HOSTILE, "code": HOSTILE, "given": HOSTILE}]
        handler.answer(problem, 400, "application/problem+json")
    else:
        more = {"display": HOSTILE, "role": HOSTILE, "user_name": HOSTILE, "uuid": HOSTILE, "devices": []}
        handler.answer({"items": [{**one, **more}], "next_cursor": None})


@pytest.mark.parametrize(
    "words",
    [
        "ps", "ps --all", "show wl_1", "why wl_1 --all", "logs wl_1", "receipt wl_1", "status", "whoami", "nodes",
        "nodes show x", "pools", "sites", "teams", "members vision", "users", "shares vision", "tokens", "events",
        "audit", "ps -o json", "ps -o yaml", "ps -o jsonl", "ps -o name", "show wl_1 -o yaml", "ps --plain",
    ],
)  # fmt: skip
def test_nothing_from_the_server_steers_a_terminal(reader, words):
    with Double(hostile_answer) as server:
        terminal = Terminal(reader(server.url), *words.split(), "--color", "never")
        terminal.end()
    shown = terminal.recorded.replace(b"\r\n", b"\n")
    assert len(shown) > 20
    for bad in (b"\x1b", b"\x07", b"\x08", b"\r", "\u202e".encode(), "\u2066".encode(), b"\xc2\x9b"):
        assert bad not in shown, shown


def test_raw_logs_are_a_choice(reader):
    with Double(hostile_answer) as server:
        terminal = Terminal(reader(server.url), "logs", "wl_1", "--raw")
        terminal.end()
    assert b"\x1b[2J" in terminal.recorded


def test_login_keeps_the_token_for_its_owner_and_logout_forgets_it(tmp_path):
    who = {"user": {"name": "ana"}, "teams": [{"name": "vision", "role": "developer"}], "token": {}}
    with Double(lambda handler, _: handler.answer(who)) as server:
        reader = Reader(tmp_path)
        done = reader.run("login", server.url, stdin=TOKEN + "\n")
        assert done.returncode == 0 and "as ana. Team vision." in done.stdout
        config = tmp_path / ".config/heddle/config"
        assert stat.S_IMODE(config.stat().st_mode) == 0o600
        assert reader.run("whoami").returncode == 0
        assert "team" in reader.run("config", "--explain").stdout
        assert reader.run("logout").returncode == 0
    assert TOKEN not in config.read_text()
    assert all(r[2]["Authorization"] == f"Bearer {TOKEN}" for r in server.requests)


def test_a_token_that_does_not_work_is_not_kept(tmp_path):
    with Double(lambda handler, _: handler.answer("{}", 401, "application/problem+json")) as server:
        done = Reader(tmp_path).run("login", server.url, stdin=TOKEN)
    assert done.returncode == 4
    assert not (tmp_path / ".config/heddle/config").exists()


def test_a_token_typed_at_a_terminal_is_not_shown(tmp_path):
    who = {"user": {"name": "ana"}, "teams": [], "token": {}}
    with Double(lambda handler, _: handler.answer(who)) as server:
        terminal = Terminal(Reader(tmp_path), "login", server.url)
        terminal.until("Token (not shown): ")
        terminal.type(TOKEN + "\n")
        assert terminal.end() == 0
    assert TOKEN.encode() not in terminal.recorded
