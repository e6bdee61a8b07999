#!/usr/bin/python3
"""jobs.true_per_s: 1,000 jobs of `true` on an eighth of a GPU each, from the first submit to the last receipt.

Beside it, in the same run: bubblewrap starts of the same `true`, two at a time, with as much taken away.
"""

import concurrent.futures
import subprocess
import time

import box

JOBS, WARM = 1000, 20
BWRAP = "bwrap --unshare-all --ro-bind / / --proc /proc --dev /dev --tmpfs /tmp /bin/true".split()


def bubblewrap_per_s(count):
    started = time.monotonic()
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        codes = list(pool.map(lambda _: subprocess.run(BWRAP).returncode, range(count)))
    if any(codes):
        raise RuntimeError("bubblewrap failed")
    return count / (time.monotonic() - started)


def check_ends(server):
    """Every job succeeded, in one attempt, and has a closed receipt (a sample of them is read)."""
    cursor, seen = "", 0
    while cursor is not None:
        page = server.ask("GET", "/v1/workloads?limit=1000&state=succeeded" + (f"&cursor={cursor}" if cursor else ""))
        seen += sum(1 for w in page["items"] if w["attempt"] == 1)
        cursor = page["next_cursor"]
    if seen != JOBS + WARM:
        raise RuntimeError(f"{seen} of {JOBS + WARM} jobs succeeded in one attempt")
    for workload in page["items"][:20]:
        if not server.ask("GET", f"/v1/workloads/{workload['id']}/receipt")["final"]:
            raise RuntimeError(f"the receipt of {workload['name']} is open")


def main():
    peer = bubblewrap_per_s(JOBS)
    with box.Box() as server:
        server.submit_many(4, WARM, "warm-")
        server.wait_until_idle(60)
        started = time.monotonic()
        server.submit_many(64, JOBS, "true-")
        server.wait_until_idle(300)
        rate = JOBS / (time.monotonic() - started)
        check_ends(server)
    box.figure(
        "jobs.true_per_s", rate, "1/s", peer=f"bubblewrap starts, two at a time: {peer:.0f}/s", ratio=rate / peer
    )


if __name__ == "__main__":
    main()
