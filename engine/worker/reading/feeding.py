"""What feeds a queue: live flavors with their quotas, and nodes of its pool that no flavor can select.

Compares what is on the cluster with what Nodes come to. Which flavors are asked about is the caller's; nothing is decided.
Source: specification 20 §5.3, §5.5.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from engine.chain.book import FlavorEntry
from engine.chain.queues import QueueRules
from engine.chain.readback import read_count
from engine.cluster.objects import Owned
from engine.domain.queue_plan import LiveFlavor, Overlap, select_nodes
from engine.worker.asking import Keys, SeenNode
from engine.worker.fleet import Fleet

Labels = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Suffixes:
    """The constants that flavors are read back by. Shape: `manufacturer` is a whole annotation key."""

    count: str
    capacity: str
    manufacturer: str

    @classmethod
    def of(cls, block: Labels) -> Suffixes:
        """From the `constants` block."""
        return cls(block["count"], block["capacity"], f"{block['note']}manufacturer")


@dataclass(frozen=True, slots=True)
class Unfed:
    """A managed Node with a topology that some flavor ought to select and none can: a count is missing or no number.

    Shape: `accelerators` are whole label keys; `lacks_cpu` when none of its CPU keys has a count.
    """

    labels: Labels
    accelerators: frozenset[str]
    lacks_cpu: bool


def live_flavor(
    live: Owned,
    entry: FlavorEntry,
    rules: QueueRules,
    fleet: Fleet,
    *,
    acceleratable: bool,
    has_topology: bool,
) -> LiveFlavor:
    """A flavor that Nodes come to. Raises: EvaluationError: could not tell.

    Cost: Nodes are only looked through for an object that selects others than it should.
    """
    made = replace(
        rules.live(entry, acceleratable=acceleratable),
        topology=str(live.spec.get("topologyName", "")),
        has_topology=has_topology,
    )
    selector: Labels = live.spec.get("nodeLabels") or {}
    if selector == entry.fields.node_labels:
        return made
    seen = (fleet.node(name) for name in fleet.nodes())
    return replace(made, selected_nodes=sum(selector.items() <= node.labels.items() for node in seen if node))


def waiting_flavor(
    live: Owned, rules: QueueRules, keys: Keys, suffixes: Suffixes, *, acceleratable: bool, has_topology: bool
) -> LiveFlavor:
    """A flavor that no Node feeds at the moment, by its own labels. Raises: EvaluationError: could not tell."""
    labels = live.metadata.labels
    key = _own_key(
        labels, keys.acceleratable if labels.get(keys.is_acceleratable) == "true" else keys.general, suffixes
    )
    count = read_count((live.spec.get("nodeLabels") or {}).get(key + suffixes.count))
    capacity = read_count(labels.get(key + suffixes.capacity))
    maker = live.metadata.annotations.get(suffixes.manufacturer) if acceleratable else None
    quota = rules.quota(maker, capacity, acceleratable=acceleratable)
    topology = str(live.spec.get("topologyName", ""))
    return LiveFlavor(
        name=live.metadata.name,
        resource=quota.resource,
        nominal=quota.nominal,
        count=count,
        capacity=capacity,
        selected_nodes=capacity // count if count else 0,
        topology=topology,
        profile_topology=topology or None,
        has_topology=has_topology,
    )


def overlapping(entries: Mapping[str, FlavorEntry], fleet: Fleet) -> tuple[Overlap, ...]:
    """Nodes that two of these flavors select.

    Cost: none where all are of one accelerator key, or of none: a Node has one count of a key, so it is in one of them.
    """
    if len({entry.fields.key.accelerator for entry in entries.values()}) <= 1:
        return ()
    selectors = {name: entry.fields.node_labels for name, entry in entries.items()}
    nodes = {name: node.labels for name in fleet.nodes() if (node := fleet.node(name))}
    return select_nodes(selectors, nodes)[1]


def unfed(node: SeenNode, keys: Keys, suffixes: Suffixes) -> Unfed | None:
    """What is wrong with a Node's counts; None where each of its keys has one."""
    labels = node.labels
    if labels.get(keys.managed) != "true" or keys.profile not in labels:
        return None
    accelerators = frozenset(key for key in _true(labels, keys.acceleratable) if _is_broken(labels, key, suffixes))
    cpus = [read_count(labels.get(key + suffixes.count)) for key in _true(labels, keys.general)]
    lacks_cpu = bool(cpus) and not any(cpus)
    return Unfed(labels, accelerators, lacks_cpu) if accelerators or lacks_cpu else None


def is_orphan(node: Unfed, selector: Labels, keys: Keys, suffixes: Suffixes, *, mixes: bool) -> bool:
    """The node belongs to the pool of this selector, and to no flavor of it.

    Shape: `mixes` when nodes with cards are in CPU pools too.
    """
    if selector.get(keys.is_acceleratable) == "true":
        return selector.items() <= node.labels.items() and any(key in node.accelerators for key in selector)
    if not mixes and node.labels.get(keys.is_acceleratable) == "true":
        return False
    wanted = {key: value for key, value in selector.items() if key != keys.is_acceleratable}
    if not wanted.items() <= node.labels.items():
        return False
    cpus = [key for key in wanted if key.startswith(keys.general)]
    return any(not read_count(node.labels.get(key + suffixes.count)) for key in cpus) if cpus else node.lacks_cpu


def _own_key(labels: Labels, prefix: str, suffixes: Suffixes) -> str:
    return next((key for key in sorted(labels) if key.startswith(prefix) and key + suffixes.capacity in labels), "")


def _true(labels: Labels, prefix: str) -> Iterator[str]:
    return (key for key, value in labels.items() if value == "true" and key.startswith(prefix))


def _is_broken(labels: Labels, key: str, suffixes: Suffixes) -> bool:
    # A maker's own key has no dash and never a count.
    return "-" in key.partition("/")[2] and not read_count(labels.get(key + suffixes.count))
