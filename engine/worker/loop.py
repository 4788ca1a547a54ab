"""The one loop of all controllers: a key that changed, what is around it, what is planned, what is done.

Knows no kind. A key is planned anew from what is true by then whenever a write fails.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from engine.cluster.actions import Action, Apply, EmitEvent, target
from engine.cluster.clock import Clock
from engine.cluster.compare import needs_apply
from engine.cluster.decode import as_map
from engine.cluster.errors import Conflict, NotLeader
from engine.cluster.informer import Informer
from engine.cluster.queue import QueueSettings, WorkQueue, run_workers
from engine.cluster.resources import ObjectKey
from engine.cluster.tally import Done, Tally, tallied
from engine.cluster.turns import Turns
from engine.cluster.writers import Lookup, Result, Writer
from engine.worker.log import Log
from engine.worker.urgent import Urgent

N = TypeVar("N")


@dataclass(frozen=True, slots=True)
class Work(Generic[N]):
    """What one controller is about.

    Shape: `keys` are all it must look at when it begins; `observe` gives None for a key that needs nothing;
    `again` says when a key changes by time alone; `after` are the informers that must have listed once before it begins;
    `turns` are shared by controllers whose keys are the same objects; `gives_way_to` is what goes before any key of it.
    """

    name: str
    keys: Callable[[], Iterable[str]]
    observe: Callable[[str], N | None]
    plan: Callable[[N], Sequence[Action]]
    again: Callable[[N], float | None] = lambda _seen: None
    window_seconds: float = 0.0
    after: tuple[Informer[Any], ...] = ()
    turns: Turns | None = None
    gives_way_to: Urgent | None = None


class Controller(Generic[N]):
    """One controller at work; `add` may be called at any time, and does nothing while this process does not lead."""

    def __init__(
        self, work: Work[N], writer: Writer, lookup: Lookup, clock: Clock, log: Log, *, workers: int = 1
    ) -> None:
        self.name = work.name
        self.tally = Tally()
        self._work = work
        self._writer = writer
        self._lookup = lookup
        self._clock = clock
        self._log = log.bind(controller=work.name)
        self._workers = workers
        self._queue: WorkQueue[str] | None = None

    @property
    def queue(self) -> WorkQueue[str] | None:
        """The keys that wait, while this process leads."""
        return self._queue

    def add(self, keys: Iterable[str]) -> None:
        """These keys may need something."""
        if self._queue is not None:
            for key in sorted(keys):
                self._queue.add(key)

    def notice(self, keys: Iterable[str]) -> None:
        """Objects of these keys are others now: a key is worked on only if a write would come of it.

        The echo of an own write would otherwise open a window, and the next change would wait for its end.
        """
        if self._queue is not None:
            self.add(key for key in set(keys) if not self._queue.is_ready(key) and self._would_write(key))

    async def lead(self) -> None:
        """Works until it is cancelled."""
        for informer in self._work.after:
            await informer.wait_synced()
        self._queue = WorkQueue(self._clock, QueueSettings(window_seconds=self._work.window_seconds))
        self.add(self._work.keys())
        work = tallied(self._one, self.tally, self._clock)
        try:
            await run_workers(self._queue, work, workers=self._workers, report=self._failed)
        finally:
            self._queue = None

    async def _one(self, key: str) -> Done:
        if self._work.gives_way_to is not None:
            await self._work.gives_way_to.give_way()
        if self._work.turns is None:
            return await self._pass_over(key)
        async with self._work.turns.of(key):
            return await self._pass_over(key)

    async def _pass_over(self, key: str) -> Done:
        seen = self._work.observe(key)
        if seen is None:
            return Done.UNCHANGED
        done = Done.UNCHANGED
        actions = self._work.plan(seen)
        for outcome in await self._writer.apply_actions(actions):
            match outcome.action, outcome.result:
                case EmitEvent(note=note), _:
                    self._log.warning("told", object=target(outcome.action), note=note)
                case _, Result.WRITTEN:
                    done = Done.WRITTEN
                    did = type(outcome.action).__name__.lower()
                    self._log.info("wrote", action=did, object=target(outcome.action))
        again = self._work.again(seen)
        if again is not None and self._queue is not None:
            self._queue.add_after(key, again)
        return done

    def _would_write(self, key: str) -> bool:
        seen = self._work.observe(key)
        return seen is not None and any(self._differs(action) for action in self._work.plan(seen))

    def _differs(self, action: Action) -> bool:
        if not isinstance(action, Apply):
            return True
        metadata = action.body["metadata"]
        live = self._lookup(action.resource, ObjectKey(metadata.get("namespace", ""), metadata["name"]))
        return live is None or needs_apply(as_map(live), action.body, action.manager)

    def _failed(self, key: str, error: Exception) -> None:
        tell_failure(self._log, key, error)


def tell_failure(log: Log, key: object, error: Exception) -> None:
    """One line about a pass that failed; it is tried again."""
    if isinstance(error, Conflict):
        # Somebody wrote first; the cache has not told yet.
        log.info("lost a race", key=key, error=error)
    elif isinstance(error, NotLeader):
        log.warning("held back", key=key, error=error)
    else:
        log.failure("failed", key=key, error=error, type=type(error).__name__)
