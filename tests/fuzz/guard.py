"""Limits on one try: a second of processor time, and memory that may grow by 200 MB in all.

Processor time, because a busy machine is no hang; and a signal of its own, because pytest's timeout uses the usual one.
"""

from __future__ import annotations

import resource
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

SECONDS = 1.0
MOST_GROWTH_MB = 200


class HangError(Exception):
    """A try took more than its second."""


@contextmanager
def within_a_second() -> Iterator[None]:
    """Raise HangError in what runs inside once it has used its time."""

    def too_long(_number: int, _frame: FrameType | None) -> None:
        raise HangError(f"more than {SECONDS} s")

    before = signal.signal(signal.SIGVTALRM, too_long)
    signal.setitimer(signal.ITIMER_VIRTUAL, SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


def peak_mb() -> float:
    """The most memory the process ever held."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
