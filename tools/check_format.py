#!/usr/bin/python3
"""Fails when a C++ file is not laid out as .clang-format says. `--fix` rewrites those files."""

import concurrent.futures
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
FOLDERS = ("src", "benchmarks", "fuzz", "tests")


def check(files, fix):
    command = ["clang-format", "-i"] if fix else ["clang-format", "--dry-run", "-Werror", "--ferror-limit=1"]
    return subprocess.run(command + files, cwd=ROOT, capture_output=True, text=True)


def main(arguments):
    files = sorted(
        str(p.relative_to(ROOT))
        for folder in FOLDERS
        for p in (ROOT / folder).rglob("*")
        if p.suffix in (".h", ".cpp")
    )
    parts = [files[i::4] for i in range(4) if files[i::4]]
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        done = list(pool.map(lambda part: check(part, "--fix" in arguments), parts))
    failed = any(d.returncode for d in done) or not files
    for one in done:
        print("\n".join(line for line in one.stderr.splitlines() if "error:" in line), end="")
    if failed:
        print("\nmend with: tools/check_format.py --fix")
    print(f"\n{0 if failed else 1} passed, {1 if failed else 0} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
