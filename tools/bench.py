#!/usr/bin/python3
"""Runs the benchmarks of benchmarks/registry.txt. Called by ./bench, which installs first.

One JSON line a figure on stdout, or with --table a table; everything else goes to stderr.
"""

import dataclasses
import json
import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
BIN = "build/release/bin"


@dataclasses.dataclass
class Program:
    prefixes: list
    targets: list
    command: str

    def wanted(self, names):
        """True if one of its figures may start with one of the names (all when none is given)."""
        return not names or any(p.startswith(n) or n.startswith(p) for p in self.prefixes for n in names)


def say(text):
    print(text, file=sys.stderr, flush=True)


def read_registry(text):
    programs = []
    for line in text.splitlines():
        if line.strip() and not line.startswith("#"):
            prefixes, targets, command = (part.strip() for part in line.split("|"))
            programs.append(Program([p.strip() for p in prefixes.split(",")], targets.split(), command))
    return programs


def known_targets():
    listing = subprocess.run(
        ["ninja", "-C", "build/release", "-t", "targets", "all"], cwd=ROOT, capture_output=True, text=True
    ).stdout
    return {line.split(":")[0] for line in listing.splitlines()}


def build(programs):
    """Builds what the programs need; the programs whose targets do not exist or build are left out."""
    done = subprocess.run(["cmake", "--preset", "release"], cwd=ROOT, stdout=sys.stderr, stdin=subprocess.DEVNULL)
    if done.returncode != 0:
        sys.exit("error: cmake --preset release failed")
    known, ready = known_targets(), []
    for program in programs:
        missing = [t for t in program.targets if t not in known]
        if missing:
            say(f"left out: {', '.join(program.prefixes)} wants the target {missing[0]}, which does not exist")
            continue
        if (
            program.targets
            and subprocess.run(
                ["ninja", "-C", "build/release", *program.targets], cwd=ROOT, stdout=sys.stderr
            ).returncode
            != 0
        ):
            say(f"left out: {', '.join(program.prefixes)} does not build")
            continue
        ready.append(program)
    return ready, len(ready) == len(programs)


def commit():
    done = subprocess.run(
        ["git", "describe", "--always", "--dirty", "--abbrev=12"], cwd=ROOT, capture_output=True, text=True
    )
    return done.stdout.strip() or "unknown"


def figures_of(program, names, at_commit):
    """The figures that the program printed, and whether it ended well."""
    load = round(os.getloadavg()[0], 2)
    command = program.command.replace("BIN/", BIN + "/")
    say(f"--- {command}   (load {load})")
    process = subprocess.Popen(
        ["/bin/bash", "-c", "exec " + command],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
        stdin=subprocess.DEVNULL,
        env={**os.environ, "HEDDLE_BENCH_FIGURES": " ".join(names)},
    )
    figures = []
    for line in process.stdout:
        try:
            figure = json.loads(line)
        except ValueError:
            say(line.rstrip())
            continue
        if not names or any(figure["name"].startswith(name) for name in names):
            figures.append(
                {
                    **figure,
                    "command": figure.get("command", command),
                    "commit": figure.get("commit", at_commit),
                    "load": figure.get("load", load),
                }
            )
    return figures, process.wait() == 0


def table(figures):
    rows = [("FIGURE", "VALUE", "UNIT", "PEER", "RATIO")]
    for f in figures:
        rows.append(
            (
                f["name"],
                f"{f['value']:,.4g}" if f["value"] < 1000 else f"{f['value']:,.0f}",
                f.get("unit", ""),
                str(f.get("peer", "")),
                f"{f['ratio']:.3g}" if "ratio" in f else "",
            )
        )
    widths = [max(len(row[i]) for row in rows) for i in range(5)]
    for row in rows:
        print(
            f"{row[0]:<{widths[0]}}  {row[1]:>{widths[1]}}  {row[2]:<{widths[2]}}  {row[3]:<{widths[3]}}  "
            f"{row[4]:>{widths[4]}}".rstrip()
        )


def main(arguments):
    names = [a for a in arguments if not a.startswith("-")]
    unknown = [a for a in arguments if a.startswith("-") and a != "--table"]
    if unknown:
        say(f"error: ./bench knows no {unknown[0]}. See ./bench --help")
        return 2
    programs = [p for p in read_registry((ROOT / "benchmarks" / "registry.txt").read_text()) if p.wanted(names)]
    if not programs:
        say(f"error: no figure starts with {' or '.join(names)}; they are in benchmarks/registry.txt")
        return 2
    ready, all_well = build(programs)
    at_commit, collected = commit(), []
    for program in ready:
        figures, well = figures_of(program, names, at_commit)
        if not well:
            say(f"error: {program.command} failed")
        all_well = all_well and well
        collected += figures
        if "--table" not in arguments:
            for figure in figures:
                print(json.dumps(figure), flush=True)
    if "--table" in arguments:
        table(collected)
    return 0 if all_well and collected else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
