"""What the worker writes on Nodes and `Devices` because of cards: capacity, fit labels, labels, and the end of an orphan.

Wires `controllers.{nodecapacity,nodefit,devices}`; how cards are read and what they come to elsewhere is the fleet's.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from engine.api.devices import Devices
from engine.chain.conditions import Condition
from engine.cluster.errors import NotFound
from engine.cluster.objects import Node
from engine.cluster.queue import WorkQueue, run_workers
from engine.cluster.resources import NODES, ObjectKey
from engine.worker.cards import NodeCards
from engine.worker.controllers import devices, nodecapacity, nodefit
from engine.worker.controllers.devices import DevicesNeighbourhood
from engine.worker.controllers.nodecapacity import CapacityNeighbourhood, Counted
from engine.worker.controllers.nodefit import FitNeighbourhood
from engine.worker.loop import Work
from engine.worker.stage import Leads, Stage
from engine.worker.supply import Touched

ORPHAN_SECONDS: Final = 5.0
"""Before the API server is asked about a Node that the cache lacks. Chosen: as long as changes of Nodes are gathered, and by
then the cluster's own collector has usually taken the Node's `Devices` away."""

WORKERS: Final = 4
"""Few, of each kind: when 1,000 Nodes come at once, the labels that they wait for go first."""


class CardsPart:
    """The controllers of capacity, fit labels and `Devices`."""

    def __init__(self, stage: Stage) -> None:
        self._stage = stage
        self._counted: dict[str, tuple[tuple[str, str, bool], NodeCards | None, Counted]] = {}
        at, fleet = stage.informers, stage.fleet
        listed = (at.nodes, at.features, at.devices)
        self._capacity = stage.controller(
            Work(
                "node-capacity",
                fleet.nodes,
                self._seen_capacity,
                lambda seen: nodecapacity.plan(seen, fleet.asker, self._count(seen)),
                after=listed,
                turns=stage.node_turns,
                gives_way_to=stage.urgent,
            ),
            workers=WORKERS,
        )
        self._fit = stage.controller(
            Work(
                "node-fit",
                fleet.nodes,
                self._seen_fit,
                lambda seen: nodefit.plan(seen, fleet.asker),
                window_seconds=nodefit.WINDOW_SECONDS,
                after=listed,
                turns=stage.node_turns,
                gives_way_to=stage.urgent,
            ),
            workers=WORKERS,
        )
        self._devices = stage.controller(
            Work(
                "devices",
                self._devices_names,
                self._seen_devices,
                lambda seen: devices.plan(seen, fleet.asker),
                window_seconds=devices.WINDOW_SECONDS,
                after=listed,
                gives_way_to=stage.urgent,
            ),
            workers=WORKERS,
        )
        self._orphans = Orphans(stage)
        at.nodes.add_handler(self._take_node, of_versions=False)
        at.devices.add_handler(self._take_devices)
        at.devices.add_broken_handler(lambda key: self._devices.notice([key.name]))

    def leads(self) -> Sequence[Leads]:
        return (self._capacity, self._fit, self._devices, self._orphans)

    def take(self, touched: Touched) -> None:
        # What a Node comes to by its cards is asked here and not when `Devices` change: by now the fleet has read them.
        self._capacity.notice(touched.nodes)
        self._fit.notice(touched.nodes)
        self._devices.notice(touched.nodes)

    def turn(self) -> None:
        self._counted.clear()
        nodes = self._stage.fleet.nodes()
        self._capacity.add(nodes)
        self._fit.add(nodes)
        self._devices.add(self._devices_names())

    def _take_node(self, before: Node | None, after: Node | None) -> None:
        """A heartbeat is no change; a kubelet that has made its Node's capacity anew is one."""
        if after is None:
            if before is not None:
                self._counted.pop(before.metadata.name, None)
                self._orphans.add(before.metadata.name)
        elif before is None or _worn(before) != _worn(after):
            self._capacity.notice([after.metadata.name])
            self._fit.notice([after.metadata.name])

    def _take_devices(self, before: Devices | None, after: Devices | None) -> None:
        if after is None:
            return
        name = after.metadata.name
        if self._stage.informers.nodes.cache.get(name) is None:
            self._orphans.add(name)
        elif before is None or before.metadata.labels != after.metadata.labels:
            self._devices.notice([name])

    def _seen_capacity(self, name: str) -> CapacityNeighbourhood | None:
        node = self._stage.informers.nodes.cache.get(name)
        return None if node is None else CapacityNeighbourhood(node, self._cards(name), is_told=self._is_told(name))

    def _seen_fit(self, name: str) -> FitNeighbourhood | None:
        node = self._stage.informers.nodes.cache.get(name)
        if node is None or self._is_capacity_due(name):
            return None
        return FitNeighbourhood(node, self._cards(name), is_told=self._is_told(name))

    def _is_capacity_due(self, name: str) -> bool:
        """Whether the Node's capacity is about to be written: labels wait for its echo, or one write would refuse the other."""
        seen, queue = self._seen_capacity(name), self._capacity.queue
        if seen is None or queue is None or queue.failures(name):
            return False
        return bool(nodecapacity.plan(seen, self._stage.fleet.asker, self._count(seen)))

    def _count(self, seen: CapacityNeighbourhood) -> Counted:
        """What the cards come to. Cost: counted once a version of the Node and its cards, though three controllers ask."""
        name, cards = seen.node.metadata.name, seen.cards
        version = seen.node.metadata.uid, seen.node.metadata.resource_version, seen.is_told
        kept = self._counted.get(name)
        if kept is None or kept[0] != version or kept[1] is not cards:
            kept = self._counted[name] = version, cards, nodecapacity.count(seen, self._stage.fleet.asker)
        return kept[2]

    def _seen_devices(self, name: str) -> DevicesNeighbourhood | None:
        at, node = self._stage.informers.devices.cache, self._stage.fleet.node(name)
        is_broken = ObjectKey("", name) in at.broken
        # Of one that cannot be read any more the labels are not known either: writing them would never come to an end.
        live = None if is_broken else at.get(name)
        if live is None and not is_broken:
            return None
        return DevicesNeighbourhood(name, live, node, conditions=self._conditions(name))

    def _devices_names(self) -> set[str]:
        at = self._stage.informers.devices.cache
        return {each.name for each in (*at.keys(), *at.broken)}

    def _cards(self, name: str) -> NodeCards | None:
        node = self._stage.fleet.node(name)
        return node.cards if node is not None else None

    def _is_told(self, name: str) -> bool:
        """Shape: what was readable once stands while it is not; an object that the fleet has yet to read is awaited."""
        at = self._stage.informers.devices.cache
        if at.get(name) is not None:
            return self._cards(name) is not None
        return ObjectKey("", name) not in at.broken

    def _conditions(self, name: str) -> tuple[Condition, ...]:
        """What people should know of one Node's cards, each once."""
        asker, cards = self._stage.fleet.asker, self._cards(name)
        told = [Condition("cards", devices.UNBELIEVABLE, each) for each in (cards.troubles if cards else ())]
        broken = self._stage.informers.devices.cache.broken.get(ObjectKey("", name))
        if broken is not None:
            note = f"the object cannot be read: {broken.why}; what it said before stands until that is corrected"
            told.append(Condition("cards", devices.UNREADABLE, note))
        capacity = self._seen_capacity(name)
        if capacity is not None:
            told += self._count(capacity).conditions
            told += nodefit.find_room(FitNeighbourhood(capacity.node, capacity.cards), asker).conditions
        return tuple(sorted(set(told)))


class Orphans:
    """`Devices` whose Node the cache lacks: the API server is asked, and what it confirms is planned like anything else."""

    def __init__(self, stage: Stage) -> None:
        self._stage = stage
        self._queue: WorkQueue[str] | None = None

    def add(self, name: str) -> None:
        """The Node of this name may be gone."""
        if self._queue is not None:
            self._queue.add_after(name, ORPHAN_SECONDS)

    async def lead(self) -> None:
        """Asks until it is cancelled."""
        at = self._stage.informers
        await at.nodes.wait_synced()
        await at.devices.wait_synced()
        self._queue = WorkQueue(self._stage.clock)
        for each in at.devices.cache:
            if at.nodes.cache.get(each.metadata.name) is None:
                self.add(each.metadata.name)
        try:
            await run_workers(self._queue, self._one, report=self._failed)
        finally:
            self._queue = None

    async def _one(self, name: str) -> None:
        live = self._stage.informers.devices.cache.get(name)
        if live is None or not await self._is_gone(name):
            return
        seen = DevicesNeighbourhood(name, live, is_node_gone=True)
        for outcome in await self._stage.writer.apply_actions(devices.plan(seen, self._stage.fleet.asker)):
            self._stage.log.info("ended an orphan", object=f"devices/{name}", result=str(outcome.result))

    async def _is_gone(self, name: str) -> bool:
        try:
            await self._stage.client.get(NODES, name)
        except NotFound:
            return True
        return False

    def _failed(self, name: str, error: Exception) -> None:
        self._stage.log.failure("failed", controller="orphans", key=name, error=error, type=type(error).__name__)


def _worn(node: Node) -> tuple[object, ...]:
    return node.metadata.labels, node.status.capacity, node.metadata.deletion_timestamp
