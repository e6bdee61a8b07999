"""What one team learns of another over the API: nothing. And what text that steers screens does: nothing."""

import http.client
import json
import pathlib
import re

import pytest
import yaml
from box import wait_until
from heddle_program import Terminal

CONTRACT = yaml.safe_load((pathlib.Path(__file__).resolve().parents[2] / "openapi" / "heddle.yaml").read_text())
METHODS = ("get", "put", "post", "patch", "delete")
BODIES = {
    "updateTeam": {"display": "x"},
    "setMember": {"role": "viewer"},
    "setShare": {"guarantee": 1},
    "updateNode": {"state": "ready"},
    "cancelWorkload": {},
}
# A name or id that does not exist, of the right form.
ABSENT = {"team_id": ["no-such-team", "tm_v"], "workload_id": ["wl_v"], "token_id": ["tk_v"], "user_id": ["no-such"]}


def routes_with_ids():
    for path, item in CONTRACT["paths"].items():
        for method in METHODS:
            if method in item and "{" in path and not path.startswith(("/v1/nodes", "/v1/pools")):
                yield method.upper(), path, item[method]["operationId"]


def fill(path, **values):
    return re.sub(r"\{(\w+)\}", lambda m: values[m[1]], path)


def told(answer):
    """What an answer says, without the number that each request gets."""
    body = answer.json
    body.pop("request_id", None)
    headers = {k: v for k, v in answer.headers.items() if k.lower() not in ("x-request-id", "date")}
    return answer.status, body, headers


@pytest.mark.parametrize("method, path, operation", list(routes_with_ids()), ids=lambda v: str(v).strip("/"))
def test_a_foreign_id_is_told_like_one_that_is_not_there(box, victim, method, path, operation):
    token_of_victim = victim.vera.get("/v1/whoami")["token"]["id"]
    own = {
        "team_id": box.teams["mallory"]["id"],
        "user_id": "mal",
        "pool_id": "h100",
        "workload_id": "",
        "token_id": "",
    }
    foreign = {
        "team_id": ["vision", box.teams["vision"]["id"]],
        "workload_id": [victim.work],
        "token_id": [token_of_victim],
        "user_id": [victim.canaries["user"]],
    }
    body = BODIES.get(operation)
    headers = {"If-Match": "*"}
    tried = 0
    for name in re.findall(r"\{(\w+)\}", path):
        if name == "pool_id" or (name == "user_id" and operation in ("setMember", "removeMember")):
            continue  # pools are everybody's; who may not set members is refused before a user is looked for
        absent = told(box.mal.ask(method, fill(path, **{**own, name: ABSENT[name][-1]}), body, headers))
        assert absent[0] == 404, absent
        for value in foreign[name] + ABSENT[name]:
            for more in ("", "?limit=1" if operation.startswith("list") else ""):
                answer = told(box.mal.ask(method, fill(path, **{**own, name: value}) + more, body, headers))
                assert answer == absent, (name, value)
                tried += 1
    assert tried
    assert victim.vera.show(victim.work)["state"] == "running"


def test_filters_that_name_a_foreign_thing_answer_as_for_nothing(box, victim):
    for list_path, name, foreign, absent in (
        ("/v1/workloads", "team", "vision", "no-such-team"),
        ("/v1/workloads", "team", box.teams["vision"]["id"], "tm_v"),
        ("/v1/workloads", "name", victim.canaries["name"], "no-such-name"),
        ("/v1/events", "team", "vision", "no-such-team"),
        ("/v1/events", "workload", victim.work, "wl_v"),
        ("/v1/allocations", "workload", victim.work, "wl_v"),
    ):
        answers = [told(box.mal.ask("GET", f"{list_path}?{name}={value}")) for value in (foreign, absent)]
        for answer in answers:
            answer[1].pop("next_cursor", None)
        assert answers[0] == answers[1], (list_path, name)


def test_what_is_made_for_a_foreign_team_answers_as_for_none(box, victim):
    for team in ("vision", box.teams["vision"]["id"]):
        for more in ("", "?dry_run=true"):
            foreign, absent = (
                told(box.mal.ask("POST", "/v1/workloads" + more, {"command": ["true"], "team": name}))
                for name in (team, "no-such-team" if team == "vision" else "tm_v")
            )
            assert foreign == absent and foreign[0] in (400, 404)
    # Names are a team's own: a name that is taken elsewhere is free here.
    taken = box.mal.ask("POST", "/v1/workloads?dry_run=true", {"command": ["true"], "name": victim.canaries["name"]})
    assert taken.status == 200
    foreign, absent = (
        told(box.mal.ask("POST", "/v1/tokens", {"name": "mine", "user": user}))
        for user in (victim.canaries["user"], "nobody")
    )
    assert foreign == absent


def stream(person, target, last_id=""):
    """What comes within a moment of a stream, as text."""
    connection = http.client.HTTPConnection(person.box.host, person.box.port, timeout=1.5)
    headers = {"Authorization": "Bearer " + person.token, "Accept": "text/event-stream"}
    connection.request("GET", target, headers={**headers, **({"Last-Event-ID": last_id} if last_id else {})})
    answer = connection.getresponse()
    got = b""
    try:
        while True:
            piece = answer.read1(65536)
            if not piece:
                break
            got += piece
    except TimeoutError:
        pass
    connection.close()
    return str(answer.status) + str(answer.getheaders()) + got.decode(errors="replace")


def test_no_canary_in_anything_that_the_hostile_team_may_get(box, victim):
    """Everything: lists and their pages, filters, single things, streams, numbers, problems, the program's output."""
    held = box.mal.submit(["/bin/sh", "-c", "read x < /dev/zero"], resources={"gpus": 8})
    # Waits behind the victim and itself, so that its reason speaks of others.
    waits = box.mal.submit(["true"], resources={"gpus": 8}, nodes=2)
    wait_until(lambda: box.mal.show(waits)["reason"], "a reason")
    read = {}
    targets = ["/metrics", "/v1/audit"]
    for path, item in CONTRACT["paths"].items():
        if "get" not in item:
            continue
        targets += [
            fill(path, team_id="mallory", pool_id="h100", node_id=node, workload_id=work)
            for node in ("sim-1", "sim-2")
            for work in (held, waits, victim.work)
        ]
    for target in dict.fromkeys(targets):
        read[target] = box.mal.ask("GET", target)
        for more in ("?limit=1000", "?all=true&limit=1000", "?limit=1", "?nothing=1", "?cursor=x", "?team=vision"):
            read[target + more] = box.mal.ask("GET", target + more)
        if read[target].status == 200 and '"next_cursor"' in read[target].body:
            read[target + " pages"] = (
                box.mal.all(target, limit=2) if "events" not in target and "logs" not in target else ""
            )
    first = box.mal.ask("GET", "/v1/events?limit=1").json
    for target in ("/v1/events", f"/v1/workloads/{victim.work}/logs", f"/v1/events?workload={victim.work}"):
        read["stream " + target] = stream(box.mal, target)
    read["feed from its begin"] = stream(box.mal, "/v1/events", first["next_cursor"])
    # Cursors that the victim was given are of no use to another.
    for target in ("/v1/workloads?all=true&limit=1", "/v1/events?limit=1", "/v1/allocations?limit=1"):
        stolen = victim.vera.ask("GET", target).json["next_cursor"]
        if stolen:
            answer = box.mal.ask("GET", f"{target}&cursor={stolen}")
            assert answer.status == 400 and answer.pointers == ["?cursor"], answer
    for words in (
        ("ps", "--all"),
        ("status",),
        ("nodes",),
        ("pools",),
        ("teams",),
        ("why", waits),
        ("events",),
        ("whoami",),
    ):
        done = box.mal.reader().run(*words)
        read["heddle " + " ".join(words)] = done.stdout + done.stderr
    text = {target: f"{a.body}{a.headers}" if hasattr(a, "body") else str(a) for target, a in read.items()}
    secrets = {
        **victim.canaries,
        "team": "vision",
        "team id": box.teams["vision"]["id"],
        "work": victim.work,
        "name of ana": '"ana"',
    }
    asked = {"/v1/workloads/" + victim.work, victim.work}
    leaks = {
        (target, place)
        for target, said in text.items()
        for place, secret in secrets.items()
        if secret in said and not any(a in target for a in asked) and "team=vision" not in target
    }
    assert leaks == set()
    # The same search finds them in what the victim itself may get.
    own = str(victim.vera.all("/v1/workloads")) + str(victim.vera.lines(victim.work))
    assert all(victim.canaries[p] in own for p in ("name", "project", "environment", "argument", "file"))


# What steers a terminal or a page, or deceives the eye.
NASTY = [
    "\x1b]52;c;ZXZpbA==\x07",
    "\x1b]0;title\x07",
    "\x1b[21t",
    "\x1b[?1049h",
    "\x1b[2J\x1b[H",
    "\x1b[8mhidden",
    "\x1bP+q544e\x1b\\",
    "\x1b]8;;file:///etc/passwd\x07click\x1b]8;;\x07",
    "\x1bc",
    "\x9b31m",
    "over\rwritten",
    "bell\x07",
    "back\x08\x08\x08",
    "\u202egnp.exe",
    "\u2066a\u2069",
    "zero\u200bwidth",
    "\u2028line",
    "\ufeffmark",
    "<img src=x onerror=alert(1)>",
    "<script>alert(1)</script>",
    "\x1b[38;5;9mred\x1b[0m",
    "'; rm -rf /",
    "$(id)",
    "`id`",
    "%s%n",
    "\U000e0041tag",
    "=cmd|' /C calc'!A0",
]
ALLOWED_COLOUR = re.compile(r"\x1b\[[0-9;]*m")


def steering(text):
    """What of a terminal's input is neither text nor colour nor an end of line."""
    rest = ALLOWED_COLOUR.sub("", text).replace("\r\n", "\n")
    return re.findall(
        "[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\U000e0000-\U000e007f]", rest
    )


def on_terminal(person, *words):
    terminal = Terminal(person.reader(), *words)
    code = terminal.end()
    return code, terminal.recorded.decode(errors="surrogateescape")


def test_logs_with_escapes_reach_the_api_unchanged_and_the_terminal_escaped(box):
    program = "import json, sys\nfor text in json.load(open('texts')): sys.stdout.buffer.write(text.encode() + b'\\n')"
    work = box.mal.submit(["/usr/bin/python3", "-c", program], files=[{"path": "texts", "content": json.dumps(NASTY)}])
    box.mal.wait_end(work)
    assert box.mal.lines(work) == NASTY
    raw = box.mal.ask("GET", f"/v1/workloads/{work}/logs")
    assert raw.headers["Content-Type"] == "application/json"
    for words in (("logs", work), ("logs", "-f", work)):
        code, seen = on_terminal(box.mal, *words)
        assert code == 0 and steering(seen) == [], steering(seen)
        assert "gnp.exe" in seen and "<img src=x onerror=alert(1)>" in seen


def test_names_take_no_escapes(box):
    for text in NASTY:
        for method, target, body, pointer in (
            ("POST", "/v1/workloads", {"command": ["true"], "name": text}, "/name"),
            ("POST", "/v1/teams", {"name": text}, "/name"),
            ("POST", "/v1/users", {"name": text}, "/name"),
            ("POST", "/v1/tokens", {"name": text}, "/name"),
        ):
            answer = box.admin.ask(method, target, body)
            assert answer.status == 400 and answer.pointers[0] == pointer, (text, answer)


@pytest.mark.parametrize("field", ["project", "display", "env", "argument"])
def test_texts_are_kept_as_they_are_or_refused_and_never_steer_a_terminal(box, field):
    kept = 0
    for number, text in enumerate(NASTY):
        if field == "display":
            answer = box.admin.ask("POST", "/v1/teams", {"name": f"nasty-{number}", "display": text})
        else:
            value = {"project": text, "env": {"A": text}, "argument": ["true", text]}[field]
            more = {"command": value} if field == "argument" else {"command": ["true"], field: value}
            answer = box.mal.ask("POST", "/v1/workloads", {**more, "resources": {"gpu": 0.125}})
        if answer.status == 400:
            # Only for control characters; the answer says where and does not repeat them raw.
            assert any(ord(c) < 0x20 or 0x7F <= ord(c) < 0xA0 for c in text), (text, answer)
            assert steering(answer.body) == [], answer
            continue
        assert answer.status == 201, (text, answer)
        made = answer.json
        kept += 1
        if field == "display":
            assert box.admin.get(f"/v1/teams/nasty-{number}")["display"] == text
            continue
        again = box.mal.show(made["id"])
        assert text in (again["project"], again["env"].get("A"), again["command"][-1])
        code, seen = on_terminal(box.mal, "show", made["id"])
        assert code == 0 and steering(seen) == [], (text, steering(seen))
        box.mal.wait_end(made["id"])
    assert kept >= 10
    for person, words in ((box.admin, ("teams",)), (box.mal, ("ps", "--all")), (box.admin, ("events",))):
        code, seen = on_terminal(person, *words)
        assert code == 0 and steering(seen) == [], (words, steering(seen))


def test_the_trail_has_one_entry_an_action_whatever_was_in_the_text(box):
    before = len(box.admin.all("/v1/audit", limit=1000))
    forged = 'x\n{"seq":1,"action":"forged"}'
    box.admin.ask("GET", "/v1/teams", headers={"User-Agent": "a\tforged"})
    answer = box.admin.ask("POST", "/v1/teams", {"name": "trail", "display": '{"action":"forged"},'})
    assert answer.status == 201
    refused = box.admin.ask("POST", "/v1/teams", {"name": "trail2", "display": forged})
    assert refused.status == 400
    after = box.admin.all("/v1/audit", limit=1000)
    assert len(after) == before + 1
    assert "forged" not in {entry["action"] for entry in after}
    for line in box.server_log().splitlines():
        json.loads(line)


def test_a_token_is_in_no_log_and_no_file_of_the_server(box, victim):
    token = victim.vera.token
    box.nobody.ask("GET", "/v1/teams?token=" + token)
    box.nobody.ask("GET", "/v1/teams/" + token)
    box.nobody.ask("GET", "/v1/teams", headers={"Authorization": "Basic " + token})
    box.nobody.ask("GET", "/v1/teams", headers={"X-Token": token})
    victim.vera.ask("POST", "/v1/teams", {"name": token})
    secret = token.rsplit("_", 1)[1].encode()
    held = [p for p in box.server.folder.rglob("*") if p.is_file() and secret in p.read_bytes()]
    assert [p.name for p in held if p.suffix != ".token"] == []
