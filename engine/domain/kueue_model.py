"""A small model of Kueue's answers, so that offline planning can walk a queue to rest.

Assumed: Kueue observes every object at once, a queue is Active unless stopped, and no workload exists unless usage is
given, in which case a drain ends it at once. Quota arithmetic and admission are not modelled.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from engine.domain.queue import Step, step, switch
from engine.domain.queue_state import FlavorUsage, Observed, QueuePlan, QueueState, TopologyReady
from engine.errors import ContractError

MAX_STEPS = 16
"""More than any walk takes (a full migration is five steps); a walk that is longer is a cycle."""


@dataclass(frozen=True, slots=True)
class Settled:
    """A queue at rest: its state, the type's `inactive`, the last condition set, and Kueue's answer."""

    state: QueueState
    inactive: bool
    condition: TopologyReady | None
    observed: Observed


def observe(state: QueueState, usage: Mapping[str, int] | None = None) -> Observed:
    """Kueue's answer to a queue as it stands; `usage` is what workloads use of each flavor."""
    is_stopped = state.stop_policy not in {None, "None"}
    used = {} if state.is_held_and_drained else dict(usage or {})
    flavors = tuple(
        FlavorUsage(quota.flavor, used.get(quota.flavor, 0), used.get(quota.flavor, 0)) for quota in state.groups
    )
    workloads = sum(1 for flavor in flavors if flavor.used)
    return Observed(
        active="False" if is_stopped else "True",
        reason="Stopped" if is_stopped else "Ready",
        message="Can't admit new workloads: is stopped." if is_stopped else "Can admit new workloads",
        observed_generation=state.generation,
        reserving_workloads=workloads,
        admitted_workloads=workloads,
        usage=flavors,
    )


def written(before: QueueState, after: QueueState) -> QueueState:
    """The state after a write: the generation moves when the spec did, not when only annotations did."""
    spec = (before.stop_policy, before.groups, before.checks, before.covered_resources)
    if spec == (after.stop_policy, after.groups, after.checks, after.covered_resources):
        return after
    return replace(after, generation=before.generation + 1)


def settle(
    state: QueueState,
    plan: QueuePlan,
    *,
    inactive: bool = False,
    usage: Mapping[str, int] | None = None,
    drains_when_no_flavors: bool = True,
) -> Settled:
    """The queue where both controllers have nothing more to write.

    Raises: ContractError: the walk does not end (a fault of the machine, never of the input).
    """
    condition: TopologyReady | None = None
    for _ in range(MAX_STEPS):
        taken: Step = step(state, plan, observe(state, usage), drains_when_no_flavors=drains_when_no_flavors)
        condition = taken.condition or condition
        after_step = written(state, taken.state)
        admin = switch(after_step, inactive=inactive)
        after = written(after_step, admin.state)
        if after == state and not admin.sets_inactive:
            return Settled(state, inactive, condition, observe(state, usage))
        state, inactive = after, inactive or admin.sets_inactive
    raise ContractError(f"a queue did not come to rest in {MAX_STEPS} steps", where=repr(state))
