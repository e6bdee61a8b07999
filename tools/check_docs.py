#!/usr/bin/python3
"""Docs that are true: links lead somewhere, and the commands in blocks marked `run` work, in order.

tools/check_docs.py [--build build/dev]     ends with `N passed, N failed`, one case a page and a command
"""

import argparse
import pathlib
import re
import shlex
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tools" / "check"))
from server import Server  # noqa: E402

COMMAND_WITHIN_S = 60


def pages():
    return sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "examples").rglob("*.md")])


def dead_links(page):
    text = re.sub(r"^```.*?^```", "", page.read_text(), flags=re.S | re.M)
    for target in re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", text):
        if "://" not in target and not (page.parent / target).exists():
            yield f"{page.relative_to(ROOT)}: the link to {target} leads nowhere"


def named_files(page):
    """Files of the repository that a page names in `backticks` and that are not there."""
    folders = "src|tools|docs|tests|examples|openapi|benchmarks|cmake"
    for name in re.findall(rf"`((?:{folders})/[\w./-]+)`", page.read_text()):
        if not (ROOT / name).exists() and not name.startswith("tests/golden"):
            yield f"{page.relative_to(ROOT)}: there is no {name}"


def run_blocks(page):
    for block in re.findall(r"^```run\n(.*?)^```", page.read_text(), flags=re.S | re.M):
        yield from (line for line in block.splitlines() if line.strip())


def run_page(page, build):
    """Runs the page's commands against a server of its own; (passed, failed)."""
    commands = list(run_blocks(page))
    server, passed = Server(build, "2x8:H100-80GB"), 0
    try:
        server.start()
        environment = server.environment(server.state / "admin.token")
        environment["PATH"] = f"{server.bin}:{environment['PATH']}"
        for command in commands:
            done = subprocess.run(
                ["/bin/bash", "-c", command],
                cwd=ROOT,
                env=environment,
                capture_output=True,
                text=True,
                errors="replace",
                stdin=subprocess.DEVNULL,
                timeout=COMMAND_WITHIN_S,
            )
            print(f"$ {command}\n{done.stdout}{done.stderr}")
            if done.returncode != 0:
                print(f"{page.relative_to(ROOT)}: `{command}` ended with {done.returncode}")
                return passed, 1
            passed += 1
        return passed, 0
    except (RuntimeError, OSError, subprocess.TimeoutExpired) as error:
        print(f"{page.relative_to(ROOT)}: {shlex.quote(str(error))}")
        return passed, 1
    finally:
        server.stop()
        server.forget()


def main(arguments):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", default="build/dev")
    parser.add_argument("--links-only", action="store_true", help="start no server")
    options = parser.parse_args(arguments)
    passed = failed = 0
    for page in pages():
        wrong = [*dead_links(page), *named_files(page)]
        print("\n".join(wrong), end="\n" if wrong else "")
        passed, failed = passed + (not wrong), failed + bool(wrong)
    if not options.links_only:
        for page in pages():
            if any(run_blocks(page)):
                more = run_page(page, ROOT / options.build)
                passed, failed = passed + more[0], failed + more[1]
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
