"""What goes first when the API server is busy: the labels of Nodes, which everything else of a Node waits for.

Controllers that write more of the same Nodes give way while urgent keys have to wait. Decides nothing about any key.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any, Final

from engine.cluster.queue import WorkQueue

PATIENCE_SECONDS: Final = 5.0
"""How long one key gives way at most. Chosen: so that Nodes that never cease to change hold nothing up for good, and longer
than a worker's share of a cold start of 1,000 Nodes takes."""

Queue = Callable[[], WorkQueue[Any] | None]
"""The queue of a controller; None while it does not lead."""


class Urgent:
    """The queues that go first."""

    def __init__(self) -> None:
        self._queues: list[Queue] = []

    def add(self, queue: Queue) -> None:
        """One more that others give way to; a queue whose keys come from another is added after it."""
        self._queues.append(queue)

    async def give_way(self) -> None:
        """Returns when no urgent key waits for a worker, or patience is over."""
        try:
            async with asyncio.timeout(PATIENCE_SECONDS):
                for each in self._queues:
                    # Looked at when its turn comes: what leaves one queue may by then wait in the next.
                    queue = each()
                    if queue is not None:
                        await queue.wait_taken()
        except TimeoutError:
            return
