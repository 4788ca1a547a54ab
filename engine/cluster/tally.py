"""What became of pieces of work, and how long they took: counted as they end, read when somebody asks.

Knows no kind of work and no format. Counters only grow; they are one process's and begin at zero with it.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Awaitable, Callable, Hashable
from enum import StrEnum
from itertools import accumulate
from typing import Final, TypeVar

from engine.cluster.clock import Clock
from engine.cluster.errors import Conflict, NotLeader

K = TypeVar("K", bound=Hashable)

BOUNDS_SECONDS: Final = (0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1.0, 5.0, 10.0, 30.0)
"""Chosen: a pass that writes nothing takes well under 1 ms, a write some 5 ms, a call is given up after 30 s."""


class Done(StrEnum):
    """What became of one pass over one key."""

    WRITTEN = "written"
    UNCHANGED = "unchanged"
    CONFLICT = "conflict"
    HELD_BACK = "held_back"
    FAILED = "failed"


class Tally:
    """Results and a histogram of seconds."""

    __slots__ = ("_buckets", "results", "seconds")

    def __init__(self) -> None:
        self.results: dict[Done, int] = dict.fromkeys(Done, 0)
        self.seconds = 0.0
        self._buckets = [0] * (len(BOUNDS_SECONDS) + 1)

    def add(self, done: Done, seconds: float) -> None:
        """One more."""
        self.results[done] += 1
        self.seconds += seconds
        self._buckets[bisect_left(BOUNDS_SECONDS, seconds)] += 1

    @property
    def count(self) -> int:
        """All passes that ended."""
        return sum(self._buckets)

    def within(self) -> list[tuple[float, int]]:
        """How many took at most so many seconds. Shape: rising; the last bound is infinite and holds all."""
        return list(zip((*BOUNDS_SECONDS, float("inf")), accumulate(self._buckets), strict=True))


def tallied(work: Callable[[K], Awaitable[Done]], tally: Tally, clock: Clock) -> Callable[[K], Awaitable[None]]:
    """The same work, each pass counted; what it raises is counted and goes on. One that is cancelled is not counted."""

    async def counted(key: K) -> None:
        began = clock.monotonic()
        try:
            done = await work(key)
        except Exception as error:
            tally.add(_done(error), clock.monotonic() - began)
            raise
        tally.add(done, clock.monotonic() - began)

    return counted


def _done(error: Exception) -> Done:
    match error:
        case Conflict():
            return Done.CONFLICT
        case NotLeader():
            return Done.HELD_BACK
        case _:
            return Done.FAILED
