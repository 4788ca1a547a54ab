"""The values of the queue state machine: a queue as it stands, the plan for it, and what Kueue answered.

The transitions are in `queue`, the checks of a plan in `queue_plan`. Nothing here is an object of the cluster; the four
annotations below are the machine's memory, so their keys are code's.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal

TAS_QUEUE: Final = "topology.gpustack.ai/tas-queue"
MIGRATION_PHASE: Final = "topology.gpustack.ai/migration-phase"
MIGRATION_STOP_POLICY: Final = "topology.gpustack.ai/migration-stop-policy"
EMPTY_PLAN_HOLD: Final = "topology.gpustack.ai/empty-plan-hold"
MARKERS: Final = (EMPTY_PLAN_HOLD, MIGRATION_PHASE, MIGRATION_STOP_POLICY, TAS_QUEUE)
"""Annotations the machine owns. Source: specification 20 §5.5."""

StopPolicy = Literal["None", "Hold", "HoldAndDrain"]
UNSET: Final = "unset"

DRAINING: Final = "draining"
SWITCHED: Final = "switched"

Reason = Literal[
    "DuplicateCoveredResource",
    "UnsupportedExistingObject",
    "TooManyFlavors",
    "MissingTopology",
    "OverlappingSelectors",
    "NonConservedQuota",
    "InvalidMigrationState",
    "AwaitingQueueStatus",
    "Migrating",
    "Ready",
]


@dataclass(frozen=True, slots=True)
class FlavorQuota:
    """One flavor's nominal quota of the one resource its queue covers."""

    flavor: str
    resource: str
    nominal: int


@dataclass(frozen=True, slots=True)
class Problem:
    """Why a plan may not be applied."""

    reason: Reason
    message: str


@dataclass(frozen=True, slots=True)
class TopologyReady:
    """The queue's condition: `status` True, False or Unknown."""

    status: Literal["True", "False", "Unknown"]
    reason: Reason
    message: str


@dataclass(frozen=True, slots=True)
class QueueState:
    """A ClusterQueue as far as the machine cares; the defaults are a queue just created.

    Shape: `stop_policy` None is an unset field; `covered_resources` lists one entry a resource group and resource of a
    live object and stays empty for one this machine made; `saved_stop_policy` and `migration_phase` are the
    annotations' texts, unchecked.
    """

    stop_policy: StopPolicy | None = "Hold"
    groups: tuple[FlavorQuota, ...] = ()
    checks: tuple[str, ...] = ()
    is_topology_aware: bool = False
    has_empty_plan_hold: bool = True
    migration_phase: str | None = None
    saved_stop_policy: str | None = None
    generation: int = 1
    is_deleting: bool = False
    has_selector: bool = True
    covered_resources: tuple[str, ...] = ()

    @property
    def is_migrating(self) -> bool:
        """A migration marker is present."""
        return self.migration_phase is not None

    @property
    def is_held_and_drained(self) -> bool:
        """All views of this queue are zero."""
        return self.stop_policy == "HoldAndDrain"

    def markers(self) -> dict[str, str]:
        """The annotations that hold the machine's memory, sorted; an absent one is to be removed."""
        values = {
            EMPTY_PLAN_HOLD: "true" if self.has_empty_plan_hold else None,
            MIGRATION_PHASE: self.migration_phase,
            MIGRATION_STOP_POLICY: self.saved_stop_policy,
            TAS_QUEUE: "true" if self.is_topology_aware else None,
        }
        return {key: value for key, value in values.items() if value is not None}


def read_markers(annotations: Mapping[str, str]) -> dict[str, bool | str | None]:
    """The marker fields of `QueueState` from a live object's annotations, as keyword arguments for it."""
    return {
        "is_topology_aware": annotations.get(TAS_QUEUE) == "true",
        "has_empty_plan_hold": annotations.get(EMPTY_PLAN_HOLD) == "true",
        "migration_phase": annotations.get(MIGRATION_PHASE),
        "saved_stop_policy": annotations.get(MIGRATION_STOP_POLICY),
    }


@dataclass(frozen=True, slots=True)
class QueuePlan:
    """What the queue should hold: the quotas in order, the admission checks, or why there is no plan.

    Shape: `has_live_flavors` is true also when every live flavor has no capacity, and the quotas are then empty.
    """

    quotas: tuple[FlavorQuota, ...] = ()
    checks: tuple[str, ...] = ()
    has_live_flavors: bool = False
    problem: Problem | None = None


@dataclass(frozen=True, slots=True)
class FlavorUsage:
    """What Kueue reports of one flavor, in quota units: workloads using it and workloads reserving it."""

    flavor: str
    used: int = 0
    reserved: int = 0


@dataclass(frozen=True, slots=True)
class Observed:
    """Kueue's answer about a queue; `active` None means that it has not said anything yet.

    Shape: `reserving_workloads` and `admitted_workloads` do not count pending ones; `usage` lists the flavors that
    Kueue's status names.
    """

    active: Literal["True", "False", "Unknown"] | None = None
    reason: str = ""
    message: str = ""
    observed_generation: int = 0
    reserving_workloads: int = 0
    admitted_workloads: int = 0
    usage: tuple[FlavorUsage, ...] = ()

    @property
    def is_reserved(self) -> bool:
        """Some workload holds quota."""
        return bool(
            self.reserving_workloads or self.admitted_workloads or any(flavor.reserved for flavor in self.usage)
        )

    def has_seen(self, state: QueueState) -> bool:
        """The answer is about the queue's present spec."""
        return self.active is not None and self.observed_generation >= state.generation

    def is_stopped(self, state: QueueState) -> bool:
        """Kueue confirms that the present spec admits nothing."""
        return self.has_seen(state) and self.active == "False" and self.reason == "Stopped"

    def holds(self, flavor: str) -> bool:
        """The flavor is in use, or Kueue does not say so and it must be assumed."""
        reported = next((usage for usage in self.usage if usage.flavor == flavor), None)
        return reported is None or bool(reported.used or reported.reserved)
