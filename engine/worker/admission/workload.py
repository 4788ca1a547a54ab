"""A Workload of Kueue as it is read here: its pod sets, where Kueue has put them, and what its checks say.

Reads and decides nothing. Source: Kueue 0.19.1, v1beta2.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Final

from msgspec import field

from engine.cluster.objects import Condition, Meta, Part
from engine.cluster.resources import WORKLOADS, Resource
from engine.domain.demand import PodSet
from engine.errors import EvaluationError

READY: Final = "Ready"
RETRY: Final = "Retry"


class Resources(Part, frozen=True):
    limits: dict[str, str | int] = field(default_factory=dict)
    requests: dict[str, str | int] = field(default_factory=dict)


class Container(Part, frozen=True):
    resources: Resources = Resources()


class PodSpec(Part, frozen=True):
    containers: tuple[Container, ...] = ()
    init_containers: tuple[Container, ...] = ()


class PodTemplate(Part, frozen=True):
    spec: PodSpec = PodSpec()


class StatedPodSet(Part, frozen=True):
    name: str = "main"
    count: int = 1
    template: PodTemplate = PodTemplate()


class WorkloadSpec(Part, frozen=True):
    pod_sets: tuple[StatedPodSet, ...] = ()
    queue_name: str = ""
    active: bool = True


class IndividualValues(Part, frozen=True):
    prefix: str = ""
    suffix: str = ""
    roots: tuple[str, ...] = ()


class LevelValues(Part, frozen=True):
    universal: str | None = None
    individual: IndividualValues | None = None


class PodCounts(Part, frozen=True):
    universal: int | None = None
    individual: tuple[int, ...] = ()


class AssignmentSlice(Part, frozen=True):
    domain_count: int = 0
    values_per_level: tuple[LevelValues, ...] = ()
    pod_counts: PodCounts = PodCounts()


class TopologyAssignment(Part, frozen=True):
    levels: tuple[str, ...] = ()
    slices: tuple[AssignmentSlice, ...] = ()


class PodSetAssignment(Part, frozen=True):
    name: str = "main"
    flavors: dict[str, str] = field(default_factory=dict)
    count: int | None = None
    topology_assignment: TopologyAssignment | None = None


class Admission(Part, frozen=True):
    cluster_queue: str = ""
    pod_set_assignments: tuple[PodSetAssignment, ...] = ()


class CheckState(Part, frozen=True):
    """What one check says. `retry_count` and the like are Kueue's own and not read."""

    name: str
    state: str = "Pending"
    message: str = ""
    last_transition_time: str = ""
    requeue_after_seconds: int | None = None


class ReclaimablePod(Part, frozen=True):
    name: str = "main"
    count: int = 0


class WorkloadStatus(Part, frozen=True):
    conditions: tuple[Condition, ...] = ()
    admission: Admission | None = None
    checks: tuple[CheckState, ...] = field(name="admissionChecks", default=())
    reclaimable_pods: tuple[ReclaimablePod, ...] = ()


class Workload(Part, frozen=True):
    metadata: Meta
    spec: WorkloadSpec = WorkloadSpec()
    status: WorkloadStatus = WorkloadStatus()

    @property
    def is_judged(self) -> bool:
        """It holds quota and waits. What is evicted still shows a reservation for a moment, and a verdict then would stick."""
        return (
            self.has_reservation
            and self.spec.active
            and not (self.is_admitted or self._is("Evicted") or self.is_finished)
        )

    @property
    def has_reservation(self) -> bool:
        return self._is("QuotaReserved") and self.status.admission is not None

    @property
    def is_admitted(self) -> bool:
        return self._is("Admitted")

    @property
    def is_finished(self) -> bool:
        return self._is("Finished")

    @property
    def reserved_at(self) -> str:
        """When quota was reserved; one reservation is told from the next by it."""
        return next((each.last_transition_time for each in self.status.conditions if each.type == "QuotaReserved"), "")

    def _is(self, condition: str) -> bool:
        return any(each.type == condition and each.status == "True" for each in self.status.conditions)


READ_WORKLOADS: Final[Resource[Workload]] = replace(WORKLOADS, struct=Workload)  # type: ignore[arg-type,assignment]


def pod_sets(
    workload: Workload, hostname: str, nodes: Mapping[str, str], *, without_reclaimed: bool = False
) -> tuple[PodSet, ...]:
    """The pod sets as Kueue has placed them.

    Shape: `hostname` is the label key of single nodes, `nodes` leads from its values to names of Nodes (a value that is not
    there is taken for a name). Where Kueue has placed Pods on no single nodes, they may go anywhere. `without_reclaimed`
    leaves out Pods that are over.
    Raises: EvaluationError: an assignment that contradicts itself.
    """
    admission = workload.status.admission
    assigned = {each.name: each for each in admission.pod_set_assignments} if admission is not None else {}
    reclaimed = {each.name: each.count for each in workload.status.reclaimable_pods} if without_reclaimed else {}
    return tuple(
        _pod_set(each, assigned.get(each.name), hostname, nodes, reclaimed.get(each.name, 0))
        for each in workload.spec.pod_sets
    )


def _pod_set(
    stated: StatedPodSet,
    assigned: PodSetAssignment | None,
    hostname: str,
    nodes: Mapping[str, str],
    reclaimed: int,
) -> PodSet:
    spec = stated.template.spec
    count = stated.count if assigned is None or assigned.count is None else assigned.count
    topology = assigned.topology_assignment if assigned is not None else None
    places: list[tuple[str | None, int]] = [(None, count)]
    if topology is not None and topology.levels and topology.levels[-1] == hostname:
        places = [(nodes.get(value, value), pods) for value, pods in _domains(topology, stated.name)]
    return PodSet(
        name=stated.name,
        containers=tuple(
            {**each.resources.limits, **each.resources.requests} for each in (*spec.init_containers, *spec.containers)
        ),
        flavors=assigned.flavors if assigned is not None else {},
        places=tuple(_less(places, reclaimed)),
    )


def _domains(topology: TopologyAssignment, pod_set: str) -> Iterator[tuple[str, int]]:
    """Values of the lowest level, and the Pods of each."""
    for part in topology.slices:
        values = _values(part.values_per_level[-1] if part.values_per_level else LevelValues(), part.domain_count)
        counts = part.pod_counts
        pods = counts.individual or (counts.universal or 0,) * part.domain_count
        if len(values) != part.domain_count or len(pods) != part.domain_count:
            raise EvaluationError(
                f"the topology assignment of pod set {pod_set} has {len(values)} values and {len(pods)} counts of Pods "
                f"for {part.domain_count} domains",
                remedy="nothing is said about the Workload until Kueue assigns it anew",
            )
        yield from zip(values, pods, strict=True)


def _values(level: LevelValues, count: int) -> tuple[str, ...]:
    if level.individual is None:
        return () if level.universal is None else (level.universal,) * count
    return tuple(f"{level.individual.prefix}{root}{level.individual.suffix}" for root in level.individual.roots)


def _less(places: list[tuple[str | None, int]], pods: int) -> Iterator[tuple[str | None, int]]:
    """Which of the Pods are over is not said; it only matters how many are left."""
    for node, count in places:
        over = min(count, pods)
        pods -= over
        if count > over:
            yield node, count - over
