"""Gathers what comes in bursts: the first of a burst is acted on at once, the rest together a little later.

What is done about it is the caller's.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable


class Gathering:
    """Calls `act` soon after `soon` was called, and not twice within `window_seconds`. Needs a running loop."""

    def __init__(self, act: Callable[[], None], window_seconds: float) -> None:
        self._act = act
        self._window_seconds = window_seconds
        self._earliest = float("-inf")
        self._is_due = False

    def soon(self) -> None:
        """There is something."""
        if self._is_due:
            return
        self._is_due = True
        loop = asyncio.get_running_loop()
        loop.call_at(max(loop.time(), self._earliest), self._now)

    def _now(self) -> None:
        self._is_due = False
        self._earliest = asyncio.get_running_loop().time() + self._window_seconds
        self._act()
