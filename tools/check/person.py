"""Someone who types `heddle ...`: each call is the real program with that person's own token."""

import json
import subprocess
import time

CALL_WITHIN_S = 60.0


class Broken(Exception):
    """A claim of the story did not hold."""


class Person:
    def __init__(self, name, server, token_file):
        self.name, self.server, self.token_file = name, server, token_file

    def command(self, *words):
        return [str(self.server.bin / "heddle"), *map(str, words)]

    def run(self, *words):
        """Runs `heddle words...` to its end."""
        return subprocess.run(
            self.command(*words),
            capture_output=True,
            text=True,
            errors="replace",
            stdin=subprocess.DEVNULL,
            timeout=CALL_WITHIN_S,
            cwd=self.server.folder,
            env=self.server.environment(self.token_file),
        )

    def call(self, *words, exit_code=0):
        """Its standard output. Broken when it ends with another exit code."""
        done = self.run(*words)
        if exit_code is not None and done.returncode != exit_code:
            raise Broken(
                f"`heddle {' '.join(map(str, words))}` by {self.name} ended with {done.returncode}, not "
                f"{exit_code}: {(done.stderr or done.stdout).strip()[:600]}"
            )
        return done.stdout

    def ask(self, *words):
        """What `heddle words... -o json` answers."""
        text = self.call(*words, "-o", "json")
        try:
            return json.loads(text)
        except ValueError as error:
            raise Broken(f"`heddle {' '.join(words)} -o json` printed no JSON: {text[:300]}") from error

    def submit(self, file):
        """The id of the new workload."""
        answer = self.ask("submit", file)
        return answer["id"]

    def show(self, work):
        return self.ask("show", work)

    def logs(self, work, *more):
        """What the job printed, its errors behind its output."""
        done = self.run("logs", work, *more)
        if done.returncode != 0:
            raise Broken(f"`heddle logs {work}` by {self.name} ended with {done.returncode}: {done.stderr[:600]}")
        return done.stdout + done.stderr

    def follow(self, work):
        """`heddle logs -f work`, running; read its stdout line by line."""
        return subprocess.Popen(
            self.command("logs", "-f", work),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            stdin=subprocess.DEVNULL,
            cwd=self.server.folder,
            env=self.server.environment(self.token_file),
        )

    def wait(self, work, reached, within_s, what):
        """Asks until `reached(workload)` holds; the workload."""
        deadline = time.monotonic() + within_s
        while True:
            workload = self.show(work)
            if reached(workload):
                return workload
            if time.monotonic() > deadline:
                why = workload.get("reason") or {}
                raise Broken(
                    f"{workload['name']} is {workload['state']} and not {what} after {within_s:.0f} s "
                    f"{why.get('sentence', '')}{(workload.get('end') or {}).get('message', '')}"
                )
            time.sleep(0.1)


def has_ended(workload):
    return workload["state"] in ("succeeded", "failed", "cancelled")
