#!/usr/bin/python3
"""Runs the main job of Heddle without a person: ./run --check

Starts a server in a temporary folder, lets two teams work as people would (with the `heddle` program), checks every
claim, stops the server. Exit 0, or 1 with the reason and where the logs are.
"""

import argparse
import shutil
import signal
import sys
import textwrap
import time

from person import Broken, Person
from server import Server
from story import Story

SIMULATE = "2x8:H100-80GB"


def cancel_what_is_left(server):
    """After a broken story nothing may run on; best effort, the reason was told already."""
    try:
        admin = Person("admin", server, server.state / "admin.token")
        for workload in admin.ask("ps", "--all")["items"]:
            if workload["state"] in ("waiting", "starting", "running"):
                admin.call("cancel", workload["id"], "--yes", exit_code=None)
        deadline = time.monotonic() + 40
        while time.monotonic() < deadline and any(
            w["state"] not in ("succeeded", "failed", "cancelled") for w in admin.ask("ps", "--all")["items"]
        ):
            time.sleep(0.2)
    except Exception as error:  # pylint: disable=broad-except
        print(f"(what still ran could not be cancelled: {error})")


def main(arguments):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", default="build/release", help="build folder with heddled, heddle and heddle-shim")
    parser.add_argument("--suite", action="store_true", help="end with `N passed, N failed`")
    parser.add_argument("--keep", action="store_true", help="keep the folder even when all went well")
    options = parser.parse_args(arguments)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    started = time.monotonic()
    width = min(118, shutil.get_terminal_size((118, 40)).columns)

    def tell(word, text):
        lead = f"{time.monotonic() - started:5.1f} s  {word:<9}"
        print(
            (
                textwrap.fill(
                    text,
                    width,
                    initial_indent=lead,
                    subsequent_indent=" " * len(lead),
                    replace_whitespace=False,
                )
                if word
                else " " * len(lead) + text
            ),
            flush=True,
        )

    server = Server(options.build, SIMULATE)
    story = Story(server, tell)
    trouble = ""
    try:
        server.start()
        tell("start", f"heddled on {SIMULATE} (simulated) at {server.address}")
        story.run()
    except (Broken, RuntimeError, OSError, KeyError, ValueError) as error:
        trouble = str(error) if isinstance(error, (Broken, RuntimeError)) else f"{type(error).__name__}: {error}"
    finally:
        if trouble and server.process is not None and server.process.poll() is None:
            cancel_what_is_left(server)
        code = server.stop()
    if not trouble and code != 0:
        trouble = f"heddled stopped with exit code {code}"
    if trouble:
        print(f"\nbroken: {trouble}\n  logs: {server.log}\n  state: {server.state}")
    else:
        tell("stop", f"heddled stopped with exit code 0; {story.claims} claims held")
        if not options.keep:
            server.forget()
    if options.suite:
        print(f"{story.claims + (not trouble)} passed, {1 if trouble else 0} failed")
    return 1 if trouble else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
