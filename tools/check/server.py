"""A heddled of our own: started on a free port with a fresh state, stopped in the end."""

import contextlib
import os
import pathlib
import shutil
import signal
import subprocess
import tempfile
import time

START_WITHIN_S = 30.0
STOP_WITHIN_S = 30.0


class Server:
    """`build` is a build folder such as build/release. The folder is removed only by forget()."""

    def __init__(self, build, simulate, more=(), listen="127.0.0.1:0"):
        self.bin = pathlib.Path(build).resolve() / "bin"
        # Short and readable by the jobs' own users: they work in folders below it.
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="heddle-"))
        self.state = self.folder / "state"
        self.log = self.folder / "heddled.log"
        self.simulate, self.more, self.listen = simulate, list(more), listen
        self.added_environment = {}  # of the server itself
        self.process = None
        self.address = ""

    def launch(self):
        """Starts it and waits for nothing."""
        with contextlib.suppress(OSError):  # not there, or on a disk that cannot be written
            (self.state / "address").unlink()
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                [
                    str(self.bin / "heddled"),
                    "--state",
                    str(self.state),
                    "--listen",
                    self.listen,
                    "--simulate",
                    self.simulate,
                    *self.more,
                ],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                env={**os.environ, **self.added_environment},
            )

    def start(self):
        """Starts it and waits until it answers; RuntimeError with its last words when it does not."""
        self.launch()
        address = self.state / "address"
        deadline = time.monotonic() + START_WITHIN_S
        while not (address.exists() and address.read_text().strip()):
            if self.process.poll() is not None:
                raise RuntimeError(f"heddled ended with {self.process.returncode}: {self.last_words()}")
            if time.monotonic() > deadline:
                self.stop()
                raise RuntimeError(f"heddled was not ready within {START_WITHIN_S:.0f} s: {self.last_words()}")
            time.sleep(0.02)
        self.address = address.read_text().strip()
        return self

    def stop(self):
        """Asks it to end; its exit code, or -9 when it had to be killed."""
        if self.process is None:
            return 0
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            try:
                self.process.wait(STOP_WITHIN_S)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        return self.process.returncode

    def kill(self):
        """Ends it without warning, as a crash would."""
        self.process.kill()
        self.process.wait()

    def forget(self):
        shutil.rmtree(self.folder, ignore_errors=True)

    def last_words(self, lines=5):
        if not self.log.exists():
            return ""
        return "\n".join(self.log.read_text(errors="replace").splitlines()[-lines:])

    def memory_kib(self):
        for line in pathlib.Path(f"/proc/{self.process.pid}/status").read_text().splitlines():
            if line.startswith("VmRSS:"):
                return int(line.split()[1])
        return 0

    def environment(self, token_file):
        """For the `heddle` program: this server, that person's token, no terminal habits."""
        kept = {name: os.environ[name] for name in ("PATH", "LANG", "TMPDIR") if name in os.environ}
        return {
            **kept,
            "HOME": str(self.folder),
            "HEDDLE_SERVER": self.address,
            "HEDDLE_TOKEN_FILE": str(token_file),
            "NO_COLOR": "1",
        }
