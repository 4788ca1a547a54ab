"""A loop whose time jumps to the next timer: minutes of back-off in milliseconds, the same every run.

Nothing here knows the API server. Real sockets and threads do not belong on this loop.
"""

from __future__ import annotations

import asyncio
import selectors
from collections.abc import Coroutine
from datetime import UTC, datetime, timedelta
from typing import Any, TypeVar

R = TypeVar("R")

EPOCH = datetime(2026, 11, 29, 12, 0, 0, tzinfo=UTC)


class _JumpingSelector(selectors.DefaultSelector):
    """Instead of waiting, moves the loop's time on."""

    loop: VirtualLoop

    def select(self, timeout: float | None = None) -> Any:
        if timeout is None:
            raise RuntimeError("a virtual loop with nothing ready and no timer would wait for ever")
        if timeout > 0:
            self.loop.advance(timeout)
        return super().select(0)


class VirtualLoop(asyncio.SelectorEventLoop):
    """An event loop on virtual time."""

    def __init__(self) -> None:
        selector = _JumpingSelector()
        selector.loop = self
        self._virtual_seconds = 1000.0
        super().__init__(selector)

    def time(self) -> float:
        return self._virtual_seconds

    def advance(self, seconds: float) -> None:
        """Time passes without anything running, as when the process is stopped."""
        self._virtual_seconds += seconds


class VirtualClock:
    """`engine.cluster.clock.Clock` on the running loop's time; `skew_seconds` makes the wall clock wrong."""

    def __init__(self, skew_seconds: float = 0.0) -> None:
        self.skew_seconds = skew_seconds

    def monotonic(self) -> float:
        return asyncio.get_running_loop().time()

    def wall(self) -> datetime:
        return EPOCH + timedelta(seconds=self.monotonic() - 1000.0 + self.skew_seconds)

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)


def run(main: Coroutine[Any, Any, R]) -> R:
    """Runs a test on a virtual loop of its own."""
    with asyncio.Runner(loop_factory=VirtualLoop) as runner:
        return runner.run(main)


def half() -> float:
    """A chance that is always the same."""
    return 0.5
