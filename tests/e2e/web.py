"""A client of the API in a few lines, which can also insist until it is answered."""

import datetime
import http.client
import json
import time
import urllib.parse

from waiting import pause, until

NOT_NOW = (429, 502, 503, 504, 507)


class Web:
    def __init__(self, server, token="", within_s=60.0):
        self.server, self.within_s = server, within_s
        self.token = token or (server.state / "admin.token").read_text().strip()

    def ask(self, method, path, body=None, key=""):
        """(status, answer). OSError or HTTPException when there is no answer."""
        place = urllib.parse.urlsplit(self.server.address)
        connection = http.client.HTTPConnection(place.hostname, place.port, timeout=20)
        headers = {"Authorization": f"Bearer {self.token}", "Content-Type": "application/json"}
        if key:
            headers["Idempotency-Key"] = key
        try:
            connection.request(method, path, None if body is None else json.dumps(body), headers)
            answer = connection.getresponse()
            text = answer.read()
            return answer.status, json.loads(text) if text else None
        finally:
            connection.close()

    def insist(self, method, path, body=None, key=""):
        """Repeats until somebody answers; the answer to what is not refused for ever."""
        deadline = time.monotonic() + self.within_s
        trouble = ""
        while time.monotonic() < deadline:
            try:
                status, answer = self.ask(method, path, body, key)
                if status < 300:
                    return answer
                trouble = f"{status} {answer}"
                assert status in NOT_NOW, trouble
            except (OSError, http.client.HTTPException, ValueError) as error:
                trouble = repr(error)
            pause()
        raise AssertionError(f"{method} {path} was not answered within {self.within_s:.0f} s: {trouble}")

    def get(self, path):
        return self.insist("GET", path)

    def submit(self, key="", **fields):
        return self.insist("POST", "/v1/workloads", fields, key)["id"]

    def cancel(self, work):
        self.insist("POST", f"/v1/workloads/{work}/cancel", {})

    def wait(self, work, reached, within_s=60.0):
        """Asks until `reached(workload)` holds; the workload."""
        found = {}

        def look():
            found.update(self.get(f"/v1/workloads/{work}"))
            return reached(found)

        until(look, within_s, lambda: f"{found['name']} is {found['state']}: {found['end'] or found['reason']}")
        return found

    def wait_ended(self, work, within_s=60.0):
        return self.wait(work, has_ended, within_s)

    def wait_running(self, work, within_s=60.0):
        return self.wait(work, lambda w: w["state"] == "running", within_s)

    def check_receipt(self, work):
        """What must hold for the charges of ended work; the receipt."""
        receipt = self.get(f"/v1/workloads/{work}/receipt")
        leases = self.get(f"/v1/allocations?workload={work}&limit=1000")["items"]
        charged, lease = int(receipt["charged_gpu_milli_ms"]), int(receipt["lease_gpu_milli_ms"])
        assert receipt["final"], work
        assert charged + int(receipt["not_charged_gpu_milli_ms"]) == lease, work
        assert all(a["state"] == "released" for a in leases), work
        assert len({(a["attempt"], a["replica"]) for a in leases}) == len(leases), f"{work}: a lease is there twice"
        assert lease == sum(a["gpu_milli"] * span_ms(a["created_at"], a["released_at"]) for a in leases), work
        ran = [a for a in leases if a["running_at"]]
        assert charged == sum(
            a["gpu_milli"] * span_ms(a["running_at"], a["ended_at"] or a["released_at"]) for a in ran
        ), work
        return receipt


def has_ended(workload):
    return workload["state"] in ("succeeded", "failed", "cancelled")


def moment_ms(text):
    """2026-06-02T12:00:00.000Z as ms on some line."""
    at = datetime.datetime.fromisoformat(text.replace("Z", "+00:00"))
    return round(at.timestamp() * 1000)


def span_ms(first, last):
    return moment_ms(last) - moment_ms(first)
