"""What of a server can be seen on the machine: run folders, the programs in them, what is left behind."""

import dataclasses
import os
import pathlib
import re
import signal

from waiting import until

CGROUPS = pathlib.Path("/sys/fs/cgroup")


def fnv(text, bits):
    """The digests by which the local engine names what belongs to a state folder."""
    value, prime = (2166136261, 16777619) if bits == 32 else (14695981039346656037, 1099511628211)
    for byte in text.encode():
        value = ((value ^ byte) * prime) % (1 << bits)
    return f"{value:0{bits // 4}x}"


@dataclasses.dataclass(frozen=True)
class Process:
    pid: int
    start_ticks: int

    def is_alive(self):
        try:
            stat = pathlib.Path(f"/proc/{self.pid}/stat").read_text()
        except OSError:
            return False
        fields = stat[stat.rindex(")") + 2 :].split()
        return int(fields[19]) == self.start_ticks and fields[0] != "Z"


def process_in(text):
    found = re.search(r"pid \d+\n(\d+)\nstart_ticks \d+\n(\d+)\n", text)
    return Process(int(found[1]), int(found[2])) if found else None


def remove_empty(folder):
    try:
        os.rmdir(folder)
    except FileNotFoundError:
        pass
    except OSError:  # something in it is just ending
        return False
    return True


class Machine:
    def __init__(self, server):
        self.state = str(server.state.resolve())
        name = f"heddle-{os.geteuid()}/{fnv(self.state, 64)}/runs"
        places = [pathlib.Path("/run") / name, pathlib.Path("/dev/shm") / name, server.state / "local/runtime/runs"]
        self.places = places
        self.suffix = f"-{fnv(self.state, 32)}"

    def runs(self):
        """The folders of what runs: (allocation, folder)."""
        return [(f.name, f) for place in self.places if place.is_dir() for f in place.iterdir() if f.name[0] != "."]

    def process(self, folder, file):
        """The process named in a file of a run folder (`pid`: its shim, `running`: its program), or None."""
        try:
            return process_in((folder / file).read_text())
        except OSError:
            return None

    def program_of(self, allocation):
        found = [self.process(folder, "running") for name, folder in self.runs() if name == allocation]
        return found[0] if found else None

    def kill_shim(self, folder):
        """SIGKILL to the shim of that run, found by its own file; whether it was there."""
        shim = self.process(folder, "pid")
        if shim is None or not shim.pid or not shim.is_alive():
            return False
        os.kill(shim.pid, signal.SIGKILL)
        return True

    def sandboxes(self):
        """What the kernel still keeps of sandboxes of this server."""
        return [
            f"{parent}/{name}"
            for parent in (CGROUPS / "heddle", *CGROUPS.glob("*/heddle"))
            if parent.is_dir()
            for name in os.listdir(parent)  # others come and go there: names, not files
            if name.endswith(self.suffix)
        ]

    def programs(self, work):
        """Processes of these workloads, by the environment they were started with."""
        wanted = {f"HEDDLE_WORKLOAD_ID={w}".encode() for w in work}
        found = []
        for entry in pathlib.Path("/proc").iterdir():
            try:
                if entry.name.isdigit() and wanted & set((entry / "environ").read_bytes().split(b"\0")):
                    found.append(int(entry.name))
            except OSError:
                pass  # it ended meanwhile
        return found

    def wait_nothing_left(self, work):
        """Neither run folders nor processes nor what the kernel keeps of sandboxes."""

        def left():
            return [f"run {name}" for name, _ in self.runs()] + self.sandboxes() + self.programs(work)

        until(lambda: not left(), 20, lambda: f"left behind: {left()[:10]}")

    def end_everything(self):
        """Ends what a broken test left: the first process of each sandbox takes all others with it."""
        named = [self.process(folder, file) for _, folder in self.runs() for file in ("pid", "running")]
        living = [process for process in named if process and process.pid]
        for process in living:
            if process.is_alive():
                os.kill(process.pid, signal.SIGKILL)
        until(lambda: not any(p.is_alive() for p in living), 10, lambda: "something of a test cannot be ended")
        for sandbox in self.sandboxes():  # whoever would have removed them was killed
            until(lambda s=sandbox: remove_empty(s), 10, lambda s=sandbox: f"{s} cannot be removed")
        for _, folder in self.runs():
            for file in folder.iterdir():
                file.unlink(missing_ok=True)
            folder.rmdir()
        for place in self.places:
            for empty in (place, place.parent / "nets", place.parent):
                if empty.is_dir() and not any(empty.iterdir()) and empty.name != "local":
                    empty.rmdir()
