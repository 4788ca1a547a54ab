"""Keeps the fleet true: Nodes, NodeFeatures and `Devices` as they come and go, read into it.

Bursts are gathered, and the parts told once of what they come to. Writes nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from engine.api.devices import Devices
from engine.cluster.objects import Node
from engine.features.objects import NodeFeature, feature_object
from engine.worker.asking import seen_node
from engine.worker.cards import NodeCards, read_cards
from engine.worker.fleet import Fleet
from engine.worker.gathering import Gathering
from engine.worker.parts.hosts import Hosts
from engine.worker.supply import Touched
from engine.worker.watching import Informers

WINDOW_SECONDS: Final = 0.25
"""Chosen: a cold start of 1,000 Nodes asks each flavor's rules some 40 times and not 1,000."""


class Census:
    """`see` is told of a Node at once, `take` of what a burst came to."""

    def __init__(
        self,
        informers: Informers,
        fleet: Fleet,
        hosts: Hosts,
        *,
        see: Callable[[str], None],
        take: Callable[[Touched], None],
    ) -> None:
        self._nodes = informers.nodes
        self._fleet = fleet
        self._hosts = hosts
        self._told_node = see
        self._cards: dict[str, NodeCards] = {}
        self._gathering = Gathering(lambda: take(fleet.take()), WINDOW_SECONDS)
        informers.nodes.add_handler(self._take_node, of_versions=False)
        informers.features.add_handler(self._take_feature)
        informers.devices.add_handler(self._take_devices)

    def soon(self) -> None:
        """The fleet was turned: the parts are told soon."""
        self._gathering.soon()

    def _take_node(self, before: Node | None, after: Node | None) -> None:
        if after is not None:
            self._see(after)
        elif before is not None:
            self._fleet.drop(before.metadata.name)
            self._gathering.soon()

    def _take_feature(self, before: NodeFeature | None, after: NodeFeature | None) -> None:
        for name in sorted({feature_object(each).target for each in (before, after) if each is not None} - {""}):
            self._see_again(name)

    def _take_devices(self, before: Devices | None, after: Devices | None) -> None:
        if after is None:
            if before is not None:
                self._cards.pop(before.metadata.name, None)
                self._see_again(before.metadata.name)
        elif before is None or (before.spec, before.status) != (after.spec, after.status):
            self._cards[after.metadata.name] = read_cards(after)
            self._see_again(after.metadata.name)

    def _see_again(self, name: str) -> None:
        node = self._nodes.cache.get(name)
        if node is not None:
            self._see(node)

    def _see(self, node: Node) -> None:
        name = node.metadata.name
        seen = seen_node(node, self._fleet.asker.keys, self._hosts.cpu(node), self._cards.get(name))
        if self._fleet.node(name) != seen:
            self._fleet.put(seen)
            self._gathering.soon()
            self._told_node(name)
