#!/usr/bin/python3
"""How long building takes: build.clean_s and build.one_file_s. No compiler cache is used.

build.clean_s     the whole dev preset from nothing, in a folder of its own
build.one_file_s  the source file of median size (lines) in src/ is touched: rebuilding what depends on it, and
                  running the tests of its room; the file with the HTTP library is left out
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent


def run(command, **more):
    done = subprocess.run(command, cwd=ROOT, stdout=sys.stderr, stdin=subprocess.DEVNULL, **more)
    if done.returncode != 0:
        sys.exit(f"error: {' '.join(map(str, command))} failed")


def median_source():
    """The .cpp file of median length whose room has tests."""
    files = [
        p
        for p in (ROOT / "src").rglob("*.cpp")
        if not p.stem.endswith("_test") and "boost/" not in p.read_text() and "apps" not in p.parts
    ]
    files.sort(key=lambda p: (len(p.read_text().splitlines()), str(p)))
    return files[len(files) // 2]


def test_target(path, folder):
    """The test program of the room that holds `path`."""
    listing = subprocess.run(["ninja", "-C", folder, "-t", "targets", "all"], capture_output=True, text=True).stdout
    targets = {line.split(":")[0] for line in listing.splitlines()}
    parts = path.relative_to(ROOT / "src").parent.parts
    while parts:
        name = "heddle_" + "_".join(parts) + "_tests"
        if name in targets:
            return name
        parts = parts[:-1]
    return ""


def main():
    with tempfile.TemporaryDirectory(prefix="heddle-bench-") as folder:
        environment = {**os.environ, "CCACHE_DISABLE": "1"}
        run(["cmake", "--preset", "dev", "-B", folder], env=environment)
        started = time.monotonic()
        run(["ninja", "-C", folder], env=environment)
        clean = time.monotonic() - started
        print(
            json.dumps(
                {"name": "build.clean_s", "value": round(clean, 1), "unit": "s", "cores": os.cpu_count(), "goal": 480}
            ),
            flush=True,
        )
        source = median_source()
        target = test_target(source, folder)
        objects = [str(p) for p in pathlib.Path(folder).rglob(source.name + ".o")]
        if not objects:
            sys.exit(f"error: nothing is built from {source}")
        for one in objects:
            os.unlink(one)  # as if the file had changed; the sources stay untouched
        started = time.monotonic()
        run(["ninja", "-C", folder, target], env=environment)
        run([f"{folder}/bin/{target}", "--no-intro", "--no-version"])
        print(
            json.dumps(
                {
                    "name": "build.one_file_s",
                    "value": round(time.monotonic() - started, 2),
                    "unit": "s",
                    "file": str(source.relative_to(ROOT)),
                    "goal": 15,
                }
            ),
            flush=True,
        )


if __name__ == "__main__":
    main()
