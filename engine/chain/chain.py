"""The chain: nodes, settings and people's types in; flavors, queues, types and the catalogue out, change by change.

Pure state in memory: it reads no clock, writes nothing and asks only the program. What is unchanged is not looked at:
a changed node leads to its old and new flavors, those to their pools, rows and queues, and to nothing else.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

from engine.chain.batch import Batch
from engine.chain.book import FlavorBook
from engine.chain.catalogue import Catalogue, in_order
from engine.chain.changes import Change, Changed, Condition, NodeSet
from engine.chain.fields import (
    CatalogueRow,
    FlavorFields,
    FlavorKey,
    LocalQueueFields,
    QueueFields,
    TopologyFields,
    TypeFields,
)
from engine.chain.flavors import FlavorIndex
from engine.chain.journal import Journal
from engine.chain.matching import Matching
from engine.chain.node import NodePlan, NodeProgram
from engine.chain.nodes import Moved, Nodes
from engine.chain.pools import Pools
from engine.chain.queues import LiveType, QueueRules
from engine.chain.readback import Constants
from engine.chain.settings import Settings, parse_settings
from engine.chain.topologies import Topologies
from engine.chain.types import MadeType, TypeMaker, check_spec, edited
from engine.errors import EvaluationError

SYSTEM_NAMESPACES: Final = ("gpustack-system", "kube-system")
"""Namespaces without LocalQueues. Source: specification 20 §5.7."""

DEFAULT_NAMESPACES: Final = ("default",)


class Chain:
    """The scheduling chain of one cluster.

    Shape: `settings` are dashed names and values that differ from the declared defaults, or parsed settings; `note_prefix`
    stands before a flavor's notes when they become annotations.
    Raises: UsageError: a setting that is not declared or has another type.
    """

    def __init__(
        self,
        program: NodeProgram,
        settings: Settings | Mapping[str, object] | None = None,
        *,
        namespaces: Iterable[str] = DEFAULT_NAMESPACES,
        active_checks: tuple[str, ...] | None = None,
    ) -> None:
        self.program = program
        constants = Constants.of(program.block("constants"))
        self.note_prefix = constants.note
        if not isinstance(settings, Settings):
            settings = parse_settings(program.block("settings"), settings)
        self.settings = settings
        # Nobody observes checks offline: the node-devices check is then taken to be Active.
        self._active_checks = (constants.check_node_devices,) if active_checks is None else active_checks
        self._nodes = Nodes(program, settings.values)
        self._index = FlavorIndex()
        self._book = FlavorBook(program)
        self._topologies = Topologies()
        self._catalogue = Catalogue()
        self._pools = Pools()
        self._matching = Matching()
        self._types: dict[str, LiveType] = {}
        self._removed: dict[str, LiveType] = {}
        self._maker = TypeMaker(program)
        self._rules = QueueRules(program, settings.values, self._active_checks)
        self._namespaces = {name for name in namespaces if name not in SYSTEM_NAMESPACES}
        self._troubles: dict[tuple[str, str], tuple[Condition, ...]] = {}
        self._journal = Journal()

    def apply(self, changes: Iterable[Change]) -> Changed:
        """Bring the chain to rest after these changes.

        Raises: UsageError, InputError: a change that cannot be taken; nothing is changed then.
        Cost: what is unchanged is recognised and skipped; a changed node costs its flavors, their pools and queues.
        """
        batch = Batch.of(changes)
        settings = self.settings.changed(batch.settings)
        specs = {name: self._checked(name, spec, batch) for name, spec in batch.types.items() if spec is not None}
        turned = settings.values != self.settings.values
        if turned:
            self.settings = settings
            self._rules = QueueRules(self.program, settings.values, self._active_checks)
            self._nodes.turn(settings.values)
            self._book.forget_answers()
        moved = self._move_nodes(batch, ask_again=turned)
        keys = self._count(moved)
        if turned:
            keys |= self._index.groups.keys()
        flavors, pools = self._ask_flavors(keys, ask_again=turned)
        dirty = set(self._types) if turned else flavors
        dirty |= self._author(batch, specs, pools)
        self._settle(dirty)
        self._say_local_queues(batch, dirty)
        return self._journal.take(self.conditions())

    # What the chain holds

    def nodes(self) -> list[NodePlan]:
        """Every node's plan, by node name."""
        return list(self._journal.sorted("Node"))

    def topologies(self) -> list[TopologyFields]:
        """By name."""
        return list(self._journal.sorted("Topology"))

    def flavors(self) -> list[FlavorFields]:
        """By name."""
        return list(self._journal.sorted("ResourceFlavor"))

    def catalogue(self) -> list[CatalogueRow]:
        """In the order of the catalogue, which is not by name."""
        return in_order(self._journal.of("InstanceTypeFlavor").values())

    def types(self) -> list[TypeFields]:
        """By name."""
        return list(self._journal.sorted("InstanceType"))

    def queues(self) -> list[QueueFields]:
        """By name."""
        return list(self._journal.sorted("ClusterQueue"))

    def local_queues(self) -> list[LocalQueueFields]:
        """By namespace and name."""
        return list(self._journal.sorted("LocalQueue"))

    def feeding(self, name: str) -> list[str]:
        """The flavors that feed a type, by name."""
        return self._matching.flavors(name)

    def objects(self, kind: str) -> Mapping[str, Any]:
        """All fields of one kind of `journal.KINDS`, by name (`namespace/name` for a LocalQueue)."""
        return self._journal.of(kind)

    def conditions(self) -> list[Condition]:
        """Everything a person should know, sorted."""
        return sorted(
            [
                *self._nodes.conditions(),
                *self._book.conditions(),
                *self._topologies.conditions(),
                *(condition for conditions in self._troubles.values() for condition in conditions),
            ]
        )

    # One apply, in order

    def _checked(self, name: str, spec: Mapping[str, Any], batch: Batch) -> Mapping[str, Any]:
        live = self._types.get(name)
        if live is None or name in batch.replaced:
            check_spec(name, spec)
            return spec
        return edited(name, live.spec, spec)

    def _move_nodes(self, batch: Batch, *, ask_again: bool) -> list[Moved]:
        wanted: dict[str, NodeSet | None] = {}
        if ask_again:
            wanted |= {given.facts.name: given for given in self._nodes.given()}
        wanted |= batch.nodes
        moved = []
        for name, given in wanted.items():
            change = self._nodes.drop(name) if given is None else self._nodes.put(given, ask_again=ask_again)
            if change is not None:
                moved.append(change)
        self._journal.say("Node", (change.name for change in moved), self._nodes.plan)
        return moved

    def _count(self, moved: Iterable[Moved]) -> set[FlavorKey]:
        keys: set[FlavorKey] = set()
        topologies: set[str] = set()
        for change in moved:
            if change.before is change.after:
                continue
            if change.after is not None:
                keys |= self._index.add(change.after)
                topologies |= self._topologies.count(change.after.profile, 1)
            if change.before is not None:
                keys |= self._index.remove(change.before)
                topologies |= self._topologies.count(change.before.profile, -1)
        self._journal.say("Topology", topologies, self._topologies.topology)
        return keys

    def _ask_flavors(self, keys: set[FlavorKey], *, ask_again: bool) -> tuple[set[str], set[str]]:
        """Returns the types that the flavors feed or fed, and the pools they are in."""
        names: set[str] = set()
        types: set[str] = set()
        for key in sorted(keys):
            names |= self._book.put(key, self._index.input(key), self.settings.values, ask_again=ask_again)
            # A card may be taken on a node without any field of its flavor changing: the views differ all the same.
            types.update(self._matching.queues(self._book.name(key) or ""))
        rows: set[str] = set()
        pools: set[str] = set()
        for name in sorted(names):
            types.update(self._matching.queues(name))
            entry = self._book.entry(name)
            rows |= self._catalogue.put(name, None if entry is None else entry.row)
            pools |= self._pools.put(name, entry)
            if entry is None:
                self._matching.drop_flavor(name)
            else:
                self._matching.put_flavor(name, entry.fields.labels)
                types.update(self._matching.queues(name))
        self._journal.say("ResourceFlavor", names, self._flavor)
        self._journal.say("InstanceTypeFlavor", rows, self._row)
        return types, pools

    def _author(self, batch: Batch, specs: Mapping[str, Mapping[str, Any]], pools: set[str]) -> set[str]:
        """Types that a person removed, set or changed, and those of pools that have none. Returns their names."""
        touched: set[str] = set(batch.recorded)
        for name, recorded in sorted(batch.recorded.items()):
            self._remove_type(name)
            self._put_type(LiveType(self._maker.recorded(recorded), recorded.queue, recorded.usage))
        for name in sorted(batch.types):
            touched.add(name)
            if batch.types[name] is None or name in batch.replaced:
                self._remove_type(name)
            if name in specs and name in self._types:
                self._types[name].spec = specs[name]
            elif name in specs:
                self._make_type(name, specs[name])
        for name in sorted(pools | touched):
            if name not in self._types and self._make_type(name, None):
                touched.add(name)
            self._trouble("pool", name, self._pools.condition(name))
        return touched

    def _make_type(self, name: str, spec: Mapping[str, Any] | None) -> bool:
        try:
            made = self._derived(name) if spec is None else self._maker.author(name, spec)
            live = None if made is None else LiveType(made)
        except EvaluationError as reason:
            self._trouble("type", name, Condition("InstanceType", name, "CouldNotTell", str(reason)))
            return False
        self._trouble("type", name, None)
        if live is None:
            return False
        self._put_type(live)
        return True

    def _put_type(self, live: LiveType) -> None:
        self._types[live.made.name] = live
        self._matching.put_queue(live.made.name, live.made.selector)

    def _derived(self, name: str) -> MadeType | None:
        view = self._pools.view(name)
        if view is None:
            return None
        return self._maker.derive(view.pool, view.product, view.manufacturer, self.settings.values)

    def _remove_type(self, name: str) -> None:
        live = self._types.pop(name, None)
        if live is not None:
            self._removed[name] = live
            self._matching.drop_queue(name)
            self._troubles.pop(("queue", name), None)

    def _settle(self, names: set[str]) -> None:
        for name in sorted(names):
            live = self._types.get(name)
            if live is None:
                continue
            feeding = [entry for flavor in self._matching.flavors(name) if (entry := self._book.entry(flavor))]
            fed = {entry.fields.key for entry in feeding if entry.fields.accelerator is not None}
            for key in live.tally.keys() - fed:
                live.tally.put(key, {})
            for key in fed:
                live.tally.put(key, self._index.groups[key].shares)
            live.settle(feeding, self._rules)
            self._troubles.pop(("queue", name), None)
            if live.conditions:
                self._troubles["queue", name] = live.conditions
        self._journal.say("InstanceType", names, self._type)
        self._journal.say("ClusterQueue", names, self._queue)

    def _say_local_queues(self, batch: Batch, names: set[str]) -> None:
        turned = {name: there for name, there in batch.namespaces.items() if name not in SYSTEM_NAMESPACES}
        for space, there in turned.items():
            (self._namespaces.add if there else self._namespaces.discard)(space)
        for space in sorted(self._namespaces | turned.keys()):
            doors = {self._door(name): name for name in (self._types.keys() | names if space in turned else names)}
            self._journal.say(
                "LocalQueue", sorted(f"{space}/{door}" for door in doors if door), self._local_queues(doors)
            )
        self._removed.clear()

    def _door(self, name: str) -> str:
        live = self._types.get(name) or self._removed.get(name)
        return live.made.entrance.name if live else ""

    def _local_queues(self, doors: Mapping[str, str]) -> Callable[[str], LocalQueueFields | None]:
        def fields(key: str) -> LocalQueueFields | None:
            space, _, door = key.partition("/")
            live = self._types.get(doors[door])
            if live is None or space not in self._namespaces:
                return None
            return LocalQueueFields(door, space, live.made.name, live.made.local_queue_annotations)

        return fields

    # One object as it is now

    def _flavor(self, name: str) -> FlavorFields | None:
        entry = self._book.entry(name)
        return entry.fields if entry else None

    def _row(self, name: str) -> CatalogueRow | None:
        row, condition = self._catalogue.row(name)
        self._trouble("row", name, condition)
        return row

    def _type(self, name: str) -> TypeFields | None:
        live = self._types.get(name)
        return live.type if live else None

    def _queue(self, name: str) -> QueueFields | None:
        live = self._types.get(name)
        return live.queue if live else None

    def _trouble(self, about: str, name: str, condition: Condition | None) -> None:
        if condition is None:
            self._troubles.pop((about, name), None)
        else:
            self._troubles[about, name] = (condition,)
