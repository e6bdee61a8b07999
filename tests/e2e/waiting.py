"""Waiting for what somebody else does, with a deadline."""

import threading
import time

LOOK_AGAIN_S = 0.05


def pause(seconds=LOOK_AGAIN_S):
    """Between two looks at what cannot tell by itself that it changed."""
    threading.Event().wait(seconds)


def until(look, within_s, trouble):
    """Looks until there is something to see, and gives it; fails with `trouble()` when the time is over."""
    deadline = time.monotonic() + within_s
    while not (seen := look()):
        assert time.monotonic() < deadline, trouble()
        pause()
    return seen
