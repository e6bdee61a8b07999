#!/usr/bin/python3
"""server.restart_s: from the start of heddled to its first answer, with 1,000,000 ended and 100,000 live workloads."""

import subprocess
import sys
import time
import urllib.request

import box
from server import Server

ENDED, LIVE, RUNS = 1_000_000, 100_000, 3


def start_and_stop(server):
    """Seconds until the server answered."""
    started = time.monotonic()
    server.start()
    with urllib.request.urlopen(server.address + "/v1/health", timeout=30) as answer:
        answer.read()
    took = time.monotonic() - started
    if server.stop() != 0:
        raise RuntimeError(f"heddled did not stop well: {server.last_words()}")
    return took


def main():
    server = Server(box.BUILD, "2x8:H100-80GB")
    try:
        start_and_stop(server)  # makes the folder, the pool and the first administrator
        subprocess.run(
            [str(box.BUILD / "bin" / "heddle_bench_store"), "fill", str(server.state), str(ENDED), str(LIVE)],
            stdout=sys.stderr,
            check=True,
        )
        times = sorted(start_and_stop(server) for _ in range(RUNS))
        box.figure("server.restart_s", times[RUNS // 2], "s", ended=ENDED, live=LIVE, runs=RUNS, goal=5)
    finally:
        server.stop()
        server.forget()


if __name__ == "__main__":
    main()
