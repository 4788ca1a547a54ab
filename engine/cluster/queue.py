"""Which key is worked on next: once each, one worker a key, retries that slow down, bursts that are gathered.

Keys are any hashable values. What work is done with a key is the worker's (`run_workers`).
"""

from __future__ import annotations

import asyncio
import heapq
from collections import deque
from collections.abc import Awaitable, Callable, Hashable
from dataclasses import dataclass
from typing import Final, Generic, TypeVar

from engine.cluster.clock import Clock
from engine.cluster.errors import Busy, NotLeader

K = TypeVar("K", bound=Hashable)

NOT_LEADING_SECONDS: Final = 2.0
"""A key that was held back for want of the lease. Chosen: as long as until the next attempt to renew it."""

LEAST_SECONDS: Final = 0.001
"""What is due sooner is due then. A difference of two times may be a rounding error, and waiting for that is no waiting."""


class QueueClosed(Exception):  # noqa: N818 - a signal to stop, not a fault
    """The queue is closed and empty."""


@dataclass(frozen=True, slots=True)
class QueueSettings:
    """`window_seconds` 0 gathers nothing. Retries: base × 2^n up to the cap, for ever."""

    window_seconds: float = 0.0
    retry_base_seconds: float = 0.05
    retry_cap_seconds: float = 60.0


class WorkQueue(Generic[K]):
    """A first change of a key goes out at once; later changes wait for the end of its window, then go out as one."""

    def __init__(self, clock: Clock, settings: QueueSettings = QueueSettings()) -> None:
        self._clock = clock
        self._settings = settings
        self._ready: deque[K] = deque()
        self._queued: set[K] = set()
        self._active: set[K] = set()
        self._again: set[K] = set()
        self._waiting: dict[K, float] = {}
        self._timers: list[tuple[float, int, K]] = []
        self._order = 0
        self._window_ends: dict[K, float] = {}
        self._windows_swept_at = 1024
        self._failures: dict[K, int] = {}
        self._is_closed = False
        self._idle: deque[asyncio.Future[None]] = deque()
        self._taken = asyncio.Event()
        self._taken.set()
        self._timekeeper: asyncio.Future[None] | None = None

    def __len__(self) -> int:
        """Keys ready to be worked on: the queue's depth."""
        return len(self._ready)

    @property
    def delayed(self) -> int:
        """Keys that wait for the end of a window, for a time, or to be tried again."""
        return len(self._waiting)

    @property
    def failing(self) -> int:
        """Keys whose last work failed."""
        return len(self._failures)

    @property
    def is_idle(self) -> bool:
        """Nothing is ready or being worked on; delayed keys do not count."""
        return not (self._ready or self._active)

    def add(self, key: K) -> None:
        """A change of this key was seen."""
        if self._is_closed or key in self._queued:
            return
        if key in self._active:
            self._again.add(key)
            return
        now = self._clock.monotonic()
        ends = self._window_ends.get(key, float("-inf"))
        if now < ends:
            self._wait_until(key, ends)
        else:
            self._enqueue(key, now)

    def add_after(self, key: K, seconds: float) -> None:
        """As if a change were seen so much later; an earlier one that is already due stands."""
        if seconds <= 0:
            self.add(key)
        elif not self._is_closed:
            self._wait_until(key, self._clock.monotonic() + max(seconds, LEAST_SECONDS))

    def retry(self, key: K, at_least_seconds: float = 0.0) -> None:
        """The work failed: again, later each time."""
        failures = self._failures.get(key, 0)
        self._failures[key] = failures + 1
        grown = self._settings.retry_base_seconds * 2.0 ** min(failures, 32)
        self.add_after(key, max(at_least_seconds, min(self._settings.retry_cap_seconds, grown)))

    def forget(self, key: K) -> None:
        """The work succeeded: the next failure is the first again."""
        self._failures.pop(key, None)

    def failures(self, key: K) -> int:
        """How often the work on a key has failed in a row."""
        return self._failures.get(key, 0)

    def is_ready(self, key: K) -> bool:
        """Whether the key waits for a worker, so that adding it changes nothing."""
        return key in self._queued

    async def wait_taken(self) -> None:
        """Until no key waits for a worker."""
        await self._taken.wait()

    async def get(self) -> K:
        """The next key; nobody else gets it until `done`. Raises: QueueClosed."""
        while True:
            self._promote()
            if self._ready:
                key = self._ready.popleft()
                if not self._ready:
                    self._taken.set()
                self._queued.discard(key)
                self._active.add(key)
                if self._timers and self._timekeeper is None:
                    self._wake_one()
                return key
            if self._is_closed and not self._active:
                raise QueueClosed
            await self._wait()

    def done(self, key: K) -> None:
        """The worker has let go of the key."""
        self._active.discard(key)
        if key in self._again:
            self._again.discard(key)
            self.add(key)
        if self._is_closed:
            self._wake_all()

    def close(self) -> None:
        """Takes no more keys and drops the delayed ones; what is ready is still worked on."""
        self._is_closed = True
        self._waiting.clear()
        self._timers.clear()
        self._again.clear()
        self._wake_all()

    async def drain(self) -> None:
        """Closes, and returns when the last key is done."""
        self.close()
        while not self.is_idle:
            await self._wait()

    def _enqueue(self, key: K, now: float) -> None:
        self._waiting.pop(key, None)
        if self._settings.window_seconds:
            self._window_ends[key] = now + self._settings.window_seconds
            self._sweep_windows(now)
        self._queued.add(key)
        self._ready.append(key)
        self._taken.clear()
        self._wake_one()

    def _wait_until(self, key: K, when: float) -> None:
        due = self._waiting.get(key)
        if key in self._queued or (due is not None and due <= when):
            return
        self._waiting[key] = when
        self._order += 1
        heapq.heappush(self._timers, (when, self._order, key))
        if self._timers[0][1] == self._order:
            self._wake_one(self._timekeeper)

    def _promote(self) -> None:
        now = self._clock.monotonic()
        while self._timers and self._timers[0][0] <= now:
            when, _, key = heapq.heappop(self._timers)
            if self._waiting.get(key) != when:
                continue  # replaced by an earlier time, or gone out meanwhile
            del self._waiting[key]
            if key in self._active:
                self._again.add(key)
            else:
                self._enqueue(key, now)

    async def _wait(self) -> None:
        """Cost: one waiter keeps the time, and one is woken for each key: a change would else stir every idle worker."""
        waiter = asyncio.get_running_loop().create_future()
        self._idle.append(waiter)
        seconds = None
        if self._timers and self._timekeeper is None:
            self._timekeeper = waiter
            seconds = max(0.0, self._timers[0][0] - self._clock.monotonic())
        try:
            async with asyncio.timeout(seconds):
                await waiter
        except TimeoutError:
            pass
        finally:
            if self._timekeeper is waiter:
                self._timekeeper = None
            if waiter in self._idle:
                self._idle.remove(waiter)

    def _wake_one(self, waiter: asyncio.Future[None] | None = None) -> None:
        """This waiter, or whoever has waited longest. Shape: one whose time is just over wakes by itself."""
        if waiter is None or waiter.done():
            waiter = next((each for each in self._idle if not each.done()), None)
        if waiter is not None:
            self._idle.remove(waiter)
            waiter.set_result(None)

    def _wake_all(self) -> None:
        for _ in range(len(self._idle)):
            self._wake_one()

    def _sweep_windows(self, now: float) -> None:
        if len(self._window_ends) >= self._windows_swept_at:
            self._window_ends = {key: ends for key, ends in self._window_ends.items() if ends > now}
            self._windows_swept_at = max(1024, 2 * len(self._window_ends))


async def run_workers(
    queue: WorkQueue[K],
    work: Callable[[K], Awaitable[None]],
    *,
    workers: int = 1,
    report: Callable[[K, Exception], None] = lambda _key, _error: None,
) -> None:
    """Works on keys until the queue is closed and empty. A failure is reported and its key comes again, later."""

    async def one() -> None:
        while True:
            try:
                key = await queue.get()
            except QueueClosed:
                return
            try:
                await work(key)
            except Exception as error:  # noqa: BLE001 - one bad key must not stop the others
                report(key, error)
                queue.retry(key, _least_seconds(error))
            else:
                queue.forget(key)
            finally:
                queue.done(key)

    async with asyncio.TaskGroup() as group:
        for _ in range(workers):
            group.create_task(one())


def _least_seconds(error: Exception) -> float:
    match error:
        case Busy(retry_after_seconds=seconds):
            return seconds or 0.0
        case NotLeader():
            return NOT_LEADING_SECONDS
        case _:
            return 0.0
