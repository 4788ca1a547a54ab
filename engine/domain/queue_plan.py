"""The plan of a queue's resource group, and the checks it must pass before it replaces the last complete one.

Which flavors feed a queue and what each is worth is given; how a plan is brought into force is `queue`'s.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from engine.domain.kueue_limits import FLAVORS_PER_GROUP
from engine.domain.queue_state import FlavorQuota, Problem, QueuePlan, QueueState


@dataclass(frozen=True, slots=True)
class LiveFlavor:
    """A flavor that feeds a queue and is not being deleted.

    Shape: `count` is cards or cores of one node, `capacity` what the flavor's label advertises, `selected_nodes` how
    many of the pool's nodes its selector selects. `topology` is what it references, `profile_topology` what its profile
    should make it reference; None for no profile.
    """

    name: str
    resource: str
    nominal: int
    count: int
    capacity: int
    selected_nodes: int
    topology: str
    profile_topology: str | None
    has_topology: bool = True


@dataclass(frozen=True, slots=True)
class Overlap:
    """A node that two flavors of one queue select."""

    node: str
    first: str
    second: str


def plan_queue(
    state: QueueState,
    flavors: Iterable[LiveFlavor],
    checks: tuple[str, ...] = (),
    *,
    overlaps: Iterable[Overlap] = (),
    orphan_nodes: Iterable[str] = (),
) -> QueuePlan:
    """The whole plan of a queue: at most one group, flavors by per-node count and then name.

    Shape: `orphan_nodes` are nodes of the pool that no flavor selects; a flavor without capacity is left out, and is
    not a problem. The first problem in the order of the specification's table is reported.
    Source: specification 20 §5.3, §5.5.
    """
    live = sorted(flavors, key=lambda flavor: (flavor.count, flavor.name))
    if not live:
        return QueuePlan(checks=checks)
    quotas = tuple(FlavorQuota(flavor.name, flavor.resource, flavor.nominal) for flavor in live if flavor.capacity > 0)
    problem = (
        _existing(state)
        or _too_many(quotas)
        or next((found for flavor in live if (found := _topology(flavor))), None)
        or next((_overlap(overlap) for overlap in sorted(overlaps, key=_overlap_order)), None)
        or next((found for flavor in live if (found := _conserved(flavor))), None)
        or next((_orphan(node) for node in sorted(orphan_nodes)), None)
    )
    return QueuePlan(quotas, checks, has_live_flavors=True, problem=problem)


def select_nodes(
    selectors: Mapping[str, Mapping[str, str]], nodes: Mapping[str, Mapping[str, str]]
) -> tuple[dict[str, int], tuple[Overlap, ...], tuple[str, ...]]:
    """How many of a pool's nodes each flavor selects, the overlaps, and the nodes that none selects.

    Cost: flavors × nodes; for a snapshot. A running chain keeps the counts by contribution instead.
    """
    counts = dict.fromkeys(sorted(selectors), 0)
    overlaps: list[Overlap] = []
    orphans: list[str] = []
    for node in sorted(nodes):
        chosen = [name for name in counts if selectors[name].items() <= nodes[node].items()]
        for name in chosen:
            counts[name] += 1
        if not chosen:
            orphans.append(node)
        overlaps += [Overlap(node, chosen[0], other) for other in chosen[1:]]
    return counts, tuple(overlaps), tuple(orphans)


def _existing(state: QueueState) -> Problem | None:
    for position, resource in enumerate(state.covered_resources):
        if resource in state.covered_resources[:position]:
            return Problem(
                "DuplicateCoveredResource",
                f'resource "{resource}" is covered by more than one ClusterQueue resource group',
            )
    if (state.groups or state.covered_resources) and not state.is_topology_aware:
        return Problem(
            "UnsupportedExistingObject",
            "existing ClusterQueue has quota that was not created by the topology-aware queue controller;"
            " create fresh managed objects",
        )
    return None


def _too_many(quotas: tuple[FlavorQuota, ...]) -> Problem | None:
    if len(quotas) <= FLAVORS_PER_GROUP:
        return None
    return Problem(
        "TooManyFlavors",
        f"covered resource requires {len(quotas)} flavors; Kueue permits at most {FLAVORS_PER_GROUP}",
    )


def _topology(flavor: LiveFlavor) -> Problem | None:
    subject = f'ResourceFlavor "{flavor.name}"'
    if flavor.profile_topology is None:
        return Problem("MissingTopology", f"{subject} is not bound to one topology profile")
    if flavor.topology != flavor.profile_topology:
        wanted = f'references Topology "{flavor.topology}" instead of profile Topology "{flavor.profile_topology}"'
        return Problem("MissingTopology", f"{subject} {wanted}")
    if not flavor.has_topology:
        return Problem("MissingTopology", f'{subject} references missing Topology "{flavor.topology}"')
    return None


def _overlap_order(overlap: Overlap) -> tuple[str, str, str]:
    return overlap.node, overlap.first, overlap.second


def _overlap(overlap: Overlap) -> Problem:
    return Problem(
        "OverlappingSelectors",
        f'Node "{overlap.node}" is selected by ResourceFlavors "{overlap.first}" and "{overlap.second}"',
    )


def _conserved(flavor: LiveFlavor) -> Problem | None:
    if flavor.capacity == flavor.selected_nodes * flavor.count:
        return None
    return Problem(
        "NonConservedQuota",
        f'ResourceFlavor "{flavor.name}" advertises capacity {flavor.capacity}'
        f" but {flavor.selected_nodes} selected Nodes contribute {flavor.count} each",
    )


def _orphan(node: str) -> Problem:
    return Problem("NonConservedQuota", f'Node "{node}" belongs to the queue pool but contributes to no ResourceFlavor')
