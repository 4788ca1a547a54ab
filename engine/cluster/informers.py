"""All informers of a process together: started, waited for, looked into as one.

Each kind has one informer; whoever wants the same kind shares it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any, cast

from engine.cluster.client import EVERYTHING, Client, Selection
from engine.cluster.informer import DEFAULT_SETTINGS, Informer, InformerSettings, Trouble
from engine.cluster.resources import HasMeta, ObjectKey, Resource, T
from engine.errors import ContractError


class Informers:
    """Add every kind first, then `run`."""

    def __init__(
        self,
        client: Client,
        *,
        settings: InformerSettings = DEFAULT_SETTINGS,
        report: Callable[[Trouble], None] = lambda _: None,
    ) -> None:
        self._client = client
        self._settings = settings
        self._report = report
        self._informers: dict[str, tuple[Informer[Any], Selection]] = {}

    def add(self, resource: Resource[T], selection: Selection = EVERYTHING) -> Informer[T]:
        """The informer of a kind. Raises: ContractError: it was added with another selection or struct."""
        found = self._informers.get(str(resource))
        if found is None:
            made = Informer(self._client, resource, selection, settings=self._settings, report=self._report)
            self._informers[str(resource)] = (made, selection)
            return made
        informer, selected = found
        if selected != selection or informer.resource.struct is not resource.struct:
            raise ContractError("one kind is watched in two ways", where=str(resource))
        return cast("Informer[T]", informer)

    def lookup(self, resource: Resource[Any], key: ObjectKey) -> HasMeta | None:
        """What a writer compares with: the cached object, None when it is not there, not watched or not yet listed."""
        found = self._informers.get(str(resource))
        if found is None or not found[0].has_synced:
            return None
        thing: HasMeta | None = found[0].cache.get(key.name, key.namespace)
        return thing

    def waiting_for(self) -> list[str]:
        """The kinds that have not been listed yet, for `/readyz`."""
        return sorted(name for name, (informer, _) in self._informers.items() if not informer.has_synced)

    async def wait_synced(self) -> None:
        """Returns once every kind has been listed."""
        for informer, _ in list(self._informers.values()):
            await informer.wait_synced()

    async def run(self) -> None:
        """Never returns; cancel it."""
        async with asyncio.TaskGroup() as group:
            for informer, _ in self._informers.values():
                group.create_task(informer.run())
