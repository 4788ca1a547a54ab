"""InstanceTypes, their queues' existence, and the catalogue: what people may ask for.

What is wanted of one object is `controllers`; what a type is made of is the chain's. What queues hold is another part's.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from engine.cluster.objects import Owned
from engine.worker.controllers import instancetype, instancetypeflavor, instancetypestatus, typeauthoring
from engine.worker.controllers.instancetype import TypeNeighbourhood, queue_taken
from engine.worker.controllers.instancetypeflavor import RowNeighbourhood
from engine.worker.controllers.instancetypestatus import StatusNeighbourhood
from engine.worker.controllers.typeauthoring import PoolNeighbourhood
from engine.worker.loop import Work
from engine.worker.making import Making
from engine.worker.stage import Leads, Stage
from engine.worker.supply import Touched

STATUS_WINDOW_SECONDS: Final = 3.0
ROW_WINDOW_SECONDS: Final = 3.0
"""A first change goes out at once, later ones of the key at the end of its window. Source: design §4, specification 20 §12."""


class TypesPart:
    """Types as they are authored, live, report and end; and rows of the catalogue."""

    def __init__(self, stage: Stage) -> None:
        self._stage = stage
        self._making = Making(stage.rules)
        at, workers = stage.informers, stage.options.workers
        signs = (at.secrets, at.nodes, at.features, at.devices)
        self._authoring = stage.controller(
            Work(
                "type-authoring",
                self._pool_names,
                self._pool,
                typeauthoring.plan,
                after=(*signs, at.flavors, at.types),
            )
        )
        self._types = stage.controller(
            Work(
                "instancetype",
                self._type_names,
                self._type,
                instancetype.plan,
                again=instancetype.again_after_seconds,
                after=(at.types, at.queues),
            ),
            workers=workers,
        )
        self._statuses = stage.controller(
            Work(
                "instancetype-status",
                self._type_names,
                self._status,
                instancetypestatus.plan,
                window_seconds=STATUS_WINDOW_SECONDS,
                # Counted before everything has been listed, views would shrink at every change of leaders.
                after=(*signs, at.types, at.queues),
            ),
            workers=workers,
        )
        self._rows = stage.controller(
            Work(
                "instancetypeflavor",
                self._row_names,
                self._row,
                instancetypeflavor.plan,
                again=instancetypeflavor.again_after_seconds,
                window_seconds=ROW_WINDOW_SECONDS,
                after=(*signs, at.type_flavors),
            )
        )
        at.types.add_handler(self._take_type)
        at.queues.add_handler(self._take_queue)
        at.flavors.add_handler(self._take_flavor)
        at.type_flavors.add_handler(self._take_row)

    def leads(self) -> Sequence[Leads]:
        return (self._rows, self._authoring, self._types, self._statuses)

    def take(self, touched: Touched) -> None:
        self._rows.add(touched.rows)
        self._authoring.add(touched.pools)
        self._statuses.notice(touched.types)

    def turn(self) -> None:
        self._making.forget()
        for live in self._stage.informers.types.cache:
            self._select(live)
        names = self._type_names()
        self._types.add(names)
        self._statuses.add(names)
        self._authoring.add(self._pool_names())
        self._rows.add(self._row_names())

    def _take_type(self, before: Owned | None, after: Owned | None) -> None:
        if after is None:
            if before is not None:
                name = before.metadata.name
                self._making.drop(name)
                self._stage.fleet.supply.drop_type(name)
                self._authoring.add([name])
            return
        name = after.metadata.name
        if before is None or before.spec != after.spec or before.metadata.labels != after.metadata.labels:
            self._select(after)
        if before is None or _is_another(before, after):
            self._types.add([name])
        self._statuses.notice([name])

    def _take_queue(self, before: Owned | None, after: Owned | None) -> None:
        names = {each.metadata.name for each in (before, after) if each is not None}
        if before is None or after is None or _is_another(before, after):
            self._types.add(names)
        self._statuses.notice(names)

    def _take_flavor(self, before: Owned | None, after: Owned | None) -> None:
        if before is None and after is not None:
            entry = self._stage.fleet.entry(after.metadata.name)
            if entry is not None:
                self._authoring.add([entry.pool.name])

    def _take_row(self, before: Owned | None, after: Owned | None) -> None:
        self._rows.notice(each.metadata.name for each in (before, after) if each is not None)

    def _select(self, live: Owned) -> None:
        """Which flavors feed the type. By its spec, which cannot change: whoever strips its labels empties no queue."""
        selector = self._making.selector(live, self._stage.fleet.asker.keys)
        self._stage.fleet.supply.put_type(live.metadata.name, selector)

    def _pool(self, name: str) -> PoolNeighbourhood | None:
        supply, at = self._stage.fleet.supply, self._stage.informers
        view = supply.pool(name)
        if view is None:
            return None
        live = at.types.cache.get(name)
        there = (at.flavors.cache.get(flavor) for flavor in supply.pool_flavors(name))
        wanted, untold = (None, None) if live is not None else self._making.derived(view)
        return PoolNeighbourhood(
            name=name,
            wanted=wanted,
            flavors=tuple(each for each in there if each is not None and not each.metadata.deletion_timestamp),
            live=live,
            conditions=tuple(each for each in (untold, supply.pool_condition(name)) if each is not None),
        )

    def _pool_names(self) -> list[str]:
        return self._stage.fleet.supply.pool_names()

    def _type(self, name: str) -> TypeNeighbourhood | None:
        at = self._stage.informers
        live = at.types.cache.get(name)
        if live is None:
            return None
        made, refusal = self._making.made(live)
        return TypeNeighbourhood(self._stage.fleet.asker.keys, live, made, refusal, at.queues.cache.get(name))

    def _status(self, name: str) -> StatusNeighbourhood | None:
        fleet, at = self._stage.fleet, self._stage.informers
        live, queue = at.types.cache.get(name), at.queues.cache.get(name)
        if live is None:
            return None
        made, refusal = self._making.made(live)
        if made is not None and queue is not None:
            refusal = queue_taken(queue, fleet.asker.keys)
        return StatusNeighbourhood(
            live=live,
            entrance=made.entrance.name if made is not None else "",
            queue=queue,
            feeding=fleet.supply.feeding(name),
            tally=fleet.supply.tally(name),
            settings=self._stage.rules.settings,
            refusal=refusal.message if refusal is not None else "",
            is_in_doubt=refusal is not None and refusal.reason == instancetype.UNTOLD,
        )

    def _type_names(self) -> list[str]:
        return sorted(each.metadata.name for each in self._stage.informers.types.cache)

    def _row(self, name: str) -> RowNeighbourhood:
        fleet = self._stage.fleet
        wanted, condition = fleet.supply.row(name)
        live = self._stage.informers.type_flavors.cache.get(name)
        untold = fleet.untold() if wanted is None and live is not None else ()
        return RowNeighbourhood(name, wanted, live, condition, untold)

    def _row_names(self) -> set[str]:
        """All that flavors show, and all that are there."""
        live = (each.metadata.name for each in self._stage.informers.type_flavors.cache)
        return {*self._stage.fleet.supply.row_names(), *live}


def _is_another(before: Owned, after: Owned) -> bool:
    """More than the status differs."""
    old, new = before.metadata, after.metadata
    return (
        before.spec != after.spec
        or old.labels != new.labels
        or old.annotations != new.annotations
        or old.finalizers != new.finalizers
        or old.deletion_timestamp != new.deletion_timestamp
        or old.uid != new.uid
    )
