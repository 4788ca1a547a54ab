"""All Nodes together: which flavors, topologies, pools and rows they come to, kept as counters, change by change.

The chain's own index and book, fed from a cluster. Waits for nothing and writes nothing; what is on the cluster of flavors
is not known here.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from engine.chain.book import FlavorBook, FlavorEntry
from engine.chain.changes import Condition
from engine.chain.conditions import Condition as NodeCondition
from engine.chain.fields import FlavorFields, FlavorKey, TopologyFields
from engine.chain.flavors import FlavorIndex
from engine.chain.node import NodeProgram
from engine.chain.topologies import Topologies
from engine.worker.asking import Added, NodeAsker, SeenNode
from engine.worker.supply import Supply, Touched


class Fleet:
    """The Nodes as last seen, and what they come to."""

    def __init__(self, program: NodeProgram, settings: Mapping[str, Any]) -> None:
        self._program = program
        self._settings = settings
        self.asker = NodeAsker(program, settings)
        self._nodes: dict[str, SeenNode] = {}
        self._added: dict[str, Added] = {}
        self._untold: set[str] = set()
        self._untrusted: set[str] = set()
        self._troubled: dict[str, tuple[NodeCondition, ...]] = {}
        self._index = FlavorIndex()
        self._book = FlavorBook(program)
        self._supply = Supply(self._index)
        self._supply.read(self._book)
        self._topologies = Topologies()
        self._dirty: set[FlavorKey] = set()
        self._flavors_touched: set[str] = set()
        self._topologies_touched: set[str] = set()
        self._nodes_touched: set[str] = set()
        self._asks_again = False
        self._renamed = False

    @property
    def supply(self) -> Supply:
        """The pools, rows and types that Nodes come to by now: flavors that changed are asked for first."""
        self._settle()
        return self._supply

    def nodes(self) -> list[str]:
        """All Nodes by name."""
        return sorted(self._nodes)

    def node(self, name: str) -> SeenNode | None:
        """A Node."""
        return self._nodes.get(name)

    def put(self, node: SeenNode) -> None:
        """A Node is there, or has changed."""
        if self._nodes.get(node.name) != node:
            self._nodes[node.name] = node
            self._nodes_touched.add(node.name)
            self._count(node.name, self.asker.added(node))

    def drop(self, name: str) -> None:
        """A Node is gone."""
        if self._nodes.pop(name, None) is not None:
            self._nodes_touched.add(name)
        self._count(name, None)

    def turn(self, settings: Mapping[str, Any], program: NodeProgram | None = None) -> None:
        """The settings, or the rules, are others now: everything is asked again."""
        self._settings = settings
        if program is not None and program is not self._program:
            self._program = program
            # Names that the new rules do not give are gone; those that they do are put again below.
            self._flavors_touched |= self.flavor_names()
            self._book = FlavorBook(program)
            self._supply.read(self._book)
            self._renamed = True
        self.asker = NodeAsker(self._program, settings)
        self._book.forget_answers()
        for name in self.nodes():
            self._count(name, self.asker.added(self._nodes[name]))
        self._nodes_touched |= self._nodes.keys()
        self._dirty |= self._index.groups.keys()
        self._asks_again = True

    def take(self) -> Touched:
        """What may differ since the last time.

        Cost: a flavor whose Nodes changed asks its rules once, however many they were; so take after several changes.
        """
        self._settle()
        supply = self._supply
        touched = Touched(
            flavors=frozenset(self._flavors_touched),
            topologies=frozenset(self._topologies_touched),
            pools=frozenset(supply.pools_touched),
            rows=frozenset(supply.rows_touched),
            types=frozenset(supply.types_touched),
            nodes=frozenset(self._nodes_touched),
        )
        for each in (
            self._flavors_touched,
            self._topologies_touched,
            self._nodes_touched,
            supply.pools_touched,
            supply.rows_touched,
            supply.types_touched,
        ):
            each.clear()
        return touched

    def flavor(self, name: str) -> FlavorFields | None:
        """The flavor of that name; None when no Node is for it."""
        entry = self.entry(name)
        return entry.fields if entry else None

    def entry(self, name: str) -> FlavorEntry | None:
        """The flavor of that name with its pool and its row; None when no Node is for it."""
        self._settle()
        return self._book.entry(name)

    def flavor_names(self) -> set[str]:
        """All flavors that Nodes come to."""
        self._settle()
        return {name for key in self._index.groups if (name := self._book.name(key))}

    def topology(self, name: str) -> TopologyFields | None:
        """The topology of that name; None when no Node is in it."""
        return self._topologies.topology(name)

    def topology_of(self, name: str) -> str:
        """The name of the topology that a Node is in; empty when that could not be told."""
        added = self._added.get(name)
        return added.profile.name if added and added.profile else ""

    def profile_labels(self, name: str) -> dict[str, str]:
        """The labels that a Node has by its topology."""
        added = self._added.get(name)
        return dict(added.profile.node_labels) if added and added.profile else {}

    def unprofiled(self, selector: Mapping[str, str]) -> tuple[str, ...]:
        """Nodes that a flavor's selector means, but for a profile that they do not carry yet."""
        key = self.asker.keys.profile
        wanted = {name: value for name, value in selector.items() if name != key}
        return tuple(
            name
            for name, node in sorted(self._nodes.items())
            if key not in node.labels and all(node.labels.get(each) == value for each, value in wanted.items())
        )

    def untold(self) -> tuple[str, ...]:
        """What rules could not tell, so that nothing may be taken for absent. Shape: Nodes, then flavors, as texts."""
        self._settle()
        flavors = (each.name for each in self._book.conditions() if each.reason == "CouldNotTell")
        return (*(f"node {name}" for name in sorted(self._untold)), *(f"flavor {name}" for name in flavors))

    def conditions(self) -> list[Condition]:
        """Everything a person should know, sorted. Cost: of the Nodes only those with trouble are looked at."""
        self._settle()
        told = [
            Condition("Node", name, each.reason, f"section {each.section}: {each.message}")
            for name, conditions in self._troubled.items()
            for each in conditions
        ]
        cards = [
            Condition("Devices", name, "Unbelievable", trouble)
            for name in self._untrusted
            for trouble in self._nodes[name].troubles
        ]
        flavors = (*self._book.conditions(), *self._topologies.conditions(), *self._supply.conditions())
        return sorted([*told, *cards, *flavors])

    def _count(self, name: str, added: Added | None) -> None:
        before = self._added.get(name)
        self._untold.discard(name)
        self._untrusted.discard(name)
        self._troubled.pop(name, None)
        if name in self._nodes and self._nodes[name].troubles:
            self._untrusted.add(name)
        if added is not None and added.conditions:
            self._troubled[name] = added.conditions
        if added is not None and not added.is_told:
            self._untold.add(name)
            if before is not None:
                # What is not known is not taken for gone.
                return
        if added is not None and before is not None and _is_same(before, added):
            self._added[name] = added
            return
        if added is None:
            self._added.pop(name, None)
        else:
            self._added[name] = added
            self._topologies_touched |= self._topologies.count(added.profile, 1)
            self._dirty |= self._index.add(added.contribution)
        if before is not None:
            self._topologies_touched |= self._topologies.count(before.profile, -1)
            self._dirty |= self._index.remove(before.contribution)

    def _settle(self) -> None:
        """Asks the rules of every flavor whose Nodes changed."""
        if not self._dirty and not self._renamed:
            return
        names = set(self._flavors_touched) if self._renamed else set()
        for key in sorted(self._dirty):
            names |= self._book.put(key, self._index.input(key), self._settings, ask_again=self._asks_again)
            self._supply.touch_flavor(self._book.name(key) or "")
        for name in sorted(names):
            self._supply.put_flavor(name)
        self._flavors_touched |= names
        self._dirty, self._asks_again, self._renamed = set(), False, False


def _is_same(before: Added, after: Added) -> bool:
    return before.contribution == after.contribution and before.profile == after.profile
