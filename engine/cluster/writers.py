"""Carries actions out, comparing before each write.

In order, and stopping at the first that fails: the key is then planned anew from what is true by then. Decides nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, assert_never

from engine.cluster.actions import Action, Apply, Create, Delete, EmitEvent, MergePatch, Update
from engine.cluster.client import Client
from engine.cluster.compare import needs_apply, needs_patch, needs_update
from engine.cluster.decode import as_map
from engine.cluster.errors import AlreadyExists, NotFound
from engine.cluster.events import EventRecorder
from engine.cluster.resources import HasMeta, ObjectKey, Resource

Lookup = Callable[[Resource[Any], ObjectKey], HasMeta | None]
"""What is known of an object, from an informer's cache; None when it is not known."""

Learn = Callable[[Resource[Any], HasMeta], None]
"""Told of an object as the answer to a write has it."""


class Result(StrEnum):
    """What became of an action."""

    WRITTEN = "written"
    UNCHANGED = "unchanged"
    GONE = "gone"


@dataclass(frozen=True, slots=True)
class Outcome:
    """An action and what became of it."""

    action: Action
    result: Result


def nothing_known(_resource: Resource[Any], _key: ObjectKey) -> HasMeta | None:
    """A lookup without caches: everything is written, and the server finds what changes nothing."""
    return None


def unheard(_resource: Resource[Any], _written: HasMeta) -> None:
    """Nobody learns: the watch tells."""


class Writer:
    """Writes for one process. Counter: `writes` sent."""

    def __init__(
        self,
        client: Client,
        *,
        lookup: Lookup = nothing_known,
        learn: Learn = unheard,
        events: EventRecorder | None = None,
        quiet_annotations: frozenset[str] = frozenset(),
    ) -> None:
        self.writes = 0
        self._client = client
        self._lookup = lookup
        self._learn = learn
        self._events = events
        self._quiet = quiet_annotations

    async def apply_actions(self, actions: Iterable[Action]) -> list[Outcome]:
        """All of them, in order. Raises: ClusterError: one failed; those before it stand, those after it were not tried."""
        return [Outcome(action, await self._one(action)) for action in actions]

    async def _one(self, action: Action) -> Result:
        match action:
            case Apply():
                return await self._apply(action)
            case Create():
                return await self._create(action)
            case MergePatch():
                return await self._merge_patch(action)
            case Update():
                return await self._update(action)
            case Delete():
                return await self._delete(action)
            case EmitEvent():
                if self._events is not None:
                    await self._events.emit(action)
                return Result.WRITTEN
            case _:
                assert_never(action)

    async def _apply(self, action: Apply) -> Result:
        live = self._known(action.resource, _body_key(action.body))
        if live is not None and not needs_apply(live, action.body, action.manager, self._quiet):
            return Result.UNCHANGED
        self.writes += 1
        written = await self._client.apply(
            action.resource,
            action.body,
            manager=action.manager,
            force=action.is_forced,
            subresource=action.subresource,
        )
        self._learn(action.resource, written)
        return Result.WRITTEN

    async def _create(self, action: Create) -> Result:
        if self._known(action.resource, _body_key(action.body)) is not None:
            return Result.UNCHANGED
        self.writes += 1
        try:
            written = await self._client.create(action.resource, action.body, manager=action.manager)
        except AlreadyExists:
            return Result.UNCHANGED
        self._learn(action.resource, written)
        return Result.WRITTEN

    async def _merge_patch(self, action: MergePatch) -> Result:
        live = self._known(action.resource, action.key)
        if live is not None and not needs_patch(live, action.patch, self._quiet):
            return Result.UNCHANGED
        self.writes += 1
        written = await self._client.merge_patch(
            action.resource,
            action.key.name,
            action.patch,
            manager=action.manager,
            namespace=action.key.namespace,
            resource_version=action.resource_version,
            subresource=action.subresource,
        )
        self._learn(action.resource, written)
        return Result.WRITTEN

    async def _update(self, action: Update) -> Result:
        # A cache holds only what is read; a whole object can only be compared with a whole object.
        key = _body_key(action.body)
        live = await self._client.get_map(action.resource, key.name, key.namespace)
        if not needs_update(live, action.body, self._quiet):
            return Result.UNCHANGED
        self.writes += 1
        await self._client.update(action.resource, action.body, manager=action.manager, subresource=action.subresource)
        return Result.WRITTEN

    async def _delete(self, action: Delete) -> Result:
        self.writes += 1
        try:
            await self._client.delete(
                action.resource,
                action.key.name,
                action.key.namespace,
                uid=action.uid,
                resource_version=action.resource_version,
                propagation=action.propagation,
            )
        except NotFound:
            return Result.GONE
        return Result.WRITTEN

    def _known(self, resource: Resource[Any], key: ObjectKey) -> dict[str, Any] | None:
        thing = self._lookup(resource, key)
        return None if thing is None else as_map(thing)


def _body_key(body: Any) -> ObjectKey:
    metadata = body["metadata"]
    return ObjectKey(metadata.get("namespace", ""), metadata.get("name", ""))
