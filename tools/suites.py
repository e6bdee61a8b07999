#!/usr/bin/python3
"""Builds the tests, runs every suite, counts test cases. Called by ./test, which installs first.

A suite is one of
  a CTest case of the `dev` build    named as in CMake: base, core, store/sqlite
  a check of the source tree         named in SCRIPTS below
  a file tests/e2e/test_*.py         named e2e/test_x; run by pytest on the real programs
  asan                               the quick C++ suites again, under the sanitizers

What a suite prints is kept in build/test-logs/ and shown only when it fails.
"""

import concurrent.futures
import dataclasses
import json
import os
import pathlib
import re
import subprocess
import sys
import threading
import time

from case_counts import count_cases

ROOT = pathlib.Path(__file__).resolve().parent.parent
LOGS = ROOT / "build" / "test-logs"
VENV = ROOT / "build" / "venv"
PYTHON = "/usr/bin/python3"
AT_ONCE = 2
ASAN_BEFORE_MIN = 15  # a slow machine leaves the second build of everything out, and says so

# Checks written in Python: (name, command, quick). Each prints `N passed, N failed` at its end.
SCRIPTS = [
    ("include_rules", [PYTHON, "tools/check_includes.py", "--suite"], True),
    ("tidy", [PYTHON, "tools/tidy.py", "--suite"], True),
    ("format", [PYTHON, "tools/check_format.py"], True),
    ("tools", [PYTHON, "-m", "unittest", "discover", "-s", "tests/tools", "-t", "tests/tools"], True),
    ("examples", [PYTHON, "-m", "unittest", "discover", "-s", "tests/examples", "-t", "tests/examples"], True),
    ("docs", [PYTHON, "tools/check_docs.py"], False),
    ("check", [PYTHON, "tools/check/main.py", "--build", "build/dev", "--suite"], False),
]


@dataclasses.dataclass
class Suite:
    name: str
    command: list
    quick: bool
    timeout_s: int = 300
    cwd: pathlib.Path = ROOT
    environment: dict = dataclasses.field(default_factory=dict)
    alone: bool = False  # starts servers or measures time: not beside another of its kind


@dataclasses.dataclass
class Result:
    suite: Suite
    passed: int
    failed: int
    seconds: float
    note: str = ""


def say(text):
    print(text, flush=True)


# --- finding ------------------------------------------------------------------------------------


def ctest_suites(build):
    listing = subprocess.run(
        ["ctest", "--test-dir", build, "--show-only=json-v1"], cwd=ROOT, check=True, capture_output=True, text=True
    ).stdout
    suites = []
    for test in json.loads(listing)["tests"]:
        if "command" not in test:
            continue
        properties = {p["name"]: p["value"] for p in test.get("properties", [])}
        environment = dict(item.split("=", 1) for item in properties.get("ENVIRONMENT", []))
        suites.append(
            Suite(
                name=test["name"],
                command=test["command"],
                quick="slow" not in properties.get("LABELS", []),
                timeout_s=int(float(properties.get("TIMEOUT", 300))),
                cwd=pathlib.Path(properties.get("WORKING_DIRECTORY", ROOT)),
                environment=environment,
                alone=bool(properties.get("RUN_SERIAL", False)),
            )
        )
    return suites


def script_suites():
    found = []
    for name, command, quick in SCRIPTS:
        there = command[1] if command[1] != "-m" else command[5]
        if (ROOT / there).exists():
            found.append(Suite(name, command, quick, alone=name in ("check", "docs")))
    return found


def e2e_suites():
    return [
        Suite(
            f"e2e/{path.stem}",
            [str(VENV / "bin" / "python"), "-m", "pytest", "-q", "-p", "no:cacheprovider", str(path)],
            quick=False,
            timeout_s=900,
            alone=True,
            environment={"HEDDLE_BUILD": str(ROOT / "build/dev")},
        )
        for path in sorted((ROOT / "tests" / "e2e").glob("test_*.py"))
    ]


# --- building -----------------------------------------------------------------------------------


def configure(preset):
    """'' or what went wrong."""
    done = subprocess.run(
        ["cmake", "--preset", preset], cwd=ROOT, capture_output=True, text=True, stdin=subprocess.DEVNULL
    )
    return "" if done.returncode == 0 else (done.stdout + done.stderr)[-4000:]


def build(preset, targets=()):
    """Configures and builds; the text of what went wrong, empty when it went well."""
    started = time.monotonic()
    log = LOGS / f"build-{preset}.log"
    trouble = configure(preset)
    if not trouble:
        with log.open("w") as out:
            command = ["cmake", "--build", f"build/{preset}"]
            code = run_with_progress(command + (["--target", *targets] if targets else []), out, preset)
        trouble = first_error(log) if code else ""
    word = "FAILED" if trouble else "ok"
    say(f"build      {preset:<28} {word:>12}  {time.monotonic() - started:7.1f} s")
    return trouble


def first_error(log):
    lines = log.read_text(errors="replace").splitlines()
    failures = [i for i, line in enumerate(lines) if line.startswith("FAILED") or "error:" in line]
    first = failures[0] if failures else max(0, len(lines) - 40)
    return "\n".join(lines[first : first + 60])


def run_with_progress(command, out, preset):
    """Like subprocess.run, with a line every half minute about how far ninja is."""
    process = subprocess.Popen(
        command,
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        stdin=subprocess.DEVNULL,
        env={**os.environ, "NINJA_STATUS": "[%f/%t] "},
    )
    said = time.monotonic()
    for line in process.stdout:
        out.write(line)
        step = re.match(r"\[(\d+/\d+)\]", line)
        if step and time.monotonic() - said > 30:
            said = time.monotonic()
            say(f"build      {preset:<28} {step[1]:>12}")
    return process.wait()


def prepare_venv():
    """The Python packages of tests/requirements.txt, exact versions with hashes; '' or what failed."""
    wanted = (ROOT / "tests" / "requirements.txt").read_text()
    stamp = VENV / "installed.txt"
    if stamp.exists() and stamp.read_text() == wanted:
        return ""
    started = time.monotonic()
    for command in (
        [PYTHON, "-m", "venv", "--clear", str(VENV)],
        [
            str(VENV / "bin" / "pip"),
            "install",
            "-q",
            "--disable-pip-version-check",
            "--require-hashes",
            "--only-binary",
            ":all:",
            "-r",
            "tests/requirements.txt",
        ],
    ):
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, stdin=subprocess.DEVNULL)
        if done.returncode != 0:
            return done.stdout + done.stderr
    stamp.write_text(wanted)
    say(f"packages   {'Python test packages':<28} {'ok':>12}  {time.monotonic() - started:7.1f} s")
    return ""


# --- running ------------------------------------------------------------------------------------

ONE_AT_A_TIME = threading.Lock()


def log_of(suite):
    return LOGS / (suite.name.replace("/", "_") + ".log")


def run_suite(suite):
    if suite.alone:
        with ONE_AT_A_TIME:
            return run_now(suite)
    return run_now(suite)


def run_now(suite):
    started = time.monotonic()
    note = ""
    with log_of(suite).open("wb") as out:
        process = subprocess.Popen(
            suite.command,
            cwd=suite.cwd,
            stdout=out,
            stderr=subprocess.STDOUT,
            stdin=subprocess.DEVNULL,
            env={**os.environ, **suite.environment},
            start_new_session=True,
        )
        try:
            exit_code = process.wait(suite.timeout_s)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, 9)  # the group that we made for it
            process.wait()
            exit_code, note = -1, f"stopped after {suite.timeout_s} s"
    text = log_of(suite).read_text(errors="replace")
    passed, failed = count_cases(text, exit_code)
    if exit_code < 0 and not note:
        note = f"killed by signal {-exit_code}"
    return Result(suite, passed, failed, time.monotonic() - started, note)


def show(result):
    word = "ok" if result.failed == 0 else "FAIL"
    failed = f", {result.failed} failed" if result.failed else ""
    note = f"  {result.note}" if result.note else ""
    say(f"{word:<10} {result.suite.name:<28} {result.passed:>5} passed{failed}  {result.seconds:7.1f} s{note}")


def run_all(suites):
    results = []
    longest_first = sorted(suites, key=lambda s: not s.alone)
    with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
        for done in concurrent.futures.as_completed([pool.submit(run_suite, s) for s in longest_first]):
            results.append(done.result())
            show(results[-1])
    return results


def run_asan():
    """The quick C++ suites under the address and undefined-behaviour sanitizers: (results, trouble)."""
    trouble = configure("asan")
    if trouble:
        return [], trouble
    suites = [s for s in ctest_suites("build/asan") if s.quick]
    programs = sorted({pathlib.Path(s.command[0]).name for s in suites if "/bin/" in s.command[0]})
    trouble = build("asan", programs)
    if trouble:
        return [], trouble
    for suite in suites:
        suite.name = f"asan/{suite.name}"
    return run_all(suites), ""


def tail(result, lines=60):
    text = log_of(result.suite).read_text(errors="replace").splitlines()
    return "\n".join(text[-lines:])


# --- the whole ----------------------------------------------------------------------------------


def choose(arguments, suites):
    """The suites that the arguments name, and the names that fit none."""
    names = [a for a in arguments if not a.startswith("-")]
    if names:
        chosen = [s for s in suites if s.name in names or s.name.split("/")[-1] in names]
        known = {s.name for s in suites} | {s.name.split("/")[-1] for s in suites}
        return chosen, [n for n in names if n not in known]
    if "--fast" in arguments:
        return [s for s in suites if s.quick], []
    return suites, []


def finish(results, troubles):
    passed = sum(r.passed for r in results)
    failed = sum(r.failed for r in results) + len(troubles)
    for name, text in troubles:
        say(f"\n--- {name}\n{text}")
    for result in results:
        if result.failed:
            say(f"\n--- {result.suite.name} (all of it: {log_of(result.suite).relative_to(ROOT)})")
            say(tail(result))
    if passed + failed == 0:
        failed = 1
        say("nothing ran")
    say(f"\n{passed} passed, {failed} failed")
    return 1 if failed else 0


def main(arguments):
    started = time.monotonic()
    names = [a.removesuffix(".py") for a in arguments if not a.startswith("-")]
    unknown_flags = [a for a in arguments if a.startswith("-") and a not in ("--fast", "--list")]
    if unknown_flags:
        say(f"error: ./test knows no {unknown_flags[0]}. See ./test --help")
        return 2
    if names == ["v2"]:
        say("./test v2 (a qemu guest with pure cgroup v2) is not built yet: that mode is untested.")
        return 2
    LOGS.mkdir(parents=True, exist_ok=True)

    trouble = build("dev")
    if trouble:
        return finish([], [("build dev", trouble)])
    suites = ctest_suites("build/dev") + script_suites() + e2e_suites()
    if "--list" in arguments:
        for suite in suites:
            say(suite.name)
        say("asan")
        return 0

    wants_asan = "asan" in names or (not names and "--fast" not in arguments)
    chosen, unknown = choose([n for n in names if n != "asan"] + [a for a in arguments if a.startswith("-")], suites)
    if names == ["asan"]:
        chosen = []
    if unknown:
        say(f"error: no suite {unknown[0]}. ./test --list names them")
        return 2

    troubles = []
    if any(s.name.startswith("e2e/") for s in chosen):
        trouble = prepare_venv()
        if trouble:
            troubles.append(("Python test packages", trouble))
            chosen = [s for s in chosen if not s.name.startswith("e2e/")]
    results = run_all(chosen)
    if wants_asan:
        minutes = (time.monotonic() - started) / 60
        if not names and minutes > ASAN_BEFORE_MIN:
            say(f"left out   asan                         {minutes:.0f} min have passed; run it alone: ./test asan")
            return finish(results, troubles)
        more, trouble = run_asan()
        results += more
        troubles += [("build asan", trouble)] if trouble else []
    return finish(results, troubles)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
