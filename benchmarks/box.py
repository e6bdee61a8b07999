"""What the benchmarks share: a fresh server with one team, the API over plain HTTP, one JSON line a figure."""

import http.client
import json
import os
import pathlib
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tools" / "check"))
from server import Server  # noqa: E402

BUILD = ROOT / "build" / "release"
TEAM = "bench"


def say(text):
    print(text, file=sys.stderr, flush=True)


def figure(name, value, unit, **more):
    print(json.dumps({"name": name, "value": round(value, 4), "unit": unit, **more}), flush=True)


def wanted(name):
    """True if ./bench was asked for this figure (or for everything)."""
    names = os.environ.get("HEDDLE_BENCH_FIGURES", "").split()
    return not names or any(name.startswith(n) for n in names)


class Box:
    """A server with 2 x 8 simulated GPUs and the team `bench`, in a folder of its own; `with` stops it."""

    def __init__(self, simulate="2x8:H100-80GB"):
        self.server = Server(BUILD, simulate)

    def __enter__(self):
        self.server.start()
        self.token_file = self.server.state / "admin.token"
        self.token = self.token_file.read_text().strip()
        self.port = int(self.server.address.rsplit(":", 1)[1])
        self.link = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        self.ask("POST", "/v1/teams", {"name": TEAM})
        return self

    def __exit__(self, kind, *_):
        if kind:
            say(self.server.last_words())
        self.link.close()
        self.server.stop()
        self.server.forget()

    def ask(self, method, path, body=None, headers=None):
        """The answer as JSON; RuntimeError when it is not 2xx."""
        text = None if body is None else json.dumps(body)
        sent = {"Authorization": f"Bearer {self.token}", "Content-Type": "application/json", **(headers or {})}
        self.link.request(method, path, text, sent)
        answer = self.link.getresponse()
        data = answer.read()
        if not 200 <= answer.status < 300:
            raise RuntimeError(f"{method} {path} was answered {answer.status}: {data[:500]!r}")
        return json.loads(data) if data else None

    def drain(self):
        """From now on nothing starts: what is put in waits."""
        for node in self.ask("GET", "/v1/nodes")["items"]:
            self.ask("PATCH", f"/v1/nodes/{node['id']}", {"state": "draining"}, {"If-Match": f'"{node["version"]}"'})

    def submit_many(self, connections, requests, prefix, command="/bin/true"):
        """Runs heddle_bench_submit; what it measured."""
        done = subprocess.run(
            [
                str(BUILD / "bin" / "heddle_bench_submit"),
                str(self.port),
                str(self.token_file),
                TEAM,
                str(connections),
                str(requests),
                prefix,
                command,
            ],
            stdout=subprocess.PIPE,
            text=True,
            check=True,
        )
        return json.loads(done.stdout)

    def live(self):
        """True while any work waits or runs."""
        return any(
            self.ask("GET", f"/v1/workloads?limit=1&state={state}")["items"]
            for state in ("waiting", "starting", "running", "stopping")
        )

    def wait_until_idle(self, within_s):
        deadline = time.monotonic() + within_s
        while self.live():
            if time.monotonic() > deadline:
                raise RuntimeError(f"work still runs after {within_s} s")
            time.sleep(0.005)
