"""One Workload after the other: the loop in which verdicts are made, because what one is promised the next must find taken.

The loop of other controllers with a look that waits for the API server. What is looked at and answered is the part's.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import Any

from engine.cluster.clock import Clock
from engine.cluster.informer import Informer
from engine.cluster.queue import WorkQueue, run_workers
from engine.cluster.resources import ObjectKey
from engine.cluster.tally import Done, Tally, tallied
from engine.worker.log import Log
from engine.worker.loop import tell_failure


class Judging:
    """`add` may be called at any time, and does nothing while this process does not lead."""

    name = "node-devices"

    def __init__(
        self,
        judge: Callable[[ObjectKey], Awaitable[Done]],
        keys: Callable[[], Iterable[ObjectKey]],
        after: Sequence[Informer[Any]],
        clock: Clock,
        log: Log,
    ) -> None:
        self.tally = Tally()
        self._judge = judge
        self._keys = keys
        self._after = after
        self._clock = clock
        self._log = log.bind(controller=self.name)
        self._queue: WorkQueue[ObjectKey] | None = None

    @property
    def queue(self) -> WorkQueue[ObjectKey] | None:
        """The keys that wait, while this process leads."""
        return self._queue

    def add(self, keys: Iterable[ObjectKey]) -> None:
        """These Workloads may need an answer."""
        if self._queue is not None:
            for key in sorted(keys):
                self._queue.add(key)

    async def lead(self) -> None:
        """Works until it is cancelled."""
        for informer in self._after:
            await informer.wait_synced()
        self._queue = WorkQueue(self._clock)
        self.add(self._keys())
        try:
            await run_workers(self._queue, tallied(self._judge, self.tally, self._clock), report=self._failed)
        finally:
            self._queue = None

    def _failed(self, key: ObjectKey, error: Exception) -> None:
        tell_failure(self._log, key, error)
