"""Time and chance, as the door sees them: both are handed in, so that tests run on a virtual clock.

Deadlines are never computed from the wall clock; it is only written down for people.
"""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Final, Protocol

Chance = Callable[[], float]
"""A number in [0, 1)."""


class Clock(Protocol):
    """What the door asks of time."""

    def monotonic(self) -> float:
        """Seconds from an arbitrary start; never goes back, goes on while the process or the machine sleeps."""
        ...

    def wall(self) -> datetime:
        """The time of day, UTC; may be wrong."""
        ...

    async def sleep(self, seconds: float) -> None:
        """Returns after so many seconds."""
        ...


class SystemClock:
    """The machine's own clocks."""

    def monotonic(self) -> float:
        # CLOCK_MONOTONIC stands still while a machine is suspended; a lease does not.
        return time.clock_gettime(time.CLOCK_BOOTTIME)

    def wall(self) -> datetime:
        return datetime.now(UTC)

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)


SYSTEM_CLOCK: Final = SystemClock()


def system_chance() -> float:
    """Jitter needs no secrecy."""
    return random.random()  # noqa: S311


def micro_time(moment: datetime) -> str:
    """A moment as Kubernetes' MicroTime. Shape: `2026-11-29T16:02:34.000001Z`."""
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
