#!/usr/bin/python3
"""start.first_instruction_p50_ms: from the moment a job is put in to the first instruction of its program.

The job is `date +%s%N`, so the time that date itself needs to start is part of the figure. One job at a time on an
idle box; the clock is read just before the request is sent.
"""

import time

import box

JOBS = 60


def one(server, i):
    """Milliseconds for one job."""
    sent_ns = time.time_ns()
    body = {"name": f"first-{i}", "team": box.TEAM, "command": ["/bin/date", "+%s%N"], "resources": {"gpu": 0.125}}
    workload = server.ask("POST", "/v1/workloads", body)
    server.wait_until_idle(30)
    page = server.ask("GET", f"/v1/workloads/{workload['id']}/logs")
    lines = [line["text"] for line in page["items"] if line["stream"] == "out"]
    if len(lines) != 1 or not lines[0].isdigit():
        raise RuntimeError(f"the job printed {page['items']}")
    return (int(lines[0]) - sent_ns) / 1e6


def main():
    with box.Box() as server:
        for i in range(5):
            one(server, f"warm-{i}")
        times = sorted(one(server, i) for i in range(JOBS))
    box.figure(
        "start.first_instruction_p50_ms",
        times[JOBS // 2],
        "ms",
        p90=round(times[JOBS * 9 // 10], 3),
        min=round(times[0], 3),
        jobs=JOBS,
        goal=15,
    )


if __name__ == "__main__":
    main()
