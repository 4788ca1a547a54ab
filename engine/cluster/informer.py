"""Keeps a cache equal to the server: list, watch, resume, list again when the server has forgotten.

Every failure ends in a growing, jittered wait, so there is no hot loop on 500, 401, 410 or a server that closes at once. One
object that cannot be read is reported and skipped; the others go on. Handlers run in the loop and must not block.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Generic

import msgspec

from engine.cluster.cache import Cache
from engine.cluster.caller import retry_after
from engine.cluster.client import EVERYTHING, PAGE, Client, Selection
from engine.cluster.decode import WatchEvent
from engine.cluster.errors import ClusterError, Gone, NotFound, ServerFault
from engine.cluster.objects import Broken
from engine.cluster.resources import HasMeta, ObjectKey, Resource, T, key_of
from engine.cluster.retry import Backoff

STARTING_SECONDS: Final = 2.0
"""A starting kube-apiserver (1.36) answers 503 with Retry-After 5 about a second before it is ready; waiting all of that
would leave caches behind for longer than they may be. One request in two seconds is no burden. 429 is obeyed in full."""

Handler = Callable[[T | None, T | None], None]
"""Told of a change: (before, after); None before an object is there and after it is gone."""


@dataclass(frozen=True, slots=True)
class Trouble:
    """Something to log and count; the informer has dealt with it."""

    resource: str
    what: str
    error: Exception | None = None
    broken: Broken | None = None


@dataclass(frozen=True, slots=True)
class InformerSettings:
    """Times. A cache equals the server within 5 s of recovery, so the cap stays below that with room for the list.

    Shape: `rest_seconds` is how long changes after one are gathered: for a kind that changes all the time.
    """

    watch_seconds: int = 300
    idle_seconds: float = 120.0
    healthy_seconds: float = 5.0
    backoff_base_seconds: float = 0.2
    backoff_cap_seconds: float = 3.0
    page: int = PAGE
    rest_seconds: float = 0.0


DEFAULT_SETTINGS: Final = InformerSettings()


class Informer(Generic[T]):
    """One kind. Counters: `lists` and `watches` begun, `troubles` reported. `is_served`: the server knows the kind."""

    def __init__(
        self,
        client: Client,
        resource: Resource[T],
        selection: Selection = EVERYTHING,
        *,
        settings: InformerSettings = DEFAULT_SETTINGS,
        report: Callable[[Trouble], None] = lambda _: None,
    ) -> None:
        self.resource = resource
        self.cache: Cache[T] = Cache()
        self.lists = 0
        self.watches = 0
        self.troubles = 0
        self.is_served = True
        self._client = client
        self._selection = selection
        self._settings = settings
        self._report = report
        self._handlers: list[tuple[Handler[T], bool]] = []
        self._broken_handlers: list[Callable[[ObjectKey], None]] = []
        self._version: str | None = None
        self._was_gone = False
        self._synced = asyncio.Event()
        self._backoff = Backoff(
            client.chance, base_seconds=settings.backoff_base_seconds, cap_seconds=settings.backoff_cap_seconds
        )

    @property
    def has_synced(self) -> bool:
        """One whole list has been seen."""
        return self._synced.is_set()

    async def wait_synced(self) -> None:
        """Returns once `has_synced`."""
        await self._synced.wait()

    def add_handler(self, handler: Handler[T], *, of_versions: bool = True) -> None:
        """Told of everything here already, then of every change.

        Shape: without `of_versions` not of one in which nothing differs that is read: most of what a kubelet says of its Node.
        Whoever writes takes the version from the cache then, and not from what it was told.
        """
        self._handlers.append((handler, of_versions))
        for thing in self.cache:
            self._call(handler, None, thing)

    def add_broken_handler(self, handler: Callable[[ObjectKey], None]) -> None:
        """Told of every object that cannot be read, each time it comes; `cache.broken` says why."""
        self._broken_handlers.append(handler)

    def learn(self, thing: T) -> None:
        """An object as the answer to a write has it, so that it is known before the watch tells.

        One that is not in the cache is new only while the watch is behind it: else it has come and gone since. Handlers are
        told as of any change.
        """
        known = self.cache.get(thing.metadata.name, thing.metadata.namespace)
        if known is None:
            # Of a part of a kind nobody can tell whether it belongs to it.
            if self._selection == EVERYTHING and self._version is not None and _is_behind(self._version, thing):
                self._put(thing)
        elif known.metadata.uid == thing.metadata.uid and _is_older(known, thing):
            self._put(thing)

    async def run(self) -> None:
        """Never returns; cancel it."""
        while True:
            asked_seconds: float | None = None
            least_seconds = 0.0
            try:
                if self._version is None:
                    await self._list()
                await self._watch()
            except Gone:
                self._version = None
                if not self._was_gone:
                    self._was_gone = True
                    continue  # the first time is no trouble: the server restarted, or was away for long
            except ClusterError as error:
                self.is_served = not isinstance(error, NotFound)
                self._tell_trouble("lost touch with the API server", error)
                if isinstance(error, ServerFault):
                    least_seconds = min(error.retry_after_seconds or 0.0, STARTING_SECONDS)
                else:
                    asked_seconds = retry_after(error)
            await self._client.clock.sleep(max(least_seconds, self._backoff.next_seconds(asked_seconds)))

    async def _list(self) -> None:
        self.lists += 1
        seen: set[ObjectKey] = set()
        version = ""
        # Gone in the middle ends here and begins anew after a wait; what was already taken over stays true.
        async with contextlib.aclosing(
            self._client.pages(self.resource, self._selection, limit=self._settings.page)
        ) as pages:
            async for page in pages:
                for thing in page.items:
                    seen.add(key_of(thing))
                    self._put(thing)
                for broken in page.broken:
                    seen.add(ObjectKey(broken.namespace, broken.name))
                    self._put_broken(broken)
                version = page.resource_version
                await asyncio.sleep(0)
        for key in self.cache.keys():  # noqa: SIM118 - a sorted copy, not a dictionary
            if key not in seen:
                self._remove(key)
        for key in [key for key in self.cache.broken if key not in seen]:
            del self.cache.broken[key]
        self._version = version
        self.is_served = True
        self._synced.set()

    async def _watch(self) -> None:
        assert self._version is not None
        self.watches += 1
        clock = self._client.clock
        began = clock.monotonic()
        # Watches of many processes must not end at the same moment.
        seconds = int(self._settings.watch_seconds * (1 + self._client.chance()))
        stream = self._client.watch(
            self.resource,
            self._selection,
            resource_version=self._version,
            timeout_seconds=seconds,
            idle_seconds=self._settings.idle_seconds,
            rest_seconds=self._settings.rest_seconds,
        )
        try:
            async with contextlib.aclosing(stream) as events:
                async for event in events:
                    self._take(event)
        finally:
            if clock.monotonic() - began >= self._settings.healthy_seconds:
                self._backoff.reset()

    def _take(self, event: WatchEvent[T]) -> None:
        self.is_served = True
        if event.broken is not None:
            key = ObjectKey(event.broken.namespace, event.broken.name)
            if event.kind == "DELETED":
                self._remove(key)
            else:
                self._put_broken(event.broken)
        elif event.thing is not None and event.kind == "DELETED":
            self._remove(key_of(event.thing))
        elif event.thing is not None:
            self._put_told(event.thing)
        if event.resource_version and event.resource_version != self._version:
            self._version = event.resource_version
            self._was_gone = False
            self._backoff.reset()

    def _put_told(self, thing: T) -> None:
        """What a watch tells may have been learned already. A list is never too old: a store may have been set back."""
        known = self.cache.get(thing.metadata.name, thing.metadata.namespace)
        if known is None or known.metadata.uid != thing.metadata.uid or not _is_older(thing, known):
            self._put(thing)

    def _put(self, thing: T) -> None:
        before = self.cache.put(thing)
        if before is None or before.metadata.resource_version != thing.metadata.resource_version:
            self._tell(before, thing)

    def _put_broken(self, broken: Broken) -> None:
        key = ObjectKey(broken.namespace, broken.name)
        self.cache.broken[key] = broken
        self._tell_trouble("an object cannot be read", broken=broken)
        for handler in self._broken_handlers:
            handler(key)

    def _remove(self, key: ObjectKey) -> None:
        before = self.cache.remove(key)
        if before is not None:
            self._tell(before, None)

    def _tell(self, before: T | None, after: T | None) -> None:
        differs = before is None or after is None or not _is_same(before, after)
        for handler, of_versions in self._handlers:
            if differs or of_versions:
                self._call(handler, before, after)

    def _call(self, handler: Handler[T], before: T | None, after: T | None) -> None:
        try:
            handler(before, after)
        except Exception as error:  # noqa: BLE001 - one handler's fault is not the cache's
            self._tell_trouble("a handler failed", error)

    def _tell_trouble(self, what: str, error: Exception | None = None, broken: Broken | None = None) -> None:
        self.troubles += 1
        self._report(Trouble(str(self.resource), what, error, broken))


def _is_same(before: HasMeta, after: HasMeta) -> bool:
    """But for the version."""
    version = before.metadata.resource_version
    metadata = msgspec.structs.replace(after.metadata, resource_version=version)
    moved = msgspec.structs.replace(after, metadata=metadata)  # type: ignore[type-var]  # whatever is decoded is a struct
    return bool(moved == before)


def _is_older(one: HasMeta, other: HasMeta) -> bool:
    """Of two states of one object."""
    return _is_behind(one.metadata.resource_version, other)


def _is_behind(seen: str, thing: HasMeta) -> bool:
    """A version is from before a state; versions that are no numbers tell nothing."""
    known = thing.metadata.resource_version
    return seen.isdecimal() and known.isdecimal() and int(seen) < int(known)
