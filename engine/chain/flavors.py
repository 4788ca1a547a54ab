"""Grouping: which nodes make up which flavor, kept as counters so that one node's change touches only its flavors.

Which flavors a node feeds is the node's contribution; a flavor's name, labels and notes are the rules'. Nothing here
holds a node: equal contributions are one value with a number beside it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, TypeVar

from engine.chain.contribution import CpuIdentity, GroupShare, NodeContribution, Profile
from engine.chain.fields import AcceleratorIdentity, FlavorKey
from engine.errors import EvaluationError
from engine.values.quantities import parse_quantity

T = TypeVar("T")
Tally = dict[T, int]
"""How many nodes have a value; a value is there only while a node has it."""


@dataclass(frozen=True, slots=True)
class FlavorInput:
    """What one flavor group comes to: all that a flavor's sections look at. Equal inputs give equal answers.

    Shape: `sliceable` is about the accelerator key, over all nodes that have it, not about this flavor alone.
    """

    key: FlavorKey
    nodes: int
    cpu: CpuIdentity
    profile: Profile
    accelerator: AcceleratorIdentity | None
    sliceable: bool


@dataclass(slots=True)
class FlavorGroup:
    """The nodes of one flavor, as counters."""

    nodes: int = 0
    cpus: Tally[CpuIdentity] = field(default_factory=dict)
    profiles: Tally[Profile] = field(default_factory=dict)
    accelerators: Tally[AcceleratorIdentity] = field(default_factory=dict)
    shares: Tally[GroupShare] = field(default_factory=dict)

    def count(self, contribution: NodeContribution, profile: Profile, share: GroupShare | None, by: int) -> None:
        """Add (`by` is 1) or take away (-1) one node."""
        self.nodes += by
        tally(self.cpus, contribution.cpu, by)
        tally(self.profiles, profile, by)
        if share is not None:
            tally(self.accelerators, accelerator_identity(share), by)
            tally(self.shares, share, by)


class FlavorIndex:
    """All flavor groups, by key, with the indexes that lead from an accelerator to its flavors."""

    def __init__(self) -> None:
        self.groups: dict[FlavorKey, FlavorGroup] = {}
        self._by_accelerator: dict[str, set[FlavorKey]] = {}
        self._sliceable_nodes: Tally[str] = {}

    def add(self, contribution: NodeContribution) -> set[FlavorKey]:
        """Count one more node of this kind. Returns the flavors it touched."""
        return self._count(contribution, 1)

    def remove(self, contribution: NodeContribution) -> set[FlavorKey]:
        """Count one node of this kind less. Returns the flavors it touched."""
        return self._count(contribution, -1)

    def input(self, key: FlavorKey) -> FlavorInput | None:
        """What the flavor comes to; None when no node feeds it any more.

        Shape: where nodes differ in a fact, the least one is taken, fact by fact, whatever order they came in.
        """
        group = self.groups.get(key)
        if group is None:
            return None
        return FlavorInput(
            key=key,
            nodes=group.nodes,
            cpu=least_cpu(group.cpus),
            profile=min(group.profiles, key=lambda profile: (profile.name, profile.levels, profile.suffix)),
            accelerator=least_accelerator(group.accelerators) if key.accelerator else None,
            sliceable=key.accelerator in self._sliceable_nodes,
        )

    def _count(self, node: NodeContribution, by: int) -> set[FlavorKey]:
        touched: set[FlavorKey] = set()
        shares = {share.key: share for share in node.groups}
        for flavor in node.shares:
            share = shares.get(flavor.accelerator or "")
            # A flavor without a topology, or of a card that no label describes, could not be named: it feeds nothing.
            if node.profile is None or (flavor.accelerator and share is None):
                continue
            key = FlavorKey(
                node.cpu.key, flavor.accelerator or "", node.os, node.arch, flavor.count, node.profile.profile
            )
            self._count_group(key, node, node.profile, share, by)
            touched.add(key)
        if node.managed == "true":
            for share in node.groups:
                touched |= self._count_sliceable(share, by)
        return touched

    def _count_group(
        self, key: FlavorKey, node: NodeContribution, profile: Profile, share: GroupShare | None, by: int
    ) -> None:
        group = self.groups.get(key)
        if group is None:
            group = self.groups[key] = FlavorGroup()
            if key.accelerator:
                self._by_accelerator.setdefault(key.accelerator, set()).add(key)
        group.count(node, profile, share, by)
        if group.nodes == 0:
            del self.groups[key]
            if key.accelerator:
                keys = self._by_accelerator[key.accelerator]
                keys.discard(key)
                if not keys:
                    del self._by_accelerator[key.accelerator]

    def _count_sliceable(self, share: GroupShare, by: int) -> set[FlavorKey]:
        if not share.sliceable:
            return set()
        before = share.key in self._sliceable_nodes
        tally(self._sliceable_nodes, share.key, by)
        flips = before != (share.key in self._sliceable_nodes)
        return set(self._by_accelerator.get(share.key, ())) if flips else set()


def least_cpu(cpus: Iterable[CpuIdentity]) -> CpuIdentity:
    """The CPU a flavor of these nodes shows, fact by fact the least text."""
    every = tuple(cpus)
    if len(every) == 1:
        return every[0]
    return CpuIdentity(
        manufacturer=min(cpu.manufacturer for cpu in every),
        key=every[0].key,
        name=_least(cpu.name for cpu in every),
        family=_least(cpu.family for cpu in every),
        detail=min((cpu.detail for cpu in every), key=str),
    )


def accelerator_identity(share: GroupShare) -> AcceleratorIdentity:
    """What a flavor shows of one node's share."""
    return AcceleratorIdentity(
        share.key,
        share.manufacturer,
        share.product,
        share.family,
        share.memory,
        share.cores,
        share.compute_capability,
    )


def least_accelerator(accelerators: Iterable[AcceleratorIdentity]) -> AcceleratorIdentity:
    """The accelerator a flavor of these nodes shows, fact by fact the least; memory and cores as quantities."""
    every = tuple(accelerators)
    if len(every) == 1:
        return every[0]
    return AcceleratorIdentity(
        key=min(each.key for each in every),
        manufacturer=min(each.manufacturer for each in every),
        product=min(each.product for each in every),
        family=_least(each.family for each in every),
        memory=_least((each.memory for each in every), as_quantity),
        cores=_least((each.cores for each in every), as_quantity) or "0",
        compute_capability=_least(each.compute_capability for each in every),
    )


def as_quantity(text: str) -> tuple[bool, object, str]:
    """An order for texts that are quantities mostly: by amount, the others after them by text."""
    try:
        return False, parse_quantity(text), text
    except EvaluationError:
        return True, 0, text


def tally(counts: Tally[T], value: T, by: int) -> None:
    """Count a value up or down; one that nobody has any more is forgotten."""
    left = counts.get(value, 0) + by
    if left:
        counts[value] = left
    else:
        del counts[value]


def _least(texts: Iterable[str | None], order: Callable[[str], Any] | None = None) -> str | None:
    return min((text for text in texts if text is not None), key=order, default=None)
