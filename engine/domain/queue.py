"""The ClusterQueue state machine: from a queue, its plan and Kueue's answer to the queue's next state.

Pure: it writes nothing, waits for nothing and asks nobody; a caller applies `Step.state` when it differs and comes back
after `requeue_seconds`. The rule that runs through it: a queue without resource groups admits everything, so none is
ever left open.

Source: specification 20 §5.5, §5.6, §6.5; texts verbatim.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final, Literal

from engine.domain.queue_state import (
    DRAINING,
    SWITCHED,
    UNSET,
    Observed,
    Problem,
    QueuePlan,
    QueueState,
    StopPolicy,
    TopologyReady,
)

REJECTED_RETRY_SECONDS: Final = 30
MIGRATION_RETRY_SECONDS: Final = 5
STATUS_RETRY_SECONDS: Final = 5
RESERVED_RETRY_SECONDS: Final = 60

READY: Final = TopologyReady("True", "Ready", "all queue flavors are topology-aware and quota is conserved")
MIGRATING: Final = TopologyReady("False", "Migrating", "holding and draining before switching topology flavors")

_SAVED_POLICIES: Final[dict[str, StopPolicy | None]] = {
    UNSET: None,
    "None": "None",
    "Hold": "Hold",
    "HoldAndDrain": "HoldAndDrain",
}

Phase = Literal["Draining", "Inactive", "Activating", "Active"]


@dataclass(frozen=True, slots=True)
class Step:
    """One reconcile's answer: the state to write when it differs, the condition to set (None: leave it), when to return."""

    state: QueueState
    condition: TopologyReady | None = None
    requeue_seconds: int | None = None


@dataclass(frozen=True, slots=True)
class AdminStep:
    """The admin switch's answer: the state to write when it differs, and whether `spec.inactive` becomes true."""

    state: QueueState
    sets_inactive: bool = False


def step(state: QueueState, plan: QueuePlan, observed: Observed, *, drains_when_no_flavors: bool = True) -> Step:
    """One reconcile of the queue controller.

    Shape: a migration under way is continued before dropped flavors are looked at; the specification's order would only
    show `AwaitingQueueStatus` instead of `Migrating` for one pass.
    """
    if state.is_deleting:
        return Step(replace(state, stop_policy="HoldAndDrain"))
    if not state.has_selector:
        return Step(state)
    problem = (plan.problem if plan.has_live_flavors else None) or _unsupported_migration(state)
    if problem:
        return _reject(state, problem)
    if state.is_migrating:
        return _migrate(state, plan, observed)
    if plan.has_live_flavors:
        return _fill(state, plan, observed)
    if not state.groups:
        return Step(_hold_empty(state))
    if not drains_when_no_flavors and observed.is_reserved:
        return Step(state, requeue_seconds=RESERVED_RETRY_SECONDS)
    return _migrate(state, plan, observed)


def switch(state: QueueState, *, inactive: bool) -> AdminStep:
    """One pass of the admin switch between `spec.inactive` and the stop policy; at most one write.

    Shape: HoldAndDrain is never set or cleared here.
    """
    if state.is_deleting:
        return AdminStep(state)
    if state.is_migrating:
        return AdminStep(replace(state, saved_stop_policy="Hold" if inactive else "None"))
    if state.stop_policy == "HoldAndDrain":
        return AdminStep(state, sets_inactive=not inactive)
    if inactive:
        return AdminStep(replace(state, stop_policy="Hold"))
    if state.stop_policy == "Hold" and not state.has_empty_plan_hold:
        if state.groups:
            return AdminStep(replace(state, stop_policy="None"))
        return AdminStep(replace(state, has_empty_plan_hold=True))
    return AdminStep(state)


def phase(state: QueueState, observed: Observed, *, type_is_deleting: bool = False) -> tuple[Phase, str]:
    """The phase of the type that fronts the queue, and its message."""
    if type_is_deleting:
        return "Inactive", "instance type is terminating"
    match state.stop_policy:
        case "HoldAndDrain" if observed.is_reserved:
            return "Draining", "cluster queue is draining admitted workloads"
        case "HoldAndDrain":
            return "Inactive", "cluster queue is held and drained"
        case "Hold":
            return "Inactive", "cluster queue is held"
        case _:
            return _ACTIVE_PHASES[observed.active], observed.message


_ACTIVE_PHASES: Final[dict[str | None, Phase]] = {
    None: "Activating",
    "Unknown": "Activating",
    "False": "Inactive",
    "True": "Active",
}


def _fill(state: QueueState, plan: QueuePlan, observed: Observed) -> Step:
    planned = {quota.flavor for quota in plan.quotas}
    dropped = [quota.flavor for quota in state.groups if quota.flavor not in planned]
    if dropped and not observed.has_seen(state):
        waiting = (
            f"waiting for Kueue to report flavor usage at generation {state.generation}"
            f" before dropping flavors [{', '.join(dropped)}]"
        )
        return Step(state, TopologyReady("Unknown", "AwaitingQueueStatus", waiting), STATUS_RETRY_SECONDS)
    if any(observed.holds(flavor) for flavor in dropped):
        return _migrate(state, plan, observed)
    is_emptied = state.stop_policy == "HoldAndDrain" and not state.groups and bool(plan.quotas)
    filled = replace(
        state,
        groups=plan.quotas,
        covered_resources=(),
        checks=plan.checks,
        is_topology_aware=True,
        has_empty_plan_hold=state.has_empty_plan_hold and not plan.quotas,
        stop_policy="None" if is_emptied else state.stop_policy,
    )
    return Step(_hold_empty(filled), READY)


def _migrate(state: QueueState, plan: QueuePlan, observed: Observed) -> Step:
    if not state.is_migrating:
        draining = replace(
            state,
            saved_stop_policy=state.stop_policy or UNSET,
            migration_phase=DRAINING,
            stop_policy="HoldAndDrain",
            is_topology_aware=True,
        )
        return Step(draining, MIGRATING, MIGRATION_RETRY_SECONDS)
    if state.stop_policy != "HoldAndDrain" or state.checks != plan.checks:
        restated = replace(state, stop_policy="HoldAndDrain", checks=plan.checks)
        return Step(restated, MIGRATING, MIGRATION_RETRY_SECONDS)
    if not observed.is_stopped(state) or observed.is_reserved:
        return Step(state, MIGRATING, MIGRATION_RETRY_SECONDS)
    if state.migration_phase == DRAINING or state.groups != plan.quotas:
        switched = replace(state, groups=plan.quotas, covered_resources=(), migration_phase=SWITCHED)
        return Step(switched, MIGRATING, MIGRATION_RETRY_SECONDS)
    if not plan.quotas:
        return Step(state, READY)
    restored = replace(
        state,
        stop_policy=_SAVED_POLICIES[state.saved_stop_policy or UNSET],
        migration_phase=None,
        saved_stop_policy=None,
        has_empty_plan_hold=False,
    )
    return Step(restored, READY)


def _reject(state: QueueState, problem: Problem) -> Step:
    retries = problem.reason in {"MissingTopology", "NonConservedQuota"} or state.is_migrating
    return Step(
        _hold_empty(state),
        TopologyReady("False", problem.reason, problem.message),
        REJECTED_RETRY_SECONDS if retries else None,
    )


def _hold_empty(state: QueueState) -> QueueState:
    is_open = state.stop_policy in {None, "None"}
    if state.groups or state.covered_resources or state.is_migrating or not is_open:
        return state
    return replace(state, stop_policy="Hold", has_empty_plan_hold=True)


def _unsupported_migration(state: QueueState) -> Problem | None:
    if state.migration_phase not in {None, DRAINING, SWITCHED}:
        return Problem(
            "InvalidMigrationState",
            f'ClusterQueue has unsupported topology migration phase "{state.migration_phase}"',
        )
    if state.is_migrating and (state.saved_stop_policy or "") not in _SAVED_POLICIES:
        return Problem(
            "InvalidMigrationState",
            f'ClusterQueue has unsupported saved stop policy "{state.saved_stop_policy or ""}"',
        )
    return None
