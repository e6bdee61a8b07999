"""A real heddled with two teams, and the API as plain values: what the end-to-end tests share."""

import http.client
import json
import pathlib
import urllib.parse

from heddle_program import Reader
from machine import Machine
from waiting import until

JOBS = pathlib.Path(__file__).resolve().parent / "jobs"
ENDED = ("succeeded", "failed", "cancelled")
WITHIN_S = 90  # for things that take moments; a busy machine needs more


def wait_until(reached, what, within_s=WITHIN_S):
    """Asks until `reached()` gives something true, which comes back."""
    return until(reached, within_s, lambda: f"not within {within_s} s: {what}")


class Answer:
    def __init__(self, status, headers, body):
        self.status, self.headers, self.body = status, headers, body

    @property
    def json(self):
        return json.loads(self.body)

    @property
    def pointers(self):
        return [e["pointer"] for e in self.json.get("errors", [])]

    def __repr__(self):
        return f"{self.status} {self.body[:400]!r}"


class Person:
    """Someone with a token. `ask` is one request on a connection of its own."""

    def __init__(self, box, name, token):
        self.box, self.name, self.token = box, name, token
        self.token_file = box.server.folder / f"{name}.token"
        self.token_file.write_text(token + "\n")
        self.token_file.chmod(0o600)

    def ask(self, method, target, body=None, headers=None, timeout=30):
        if isinstance(body, (dict, list)):
            body = json.dumps(body)
        if isinstance(body, str):
            body = body.encode()
        sent = {"Authorization": "Bearer " + self.token} if self.token else {}
        if body is not None:
            sent["Content-Type"] = "application/json"
        sent.update(headers or {})
        connection = http.client.HTTPConnection(self.box.host, self.box.port, timeout=timeout)
        try:
            connection.request(method, target, body, {k: v for k, v in sent.items() if v is not None})
            answer = connection.getresponse()
            return Answer(answer.status, dict(answer.getheaders()), answer.read().decode(errors="replace"))
        finally:
            connection.close()

    def get(self, target, **query):
        more = "?" + urllib.parse.urlencode(query) if query else ""
        answer = self.ask("GET", target + more)
        assert answer.status == 200, answer
        return answer.json

    def all(self, target, **query):
        """Every item of a list, page by page."""
        items, cursor = [], None
        while True:
            page = self.get(target, **query, **({"cursor": cursor} if cursor else {}))
            items += page["items"]
            cursor = page["next_cursor"]
            if not cursor or not page["items"]:
                return items

    def post(self, target, body, status=201):
        answer = self.ask("POST", target, body)
        assert answer.status == status, answer
        return answer.json

    def submit(self, command, gpu=0.125, **fields):
        """Submits; the id."""
        return self.post("/v1/workloads", {"command": command, "resources": {"gpu": gpu}, **fields})["id"]

    def submit_job(self, program, targets=None, files=(), **fields):
        """Submits tests/e2e/jobs/PROGRAM.py with `targets` beside it as targets.json; the id."""
        sent = [{"path": "job.py", "content": (JOBS / f"{program}.py").read_text()}, *files]
        if targets is not None:
            sent.append({"path": "targets.json", "content": json.dumps(targets)})
        return self.submit(["/usr/bin/python3", "-B", "job.py"], files=sent, **fields)

    def show(self, work):
        return self.get(f"/v1/workloads/{work}")

    def wait(self, work, *states, within_s=WITHIN_S):
        def reached():
            seen = self.show(work)
            assert seen["state"] in states or seen["state"] not in ENDED, f"{seen['state']}: {seen['end']}"
            return seen if seen["state"] in states else None

        return wait_until(reached, f"{work} in {states}", within_s)

    def wait_end(self, work, within_s=WITHIN_S):
        return self.wait(work, *ENDED, within_s=within_s)

    def cancel(self, work):
        return self.post(f"/v1/workloads/{work}/cancel", {}, 200)

    def lines(self, work, stream="out", **query):
        """The text of the log's lines so far."""
        page = self.get(f"/v1/workloads/{work}/logs", **query)
        items = page["items"]
        while not page["at_end"]:
            page = self.get(f"/v1/workloads/{work}/logs", cursor=page["next_cursor"])
            items += page["items"]
        return [line["text"] for line in items if line["stream"] == stream]

    def report(self, work, within_s=WITHIN_S):
        """What a job of ours printed at its end, as JSON; it must have ended well."""
        seen = self.wait_end(work, within_s)
        lines = self.lines(work)
        assert seen["state"] == "succeeded", (seen["end"], lines[-5:], self.lines(work, "err")[-20:])
        return json.loads(lines[-1])

    def wait_line(self, work, start):
        """The first line that begins with `start`."""
        return wait_until(lambda: next((x for x in self.lines(work) if x.startswith(start)), None), f"a line {start}")

    def reader(self):
        """The `heddle` program in this person's hands."""
        return Reader(self.box.server.folder, self.box.address, self.token_file)


class Box:
    """A server with the teams `vision` (ana) and `mallory` (mal)."""

    def __init__(self, server):
        self.server = server.start()
        self.address = self.server.address
        self.host, port = self.address.removeprefix("http://").rsplit(":", 1)
        self.port = int(port)
        self.state = self.server.state
        self.admin = Person(self, "admin", (self.state / "admin.token").read_text().strip())
        self.nobody = Person(self, "nobody", "")
        self.suffix = Machine(server).suffix  # of the names of its sandboxes
        self.teams = {}
        self.ana = self.join("ana", "vision", display="")
        self.mal = self.join("mal", "mallory")

    def join(self, user, team, role="developer", display=None):
        """A new user with a role in a team, which is made when it is new."""
        if team not in self.teams:
            self.teams[team] = self.admin.post("/v1/teams", {"name": team, **({"display": display} if display else {})})
        self.admin.post("/v1/users", {"name": user})
        put = self.admin.ask("PUT", f"/v1/teams/{team}/members/{user}", {"role": role})
        assert put.status == 200, put
        return Person(self, user, self.admin.post("/v1/tokens", {"name": user, "user": user})["secret"])

    def team_folder(self, team):
        return self.state / "local" / "teams" / self.teams[team]["id"]

    def server_log(self):
        return self.server.log.read_text(errors="replace")

    def close(self):
        """Ends all work, then the server; everything of it is removed."""
        try:
            for work in self.admin.all("/v1/workloads"):
                self.admin.ask("POST", f"/v1/workloads/{work['id']}/cancel", {})
            wait_until(lambda: not self.admin.all("/v1/workloads"), "all work ended", 60)
        finally:
            code = self.server.stop()
            log = self.server_log()
            self.server.forget()
        assert code == 0, f"heddled ended with {code}"
        wrong = [line for line in log.splitlines() if '"auditor"' in line or "event=auditor" in line]
        assert not wrong, wrong[:5]
