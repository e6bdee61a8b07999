#!/usr/bin/python3
"""submit.*: durable submits over HTTP, beside plain SQLite writing the same rows in the same batches, in the same run.

submit.ratio_vs_sqlite      submits a second over 64 connections / rows a second of plain SQLite, in batches of
                            the size that the server made (read from its own database)
submit.p50_ms               one submit over one connection
submit.raw_commit_p50_ms    one commit of plain SQLite with the rows of one submit

Nothing starts meanwhile: the nodes are draining, so only submits are measured. Rounds of both kinds take turns, because
a shared disk is not equally fast all the time.
"""

import json
import sqlite3
import statistics
import subprocess
import tempfile

import box

CONNECTIONS, REQUESTS, ROUNDS = 64, 5000, 3
SINGLE = 300


def batches_of(server):
    """How many batches the server has committed."""
    file = server.server.state / "heddle.db"
    with sqlite3.connect(f"file:{file}?mode=ro", uri=True) as database:
        return database.execute("SELECT batch FROM head").fetchone()[0]


def raw(rows, batch):
    with tempfile.TemporaryDirectory(prefix="heddle-raw-") as folder:
        done = subprocess.run(
            [str(box.BUILD / "bin" / "heddle_bench_store"), "raw", folder, str(rows), str(batch)],
            stdout=subprocess.PIPE,
            text=True,
            check=True,
        )
    return json.loads(done.stdout.splitlines()[-1])


def main():
    ours, theirs, sizes, singles, commits = [], [], [], [], []
    with box.Box() as server:
        server.drain()
        server.submit_many(CONNECTIONS, 500, "warm-")
        for i in range(ROUNDS):
            before = batches_of(server)
            ours.append(server.submit_many(CONNECTIONS, REQUESTS, f"many{i}-"))
            batch = max(1, round(REQUESTS / max(1, batches_of(server) - before)))
            sizes.append(batch)
            theirs.append(raw(REQUESTS, batch))
            singles.append(server.submit_many(1, SINGLE, f"one{i}-")["p50_ms"])
            commits.append(raw(SINGLE, 1)["commit_p50_ms"])
            box.say(
                f"round {i + 1}: {ours[-1]['per_s']:.0f}/s in batches of {batch}; "
                f"SQLite {theirs[-1]['rows_per_s']:.0f}/s; "
                f"one {singles[-1]:.2f} ms, raw commit {commits[-1]:.2f} ms"
            )
    ours_per_s = statistics.median(o["per_s"] for o in ours)
    theirs_per_s = statistics.median(t["rows_per_s"] for t in theirs)
    ratio = statistics.median(o["per_s"] / t["rows_per_s"] for o, t in zip(ours, theirs))
    box.figure(
        "submit.ratio_vs_sqlite",
        ratio,
        "ratio",
        ratio=round(ratio, 4),
        ours_per_s=round(ours_per_s),
        peer=f"plain SQLite, same rows and batches: {theirs_per_s:.0f}/s",
        batch=statistics.median(sizes),
        connections=CONNECTIONS,
        p99_ms=max(o["p99_ms"] for o in ours),
        goal=0.4,
    )
    single, commit = statistics.median(singles), statistics.median(commits)
    box.figure("submit.p50_ms", single, "ms", goal=round(2 * commit + 1, 3))
    box.figure("submit.raw_commit_p50_ms", commit, "ms")


if __name__ == "__main__":
    main()
