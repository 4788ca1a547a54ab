"""One at a time for each object: controllers that write different parts of one object take turns.

Guarded writes that overlap refuse each other, and each refusal is a request and a pass for nothing. Other processes are not
known here; against them there is the guard itself.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager


class Turns:
    """Turns by key. Cost: nothing is kept of a key that nobody holds or waits for."""

    def __init__(self) -> None:
        self._waiting: dict[str, int] = {}
        self._locks: dict[str, asyncio.Lock] = {}

    @asynccontextmanager
    async def of(self, key: str) -> AsyncIterator[None]:
        """Until the block ends nobody else has a turn of this key; first come, first served."""
        lock = self._locks.setdefault(key, asyncio.Lock())
        self._waiting[key] = self._waiting.get(key, 0) + 1
        try:
            async with lock:
                yield
        finally:
            self._waiting[key] -= 1
            if not self._waiting[key]:
                del self._waiting[key], self._locks[key]

    def __len__(self) -> int:
        """Keys that somebody holds or waits for."""
        return len(self._locks)
