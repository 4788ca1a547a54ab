"""What the chain says of one live Node: the worker's labels of it, its topology, and what it adds to flavors.

The same questions as offline, with what Node and NodeFeatures say in place of a machine document. What a Node adds is read
from its labels: one counts once it is there. A stock NFD leaves references in the annotations that name the CPU, so its
name may have to come from the NodeFeatures.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from engine.chain.conditions import Condition, Findings
from engine.chain.contribution import NodeContribution, Profile
from engine.chain.group_shares import group_shares
from engine.chain.node import NodeProgram
from engine.chain.node_memo import Answers
from engine.chain.node_questions import NodeQuestions
from engine.chain.readback import Constants, read_count, read_groups
from engine.cluster.objects import Node
from engine.domain.facts import CpuFacts, NodeFacts
from engine.errors import EvaluationError
from engine.features.hostfacts import HostFacts, general_key_cpu
from engine.sections.constants import read_constants
from engine.sections.cpu import CpuIdentity
from engine.values.quantities import whole_cores
from engine.worker.cards import NO_CARDS, NodeCards

Labels = Mapping[str, str]

_UNTOLD = "CouldNotTell"
_NO_CPU = CpuFacts()


@dataclass(frozen=True, slots=True)
class SeenNode:
    """What the worker reads of a Node; a heartbeat changes nothing here, and neither does a fit label.

    Shape: `host_cpu` is what NodeFeatures state of the CPU, where the Node's own annotations do not tell; `cards` is None
    while no `Devices` object states any.
    """

    name: str
    uid: str
    os: str
    arch: str
    cpu_capacity: str | None
    labels: Labels
    annotations: Labels
    host_cpu: CpuFacts | None = None
    cards: NodeCards | None = None

    @property
    def troubles(self) -> tuple[str, ...]:
        """What cannot be believed of its cards."""
        return self.cards.troubles if self.cards else ()


@dataclass(frozen=True, slots=True)
class Keys:
    """The constants of the rules that the worker's code must know."""

    managed: str
    is_acceleratable: str
    cpu_only: str
    profile: str
    type: str
    type_nodes: str
    type_types: str
    type_topology: str
    note: str
    acceleratable: str
    general: str
    cpu_fact: str
    fit: tuple[str, ...]
    os: str
    arch: str
    derived: str
    entrance: str
    check_node_devices: str

    @classmethod
    def of(cls, block: Mapping[str, str] | None) -> Keys:
        """From the `constants` block.

        Raises: ContractError: a constant is missing; the derivation packs in force do not fit this code.
        """
        known = read_constants(block)
        return cls(
            managed=known["managed"],
            is_acceleratable=known["isAcceleratable"],
            cpu_only=known["cpuOnly"],
            profile=known["profile"],
            type=known["type"],
            type_nodes=known["typeNodes"],
            type_types=known["typeInstanceTypes"],
            type_topology=known["typeTopology"],
            note=known["note"],
            acceleratable=known["acceleratable"],
            general=known["general"],
            cpu_fact=known["cpuFact"],
            fit=(known["fitSliced"], known["fitShared"]),
            os=known["os"],
            arch=known["arch"],
            derived=known["derivedFromNode"],
            entrance=known["entrance"],
            check_node_devices=known["checkNodeDevices"],
        )


@dataclass(frozen=True, slots=True)
class Added:
    """What a Node adds to flavors, and to topologies. Shape: not `is_told` when a section could not say all of it."""

    contribution: NodeContribution
    profile: Profile | None
    conditions: tuple[Condition, ...]

    @property
    def is_told(self) -> bool:
        return all(each.reason != _UNTOLD for each in self.conditions)


def seen_node(node: Node, keys: Keys, host_cpu: CpuFacts | None = None, cards: NodeCards | None = None) -> SeenNode:
    """A Node as the worker takes it."""
    info = node.status.node_info
    labels = node.metadata.labels
    own = {key: value for key, value in labels.items() if not key.startswith(keys.fit)}
    if len(own) < len(labels):  # a Node without a fit label is not worth a map of its own
        labels = own
    return SeenNode(
        name=node.metadata.name,
        uid=node.metadata.uid,
        os=labels.get(keys.os) or info.operating_system,
        arch=labels.get(keys.arch) or info.architecture,
        cpu_capacity=node.status.capacity.get("cpu"),
        labels=labels,
        annotations=node.metadata.annotations,
        host_cpu=host_cpu,
        cards=cards,
    )


class NodeAsker:
    """Asks with one program and one set of settings; equal Nodes ask once."""

    def __init__(self, program: NodeProgram, settings: Mapping[str, Any]) -> None:
        block = program.block("constants")
        self.constants = Constants.of(block)
        self.keys = Keys.of(block)
        self.makers = frozenset(program.makers)
        self.ask = NodeQuestions(program, program.makers, settings, Answers())

    def knows_cpu(self, node: SeenNode, host: HostFacts) -> bool:
        """Whether anything at all has been said of the Node's host."""
        return host.is_stated or self._cpu(node, host.cpu) != _NO_CPU

    def unmarked(self) -> str | None:
        """The management mark where nobody has set one; None: there is none."""
        return self.ask.managed(None, Findings())

    def profile(self, node: SeenNode) -> Profile | None:
        """The Node's topology profile."""
        return self.ask.profile(_facts(node), Findings())

    def worker_labels(
        self, node: SeenNode, host: HostFacts, *, managed: str | None, accelerated: bool
    ) -> dict[str, str] | None:
        """What the worker asks the Node's labels to be; None where a rule could not tell."""
        found = Findings()
        cpu = self.ask.cpu(self._cpu(node, host.cpu), found)
        labels = self.ask.worker(cpu, managed, found, cores=_cores(node, found), accelerated=accelerated)
        return labels if all(each.reason != _UNTOLD for each in found.listed()) else None

    def added(self, node: SeenNode) -> Added:
        """What the Node adds as it is labelled now."""
        found = Findings()
        labels = node.labels
        managed = labels.get(self.keys.managed)
        accelerated = labels.get(self.keys.is_acceleratable) == "true"
        profile = self.ask.profile(_facts(node), found)
        is_labelled = profile is not None and all(labels.get(key) == value for key, value in profile.node_labels)
        cpu = self.ask.cpu(self._cpu(node, node.host_cpu), found)
        # Flavors select by the key's label: a Node that does not carry it yet could never be chosen.
        is_keyed = cpu is not None and labels.get(self.keys.general + cpu.key) == "true"
        cores = read_count(labels.get(f"{self.keys.general}{cpu.key}{self.constants.count}")) if cpu else 0
        groups = read_groups(labels, self.constants, self.makers)
        cards = node.cards or NO_CARDS
        shares = self.ask.shares(
            groups,
            found,
            managed=managed,
            profile=profile if is_labelled and is_keyed else None,
            accelerated=accelerated,
            cores=cores,
        )
        contribution = NodeContribution(
            os=node.os,
            arch=node.arch,
            managed=managed,
            profile=profile if is_labelled else None,
            cpu=cpu or CpuIdentity("", ""),
            cores=cores,
            accelerated=accelerated,
            shares=shares,
            groups=group_shares(groups, cards.groups, cards.ledger),
        )
        return Added(contribution, profile, found.listed())

    def _cpu(self, node: SeenNode, host: CpuFacts | None) -> CpuFacts:
        return general_key_cpu(host, node.labels, node.annotations, self.keys.cpu_fact)


def _facts(node: SeenNode) -> NodeFacts:
    return NodeFacts(node.name, node.os, node.arch)


def _cores(node: SeenNode, found: Findings) -> int:
    """Whole cores of the capacity; 0, told as a condition, when that is no quantity."""
    try:
        return 0 if node.cpu_capacity is None else whole_cores(node.cpu_capacity)
    except EvaluationError as error:
        found.add("worker-labels", "NotAQuantity", f"capacity of cpu: {error.what}")
        return 0
