"""Honest work beside which others misbehave, and every secret of its team by name."""

import json
import pathlib
import secrets

from box import JOBS, wait_until


def processes_of_team(box, team):
    """Numbers of the machine's processes that run as this team's user under this server's limits.

    Another server on the machine may have given the same user number to a team of its own."""
    shared = box.team_folder(team) / "shared"
    if not shared.exists():
        return []
    uid, found = shared.stat().st_uid, []
    for entry in pathlib.Path("/proc").iterdir():
        try:
            if entry.name.isdigit() and entry.stat().st_uid == uid and box.suffix in (entry / "cgroup").read_text():
                found.append(int(entry.name))
        except OSError:
            continue
    return found


class Victim:
    """Work of team vision, and every secret of the team by name."""

    def __init__(self, box):
        self.box = box
        # One canary a place, so that a leak says where it came from.
        places = ("file", "argument", "environment", "name", "project", "display", "user", "upload")
        self.canaries = {place: f"canary-{place}-{secrets.token_hex(8)}" for place in places}
        self.port, self.abstract = 45_678, "abstract-" + secrets.token_hex(4)
        team = box.admin.get("/v1/teams/vision")
        changed = box.admin.ask(
            "PATCH", "/v1/teams/vision", {"display": self.canaries["display"]}, {"If-Match": f'"{team["version"]}"'}
        )
        assert changed.status == 200
        self.vera = box.join(self.canaries["user"], "vision")
        self.canaries["token"] = self.vera.token
        self.token_of_ana = box.ana.token
        targets = {"canary": self.canaries["file"], "port": self.port, "abstract": self.abstract}
        self.work = self.vera.submit(
            ["/usr/bin/python3", "-B", "job.py", self.canaries["argument"]],
            name=self.canaries["name"],
            project=self.canaries["project"],
            env={"SECRET": self.canaries["environment"]},
            files=[
                {"path": "job.py", "content": (JOBS / "victim.py").read_text()},
                {"path": "targets.json", "content": json.dumps(targets)},
                {"path": "upload", "content": self.canaries["upload"]},
            ],
        )
        self.vera.wait_line(self.work, "ready")
        self.folder = box.team_folder("vision")
        self.uid = (self.folder / "shared").stat().st_uid
        self.pid = max(processes_of_team(box, "vision"))

    def beat(self):
        return float((self.folder / "shared" / "beat").read_text())

    def is_well(self):
        """It still beats."""
        before = self.beat()
        wait_until(lambda: self.beat() > before, "a beat of the victim")
        assert self.vera.show(self.work)["state"] == "running"
