"""What the end-to-end tests share: a server of their own, and that nothing of it is left afterwards."""

import os
import pathlib
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools" / "check"))

from machine import Machine  # noqa: E402
from server import Server  # noqa: E402

BUILD = os.environ.get("HEDDLE_BUILD", str(ROOT / "build/dev"))


@pytest.fixture
def server():
    """A heddled with sixteen simulated GPUs, not started yet. All that it ran is ended with it."""
    made = Server(BUILD, "2x8:H100-80GB")
    yield made
    made.stop()
    Machine(made).end_everything()
    made.forget()
