"""ClusterQueues: what feeds each of them, and what wakes their controller.

What is wanted of one queue is `controllers.clusterqueue`; that it exists, and its labels, are the types'.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC
from typing import Final

from engine.chain.matching import Matching
from engine.chain.queues import DRAINS_WHEN_NO_FLAVORS, QueueRules, check_one_resource
from engine.cluster.objects import Owned
from engine.domain.queue_plan import LiveFlavor
from engine.errors import EvaluationError
from engine.worker.asking import Keys
from engine.worker.controllers import clusterqueue
from engine.worker.controllers.admissioncheck import is_active
from engine.worker.controllers.clusterqueue import QueueNeighbourhood
from engine.worker.controllers.resourceflavor import is_ours
from engine.worker.loop import Work
from engine.worker.reading.feeding import Suffixes, Unfed, is_orphan, live_flavor, overlapping, unfed, waiting_flavor
from engine.worker.stage import Leads, Stage
from engine.worker.supply import Touched, selector_of
from engine.worker.watching import TOPOLOGY

WINDOW_SECONDS: Final = 3.0
"""Source: design §4, specification 20 §12."""

MIXES: Final = "instanceTypeMixedOnNode"
"""The setting that code obeys here: whether nodes with cards belong to CPU pools."""


class ClusterQueues:
    """One controller; a queue is woken by what feeds it, by checks, and by Kueue's answer when it waits for that."""

    def __init__(self, stage: Stage) -> None:
        self._stage = stage
        self._matching = Matching()
        self._unfed: dict[str, Unfed] = {}
        self._known_rules: QueueRules | None = None
        self._asked: tuple[object, ...] = ()
        at = stage.informers
        self._controller = stage.controller(
            Work(
                "queue",
                self._names,
                self._queue,
                clusterqueue.plan,
                again=clusterqueue.again_after_seconds,
                window_seconds=WINDOW_SECONDS,
                after=(
                    at.secrets,
                    at.nodes,
                    at.features,
                    at.devices,
                    at.types,
                    at.flavors,
                    at.topologies,
                    at.checks,
                    at.queues,
                ),
            ),
            workers=stage.options.workers,
        )
        at.queues.add_handler(self._take_queue)
        at.types.add_handler(self._take_type)
        at.flavors.add_handler(self._take_flavor)
        at.topologies.add_handler(self._take_topology)
        at.checks.add_handler(self._take_check)

    def leads(self) -> Sequence[Leads]:
        return (self._controller,)

    def take(self, touched: Touched) -> None:
        queues = {queue for name in touched.flavors for queue in self._match(name)}
        if self._look_at(touched.nodes):
            queues |= set(self._names())
        self._controller.add(queues)

    def turn(self) -> None:
        self._controller.add(self._names())

    def _take_queue(self, before: Owned | None, after: Owned | None) -> None:
        if after is None:
            if before is not None:
                self._matching.drop_queue(before.metadata.name)
            return
        self._selector(after)
        if before is None or _is_changed(before, after) or clusterqueue.waits_for_kueue(after):
            self._controller.notice([after.metadata.name])

    def _take_type(self, before: Owned | None, after: Owned | None) -> None:
        for name in {each.metadata.name for each in (before, after) if each is not None}:
            live, known = self._stage.informers.queues.cache.get(name), self._matching.selector(name)
            if live is not None and self._selector(live) != known:
                self._controller.add([name])

    def _take_flavor(self, before: Owned | None, after: Owned | None) -> None:
        if before is not None and after is not None and _what_counts(before) == _what_counts(after):
            return
        for each in (before, after):
            if each is not None:
                self._controller.add(self._match(each.metadata.name))

    def _take_topology(self, before: Owned | None, after: Owned | None) -> None:
        if before is not None and after is not None:
            return
        for each in (before, after):
            if each is not None:
                flavors = self._stage.informers.flavors.cache.by_index(TOPOLOGY, each.metadata.name)
                self._controller.add(q for f in flavors for q in self._matching.queues(f.metadata.name))

    def _take_check(self, before: Owned | None, after: Owned | None) -> None:
        if (before is not None and is_active(before)) != (after is not None and is_active(after)):
            self._controller.add(self._names())

    def _selector(self, live: Owned) -> Mapping[str, str]:
        """The labels by which a queue takes flavors: its type's, which nobody can edit; its own without a type."""
        name, keys = live.metadata.name, self._stage.fleet.asker.keys
        selector: Mapping[str, str] = {}
        if _is_operators(live, keys):
            of_type = self._stage.fleet.supply.selector(name)
            selector = selector_of(live.metadata.labels, keys) if of_type is None else of_type
        if self._matching.selector(name) != selector:
            self._matching.put_queue(name, selector)
        return selector

    def _match(self, flavor: str) -> set[str]:
        """Looks at a flavor anew. Returns the queues that it fed and feeds."""
        fed = set(self._matching.queues(flavor))
        live, entry = self._stage.informers.flavors.cache.get(flavor), self._stage.fleet.entry(flavor)
        if live is None or not (entry or is_ours(live, self._stage.fleet.asker.keys)):
            self._matching.drop_flavor(flavor)
            return fed
        # What Nodes come to says more than labels that somebody may have edited.
        self._matching.put_flavor(flavor, entry.fields.labels if entry else live.metadata.labels)
        return fed | set(self._matching.queues(flavor))

    def _look_at(self, nodes: frozenset[str]) -> bool:
        """Looks at Nodes anew. Returns whether any is, or was, one that feeds nothing though it should."""
        fleet, suffixes, differs = self._stage.fleet, self._suffixes(), False
        for name in nodes:
            node = fleet.node(name)
            found = unfed(node, fleet.asker.keys, suffixes) if node else None
            if found != self._unfed.get(name):
                differs = True
                if found is None:
                    del self._unfed[name]
                else:
                    self._unfed[name] = found
        return differs

    def _names(self) -> list[str]:
        keys = self._stage.fleet.asker.keys
        return [each.metadata.name for each in self._stage.informers.queues.cache if _is_operators(each, keys)]

    def _queue(self, name: str) -> QueueNeighbourhood | None:
        """A queue of ours and what feeds it."""
        keys, live = self._stage.fleet.asker.keys, self._stage.informers.queues.cache.get(name)
        if live is None or not _is_operators(live, keys):
            return None
        selector = self._selector(live)
        now = self._stage.clock.wall().astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        bare = QueueNeighbourhood(live, now, has_selector=bool(selector))
        if live.metadata.deletion_timestamp or not selector:
            return bare
        acceleratable = selector.get(keys.is_acceleratable) == "true"
        settings = self._stage.rules.settings
        try:
            rules = self._rules()
            flavors = self._flavors(name, rules, acceleratable=acceleratable)
            checks = rules.checks(acceleratable=acceleratable)
            check_one_resource(flavors)
        except EvaluationError as reason:
            return QueueNeighbourhood(live, now, untold=str(reason))
        entries = {each.name: entry for each in flavors if (entry := self._stage.fleet.entry(each.name))}
        mixes, suffixes = bool(settings.get(MIXES, True)), self._suffixes()
        return QueueNeighbourhood(
            live,
            now,
            flavors=flavors,
            checks=checks,
            overlaps=overlapping(entries, self._stage.fleet),
            orphan_nodes=tuple(
                node
                for node, each in sorted(self._unfed.items())
                if is_orphan(each, selector, keys, suffixes, mixes=mixes)
            ),
            drains_when_no_flavors=bool(settings.get(DRAINS_WHEN_NO_FLAVORS, True)),
        )

    def _flavors(self, queue: str, rules: QueueRules, *, acceleratable: bool) -> tuple[LiveFlavor, ...]:
        """Raises: EvaluationError: could not tell."""
        fleet, at = self._stage.fleet, self._stage.informers
        found: list[LiveFlavor] = []
        for name in self._matching.flavors(queue):
            live, entry = at.flavors.cache.get(name), fleet.entry(name)
            if live is None or live.metadata.deletion_timestamp:
                continue
            has_topology = at.topologies.cache.get(str(live.spec.get("topologyName", ""))) is not None
            if entry is not None:
                made = live_flavor(live, entry, rules, fleet, acceleratable=acceleratable, has_topology=has_topology)
                found.append(made)
            elif fleet.unprofiled(live.spec.get("nodeLabels") or {}) or fleet.untold():
                # It is not deleted while a Node may still get its profile, so it is not dropped here either.
                keys, suffixes = fleet.asker.keys, self._suffixes()
                found.append(
                    waiting_flavor(live, rules, keys, suffixes, acceleratable=acceleratable, has_topology=has_topology)
                )
        return tuple(found)

    def _rules(self) -> QueueRules:
        inforce = self._stage.rules
        active = tuple(each.metadata.name for each in self._stage.informers.checks.cache if is_active(each))
        asked = (inforce.program, dict(inforce.settings), active)
        if self._known_rules is None or asked != self._asked:
            self._known_rules, self._asked = QueueRules(inforce.program, inforce.settings, active), asked
        return self._known_rules

    def _suffixes(self) -> Suffixes:
        return Suffixes.of(self._stage.rules.program.block("constants"))


def _is_operators(live: Owned, keys: Keys) -> bool:
    """A queue behind a type; any other is a person's."""
    return live.metadata.labels.get(keys.type) == keys.type_types


def _is_changed(before: Owned, after: Owned) -> bool:
    """In more than its status."""
    was, now = before.metadata, after.metadata
    return _what_counts(before) != _what_counts(after) or (was.labels, was.annotations) != (now.labels, now.annotations)


def _what_counts(live: Owned) -> tuple[object, ...]:
    """What makes a difference of any object here; a flavor's labels are the fleet's word."""
    return live.metadata.uid, live.metadata.deletion_timestamp, live.spec
