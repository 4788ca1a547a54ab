"""Looks at the running Kueue's configuration when other makers' cards are on Nodes, and again while something is wrong.

What is wrong with it is `controllers.kueueconfig`. Nothing is looked at while all is well, and nothing is written but Events.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Final

from engine.chain.told import told
from engine.cluster.actions import EmitEvent, ObjectReference, reference
from engine.cluster.errors import ClusterError, NotFound
from engine.cluster.resources import CONFIG_MAPS, INSTANCE_TYPES
from engine.errors import EngineError
from engine.sections.resources import Transformation, resource_names
from engine.worker.controllers.kueueconfig import (
    CONFIG,
    CONFIG_KEY,
    KUEUE_SYSTEM,
    plan,
    running_transformations,
    uncharged,
)
from engine.worker.stage import Leads, Stage
from engine.worker.supply import Touched

AGAIN_SECONDS: Final = 600.0
"""How often trouble is looked at again; chosen: Kueue reads its configuration at its own start only."""


class KueueWatch:
    """Looks, compares, tells; the same trouble is told once."""

    def __init__(self, stage: Stage) -> None:
        self._stage = stage
        self._due = asyncio.Event()
        self._pools: dict[str, tuple[str, ...]] = {}
        self._told: tuple[str, ...] = ()

    def leads(self) -> Sequence[Leads]:
        return (self,)

    def take(self, touched: Touched) -> None:
        if touched.pools:
            self._look_at_pools()

    def turn(self) -> None:
        self._due.set()

    async def lead(self) -> None:
        """Until it is cancelled."""
        self._told = ()
        self._due.set()
        while True:
            try:
                async with asyncio.timeout(AGAIN_SECONDS if self._told else None):
                    await self._due.wait()
            except TimeoutError:
                # Somebody may have mended it.
                self._due.set()
            self._due.clear()
            if self._pools:
                await self._look()

    def _look_at_pools(self) -> None:
        """The pools with cards, by maker."""
        supply = self._stage.fleet.supply
        makers: dict[str, list[str]] = {}
        for name in supply.pool_names():
            view = supply.pool(name)
            if view is not None and view.pool.acceleratable and view.manufacturer:
                makers.setdefault(view.manufacturer, []).append(name)
        found = {maker: tuple(names) for maker, names in makers.items()}
        if found != self._pools:
            self._pools = found
            self._due.set()

    async def _look(self) -> None:
        events: list[EmitEvent] = []
        try:
            where, text = await self._configuration()
            found = uncharged(running_transformations(text), self._wanted())
            notes = tuple(f"{each.note} ({where})" for each in found)
            events = plan(found, {maker: self._types(names) for maker, names in self._pools.items()})
        except EngineError as reason:
            notes = (f"could not tell what Kueue charges: {reason}",)
        if notes == self._told:
            return
        for note in notes:
            self._stage.log.warning("kueue", note=note)
        if self._told and not notes:
            self._stage.log.info("kueue", note="requests are charged as the rules say")
        self._told = notes
        await self._stage.writer.apply_actions(events)

    async def _configuration(self) -> tuple[str, str]:
        """Where it is, and its text. Raises: ClusterError: it cannot be read."""
        places = tuple(dict.fromkeys((self._stage.options.namespace, KUEUE_SYSTEM)))
        for namespace in places:
            try:
                found = await self._stage.client.get(CONFIG_MAPS, CONFIG, namespace)
            except NotFound:
                continue
            return f"ConfigMap {namespace}/{CONFIG}", found.data.get(CONFIG_KEY, "")
        raise ClusterError(f"there is no ConfigMap {CONFIG}", where=" or ".join(places))

    def _wanted(self) -> Mapping[str, tuple[Transformation, ...]]:
        """Raises: EvaluationError: could not tell."""
        program = self._stage.rules.program
        return {maker: told(resource_names(program, maker)).transformations for maker in self._pools}

    def _types(self, names: Sequence[str]) -> tuple[ObjectReference, ...]:
        types = self._stage.informers.types.cache
        return tuple(reference(INSTANCE_TYPES, live) for name in names if (live := types.get(name)) is not None)
