"""Events for users (events.k8s.io/v1): the first is written at once, repetitions become a series.

An Event never fails what it tells about: trouble is reported and dropped. Nothing is written while nothing happens.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from engine.cluster.actions import EmitEvent
from engine.cluster.client import Client
from engine.cluster.clock import micro_time
from engine.cluster.errors import ClusterError, NotFound
from engine.cluster.resources import EVENTS

SERIES_SECONDS: Final = 360.0
"""A repetition within this time continues the series; later it is a new Event. Source: client-go's events broadcaster."""
WRITE_SECONDS: Final = 60.0
"""A running series is written at most so often; what came between is in the next count. Chosen here."""
REMEMBERED: Final = 4096
NOTE_BYTES: Final = 1024
"""Source: events.k8s.io/v1, `note`: at most 1 kB."""


@dataclass(slots=True)
class _Series:
    name: str
    namespace: str
    count: int
    seen_at: float
    written_at: float


class EventRecorder:
    """Writes the Events of one process. `component` is the reporting controller, `instance` this process."""

    def __init__(
        self,
        client: Client,
        *,
        component: str,
        instance: str,
        default_namespace: str = "default",
        report: Callable[[EmitEvent, ClusterError], None] = lambda _event, _error: None,
    ) -> None:
        self._client = client
        self._component = component
        self._instance = instance
        self._default_namespace = default_namespace
        self._report = report
        self._series: OrderedDict[EmitEvent, _Series] = OrderedDict()
        self._number = 0

    async def emit(self, event: EmitEvent) -> None:
        """Tells it. Two events are the same when they say the same about the same object."""
        now = self._client.clock.monotonic()
        series = self._series.get(event)
        try:
            if series is None or now - series.seen_at > SERIES_SECONDS:
                await self._begin(event, now)
            else:
                await self._go_on(event, series, now)
        except ClusterError as error:
            self._report(event, error)

    async def _begin(self, event: EmitEvent, now: float) -> None:
        # Events about cluster-wide objects live in `default`, as the API demands.
        namespace = event.regarding.key.namespace or self._default_namespace
        wall = self._client.clock.wall()
        micros, self._number = int(wall.timestamp() * 1_000_000), self._number + 1
        # Time, chance and a count: no two Events of one process share a name, hardly two of different ones.
        name = f"{event.regarding.key.name[:200]}.{micros:x}{int(self._client.chance() * 65536):04x}{self._number:x}"
        body = EVENTS.body(
            name,
            namespace,
            eventTime=micro_time(wall),
            reportingController=self._component,
            reportingInstance=self._instance[:128],
            action=event.action,
            reason=event.reason,
            note=_cut(event.note),
            type=event.kind,
            regarding=event.regarding.as_map(),
        )
        if event.related is not None:
            body["related"] = event.related.as_map()
        # Remembered before it is written: of two that come together, the second is a repetition.
        self._series[event] = _Series(name, namespace, 1, now, now)
        self._series.move_to_end(event)
        while len(self._series) > REMEMBERED:
            self._series.popitem(last=False)
        try:
            await self._client.create(EVENTS, body, manager=self._component)
        except ClusterError:
            self._series.pop(event, None)
            raise

    async def _go_on(self, event: EmitEvent, series: _Series, now: float) -> None:
        series.count += 1
        series.seen_at = now
        if series.count > 2 and now - series.written_at < WRITE_SECONDS:
            return
        series.written_at = now
        patch = {"series": {"count": series.count, "lastObservedTime": micro_time(self._client.clock.wall())}}
        try:
            await self._client.merge_patch(
                EVENTS, series.name, patch, manager=self._component, namespace=series.namespace
            )
        except NotFound:
            # Events are swept after an hour; a series that outlives its Event begins anew.
            await self._begin(event, now)


def _cut(note: str) -> str:
    encoded = note.encode()
    if len(encoded) <= NOTE_BYTES:
        return note
    return encoded[: NOTE_BYTES - 3].decode(errors="ignore") + "…"
