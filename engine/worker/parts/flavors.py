"""Topologies and ResourceFlavors: what Nodes come to, as Kueue takes it.

What is wanted of one object is `controllers`; which Nodes come to it is the fleet's.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from engine.cluster.objects import Owned
from engine.worker.controllers import resourceflavor, topology
from engine.worker.controllers.resourceflavor import FlavorNeighbourhood, is_ours
from engine.worker.controllers.topology import TopologyNeighbourhood
from engine.worker.loop import Work
from engine.worker.stage import Leads, Stage
from engine.worker.supply import Touched
from engine.worker.watching import TOPOLOGY

FLAVOR_WINDOW_SECONDS: Final = 3.0
TOPOLOGY_WINDOW_SECONDS: Final = 1.0
"""A first change goes out at once, later ones of the key at the end of its window. Source: design §4, specification 20 §12."""


class FlavorsPart:
    """Topologies and flavors."""

    def __init__(self, stage: Stage) -> None:
        self._stage = stage
        at = stage.informers
        signs = (at.secrets, at.nodes, at.features, at.devices)
        self._topologies = stage.controller(
            Work(
                "topology",
                self._topology_names,
                self._topology,
                topology.plan,
                window_seconds=TOPOLOGY_WINDOW_SECONDS,
                after=(*signs, at.flavors, at.topologies),
            )
        )
        self._flavors = stage.controller(
            Work(
                "flavor",
                self._flavor_names,
                self._flavor,
                resourceflavor.plan,
                again=resourceflavor.again_after_seconds,
                window_seconds=FLAVOR_WINDOW_SECONDS,
                after=(*signs, at.flavors),
            ),
            workers=stage.options.workers,
        )
        at.flavors.add_handler(self._take_flavor)
        at.topologies.add_handler(self._take_topology)

    def leads(self) -> Sequence[Leads]:
        return (self._topologies, self._flavors)

    def take(self, touched: Touched) -> None:
        self._flavors.add(touched.flavors)
        self._topologies.add(touched.topologies)

    def turn(self) -> None:
        """What differs is told by the fleet."""

    def _take_flavor(self, before: Owned | None, after: Owned | None) -> None:
        there = [each for each in (before, after) if each is not None]
        self._flavors.notice(each.metadata.name for each in there)
        if after is None:
            self._topologies.add(str(each.spec.get("topologyName", "")) for each in there)

    def _take_topology(self, before: Owned | None, after: Owned | None) -> None:
        self._topologies.notice(each.metadata.name for each in (before, after) if each is not None)

    def _flavor(self, name: str) -> FlavorNeighbourhood:
        fleet = self._stage.fleet
        wanted, live = fleet.flavor(name), self._stage.informers.flavors.cache.get(name)
        is_leaving = wanted is None and live is not None
        selector = live.spec.get("nodeLabels", {}) if live is not None else {}
        return FlavorNeighbourhood(
            name=name,
            keys=fleet.asker.keys,
            wanted=wanted,
            live=live,
            unprofiled=fleet.unprofiled(selector) if is_leaving else (),
            untold=fleet.untold() if is_leaving else (),
        )

    def _flavor_names(self) -> set[str]:
        """All that Nodes come to or came to."""
        keys = self._stage.fleet.asker.keys
        live = (each.metadata.name for each in self._stage.informers.flavors.cache if is_ours(each, keys))
        return {*self._stage.fleet.flavor_names(), *live}

    def _topology(self, name: str) -> TopologyNeighbourhood:
        fleet, at = self._stage.fleet, self._stage.informers
        wanted = fleet.topology(name)
        return TopologyNeighbourhood(
            name=name,
            keys=fleet.asker.keys,
            wanted=wanted,
            live=at.topologies.cache.get(name),
            users=tuple(each.metadata.name for each in at.flavors.cache.by_index(TOPOLOGY, name)),
            untold=() if wanted is not None else fleet.untold(),
        )

    def _topology_names(self) -> set[str]:
        """All that Nodes are in, and all that are there."""
        fleet = self._stage.fleet
        named = {fleet.topology_of(node) for node in fleet.nodes()} - {""}
        return named | {each.metadata.name for each in self._stage.informers.topologies.cache}
