"""The node half of the chain: what one node's facts become, from its cards to the flavors it feeds.

Nothing is compared between nodes and no object is rendered. A section that could not tell leaves out what it alone would
have written, and says so in a condition.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby
from typing import Any, Protocol

from engine.chain.conditions import Condition, Findings
from engine.chain.contribution import CpuIdentity, NodeContribution
from engine.chain.group_shares import group_shares
from engine.chain.node_capacity import count_maker, token_capacity
from engine.chain.node_cards import CardReader
from engine.chain.node_memo import Answers
from engine.chain.node_questions import NodeQuestions
from engine.chain.readback import Constants, LabelledGroup, read_groups
from engine.domain.facts import NodeFacts
from engine.domain.feasibility import Ledger
from engine.domain.inventory import Group
from engine.domain.ledger import free_state
from engine.errors import EvaluationError
from engine.sections.answer import Evaluator
from engine.values.quantities import canonical, whole_cores

Labels = Mapping[str, str]


class NodeProgram(Evaluator, Protocol):
    """The part of a Program that planning a node uses."""

    @property
    def makers(self) -> tuple[str, ...]:
        """Manufacturers with a pack, sorted."""
        ...


@dataclass(frozen=True, slots=True)
class NodePlan:
    """One node, planned.

    Shape: `labels`, `annotations` and `capacity` are the Node's in the end, all sorted by key, amounts as Kubernetes
    prints them; the three `*_labels` before them are what each publisher adds; `devices_labels` are those of the Devices
    object and empty for a node without cards; `groups` are sorted by key.
    """

    facts: NodeFacts
    contribution: NodeContribution
    labels: Labels
    annotations: Labels
    capacity: Labels
    host_labels: Labels
    device_feature_labels: Labels
    worker_feature_labels: Labels
    groups: tuple[Group, ...]
    devices_labels: Labels
    conditions: tuple[Condition, ...]


def plan_node(
    facts: NodeFacts,
    program: NodeProgram,
    settings: Mapping[str, Any],
    *,
    managed_label: str | None = None,
    ledger: Ledger | None = None,
) -> NodePlan:
    """One node's plan. For many nodes make one `NodePlanner`, which keeps what nodes of one kind have in common."""
    return NodePlanner(program, settings).plan(facts, managed_label=managed_label, ledger=ledger)


class NodePlanner:
    """Plans nodes with one program and one set of settings.

    Cost: a node of a kind that was seen before evaluates no rule; what is left is building its labels.
    """

    def __init__(
        self, program: NodeProgram, settings: Mapping[str, Any], *, group_id_with_memory: bool = False
    ) -> None:
        answers = Answers()
        self._makers = frozenset(program.makers)
        self._constants = Constants.of(program.block("constants"))
        self._ask = NodeQuestions(program, program.makers, settings, answers)
        self._cards = CardReader(program, answers, with_memory=group_id_with_memory)

    def plan(
        self,
        facts: NodeFacts,
        *,
        managed_label: str | None = None,
        ledger: Ledger | None = None,
        stated: tuple[Group, ...] | None = None,
    ) -> NodePlan:
        """One node's plan.

        Shape: `managed_label` is what the node is labelled with, when that is not among the facts' labels; without a
        ledger nothing is allocated; `stated` groups stand in for what the facts' libraries come to.
        """
        found = Findings()
        groups = self._cards.groups(facts, self._makers, found) if stated is None else stated
        rows = _all_free(groups) if ledger is None else ledger
        host = self._ask.host(facts, found)
        device = self._ask.device(groups, found)
        below = self._base_labels(facts) | dict(host.labels) | device
        cpu = self._ask.cpu(facts.cpu, found)
        label = facts.labels.get(self._constants.managed) if managed_label is None else managed_label
        managed = self._ask.managed(label, found)
        profile = self._ask.profile(facts, found)
        cores = _cores(facts, found)
        accelerated = below.get(self._constants.is_acceleratable) == "true"
        worker = self._ask.worker(cpu, managed, found, cores=cores, accelerated=accelerated)
        is_managed = managed == "true"
        labels = below | worker | (dict(profile.node_labels) if profile else {})
        labelled = read_groups(labels, self._constants, self._makers)
        if is_managed:
            labels |= self._ask.fit(groups, rows, found)
        contribution = NodeContribution(
            os=facts.os,
            arch=facts.arch,
            managed=managed,
            profile=profile,
            cpu=cpu or CpuIdentity("", ""),
            cores=cores,
            accelerated=accelerated,
            shares=()
            if cpu is None
            else self._ask.shares(
                labelled, found, managed=managed, profile=profile, accelerated=accelerated, cores=cores
            ),
            groups=group_shares(labelled, groups, rows),
        )
        return NodePlan(
            facts=facts,
            contribution=contribution,
            labels=dict(sorted(labels.items())),
            annotations=dict(sorted({**facts.annotations, **dict(host.annotations)}.items())),
            capacity=self._capacity(facts, groups, labelled, rows, found, is_managed=is_managed),
            host_labels=dict(host.labels),
            device_feature_labels=device,
            worker_feature_labels=worker,
            groups=groups,
            devices_labels=self._ask.devices(facts, groups, cpu, managed, profile, found),
            conditions=found.listed(),
        )

    def _base_labels(self, facts: NodeFacts) -> dict[str, str]:
        own = {self._constants.os: facts.os, self._constants.arch: facts.arch}
        return own | dict(facts.topology_levels) | dict(facts.labels)

    def _capacity(
        self,
        facts: NodeFacts,
        groups: tuple[Group, ...],
        labelled: tuple[LabelledGroup, ...],
        rows: Ledger,
        found: Findings,
        *,
        is_managed: bool,
    ) -> dict[str, str]:
        amounts = {name: _printed(text) for name, text in facts.capacity.items()}
        memory = {group.key: group.memory for group in labelled if group.memory is not None}
        for maker, of_maker in groupby(sorted(groups, key=_maker), key=_maker):
            names = self._ask.names(maker, found)
            if names is None:
                continue
            count = count_maker(of_maker, memory, rows)
            counted = token_capacity(names, count)
            if is_managed:
                counted |= self._ask.counted(maker, names, count, found)
            amounts |= {name: _printed(amount) for name, amount in counted.items()}
        return dict(sorted(amounts.items()))


def _cores(facts: NodeFacts, found: Findings) -> int:
    """Whole cores of the kubelet's capacity; 0, told as a condition, when that is no quantity."""
    text = facts.capacity.get("cpu")
    try:
        return 0 if text is None else whole_cores(text)
    except EvaluationError as error:
        found.add("worker-labels", "NotAQuantity", f"capacity of cpu: {error.what}")
        return 0


@lru_cache(maxsize=4096)
def _printed(amount: int | str) -> str:
    """An amount as Kubernetes prints it; what is no quantity is left as it is. Cost: kept, it is exact arithmetic."""
    try:
        return canonical(amount)
    except EvaluationError:
        return str(amount)


def _maker(group: Group) -> str:
    return group.manufacturer


def _all_free(groups: Iterable[Group]) -> Ledger:
    return {card.uuid: free_state(card) for group in groups for card in group.cards}
