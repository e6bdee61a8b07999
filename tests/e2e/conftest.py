"""What the end-to-end tests share: a server of their own, and that nothing of it is left afterwards."""

import os
import pathlib
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools" / "check"))

from box import Box  # noqa: E402
from machine import Machine  # noqa: E402
from server import Server  # noqa: E402
from victim import Victim  # noqa: E402

BUILD = os.environ.get("HEDDLE_BUILD", str(ROOT / "build/dev"))


@pytest.fixture
def server():
    """A heddled with sixteen simulated GPUs, not started yet. All that it ran is ended with it."""
    made = Server(BUILD, "2x8:H100-80GB")
    yield made
    made.stop()
    Machine(made).end_everything()
    made.forget()


@pytest.fixture(scope="module")
def box():
    """One server with two teams for a whole file; still the same process, with clean books, at the end."""
    box = Box(Server(BUILD, "2x8:H100-80GB"))
    try:
        yield box
        assert box.server.process.poll() is None, "heddled ended: " + box.server.last_words(20)
    finally:
        box.close()
        Machine(box.server).end_everything()


@pytest.fixture(scope="module")
def victim(box):
    """Work of team vision; it goes on undisturbed whatever the others do."""
    victim = Victim(box)
    yield victim
    victim.is_well()
    (victim.folder / "shared" / "stop").touch()
    assert victim.vera.wait_end(victim.work)["end"]["exit_code"] == 0
