"""Runs the real `heddle` program: one reader with a home folder of his own."""

import os
import pathlib
import pty
import select
import subprocess
import time

BIN = pathlib.Path(os.environ.get("HEDDLE_BUILD", "build/dev")).resolve() / "bin"
WITHIN_S = 30


class Reader:
    def __init__(self, home, server="", token_file=""):
        self.home = pathlib.Path(home)
        self.environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(home),
            "LANG": "C.UTF-8",
            "TZ": "UTC",
            "COLUMNS": "100",
        }
        if server:
            self.environment["HEDDLE_SERVER"] = server
        if token_file:
            self.environment["HEDDLE_TOKEN_FILE"] = str(token_file)

    def run(self, *words, stdin="", cwd=None, **environment):
        return subprocess.run(
            [str(BIN / "heddle"), *map(str, words)],
            input=stdin,
            capture_output=True,
            text=True,
            errors="surrogateescape",
            timeout=WITHIN_S,
            cwd=cwd or self.home,
            env={**self.environment, **environment},
        )

    def start(self, *words, **more):
        return subprocess.Popen(
            [str(BIN / "heddle"), *map(str, words)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=self.home,
            env=self.environment,
            **more,
        )


class Terminal:
    """`heddle` on a terminal of its own; everything that reaches the terminal is recorded."""

    def __init__(self, reader, *words):
        self.recorded = b""
        pid, self.master = pty.fork()
        if pid == 0:
            os.chdir(reader.home)
            os.execve(BIN / "heddle", ["heddle", *map(str, words)], {**reader.environment, "TERM": "xterm"})
        self.pid = pid

    def read(self, deadline):
        """Takes what is there; False at the end."""
        ready, _, _ = select.select([self.master], [], [], max(0.0, deadline - time.monotonic()))
        if not ready:
            raise AssertionError(f"nothing more came; so far: {self.recorded!r}")
        try:
            got = os.read(self.master, 65536)
        except OSError:  # the other side is closed
            return False
        self.recorded += got
        return bool(got)

    def until(self, text):
        deadline = time.monotonic() + WITHIN_S
        while text.encode() not in self.recorded:
            assert self.read(deadline), f"ended without {text!r}: {self.recorded!r}"

    def type(self, text):
        os.write(self.master, text.encode())

    def end(self):
        """Reads to the end; the exit code."""
        deadline = time.monotonic() + WITHIN_S
        while self.read(deadline):
            pass
        os.close(self.master)
        return os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])
