"""A live ClusterQueue as the state machine's values: where it stands, and what Kueue answered about it.

Whose queue it is, and which flavors feed it, is not known here.
Source: Kueue 0.19.1, ClusterQueue of kueue.x-k8s.io/v1beta2.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from engine.cluster.objects import Owned
from engine.domain.queue_state import (
    EMPTY_PLAN_HOLD,
    MIGRATION_PHASE,
    MIGRATION_STOP_POLICY,
    TAS_QUEUE,
    FlavorQuota,
    FlavorUsage,
    Observed,
    QueueState,
    StopPolicy,
)
from engine.errors import EvaluationError
from engine.values.quantities import parse_quantity

ACTIVE: Final = "Active"
TOPOLOGY_READY: Final = "TopologyReady"

Part = Mapping[str, Any]

_POLICIES: Final[dict[str, StopPolicy]] = {"None": "None", "Hold": "Hold", "HoldAndDrain": "HoldAndDrain"}
_NOTHING: Final[Part] = {}
_PLAIN_FLAVOR: Final = {"name", "resources"}
_PLAIN_RESOURCE: Final = {"name", "nominalQuota"}


def read_state(live: Owned, *, has_selector: bool = True) -> QueueState:
    """The queue as it stands.

    Shape: a queue that is not in the form the machine writes (several groups or resources, limits, fractions) lists what
    it covers in `covered_resources`, so that it differs from every plan; a check that is held to some flavors is named
    with them, for the same reason.
    """
    groups: list[Part] = live.spec.get("resourceGroups") or []
    notes = live.metadata.annotations
    return QueueState(
        stop_policy=_POLICIES.get(str(live.spec.get("stopPolicy"))),
        groups=tuple(_quotas(groups)),
        checks=tuple(_check(each) for each in _checks(live.spec)),
        is_topology_aware=notes.get(TAS_QUEUE) == "true",
        has_empty_plan_hold=notes.get(EMPTY_PLAN_HOLD) == "true",
        migration_phase=notes.get(MIGRATION_PHASE),
        saved_stop_policy=notes.get(MIGRATION_STOP_POLICY),
        generation=live.metadata.generation,
        is_deleting=bool(live.metadata.deletion_timestamp),
        has_selector=has_selector,
        covered_resources=() if _is_plain(groups) else tuple(_covered(groups)),
    )


def read_observed(live: Owned) -> Observed:
    """Kueue's answer about the queue.

    Shape: a flavor's amounts are in the units of its quota, rounded up, with what is borrowed; what cannot be read counts
    as in use.
    """
    status = live.status
    active = condition(live, ACTIVE)
    used, reserved = _amounts(status.get("flavorsUsage")), _amounts(status.get("flavorsReservation"))
    return Observed(
        active=active.get("status"),
        reason=active.get("reason", ""),
        message=active.get("message", ""),
        observed_generation=active.get("observedGeneration", 0),
        reserving_workloads=status.get("reservingWorkloads", 0),
        admitted_workloads=status.get("admittedWorkloads", 0),
        usage=tuple(
            FlavorUsage(name, used.get(name, 0), reserved.get(name, 0))
            for name in sorted(used.keys() | reserved.keys())
        ),
    )


def condition(live: Owned, kind: str) -> Part:
    """A condition of a live object; empty when it has none of that type."""
    conditions: list[Part] = live.status.get("conditions") or []
    return next((each for each in conditions if each.get("type") == kind), _NOTHING)


def _quotas(groups: list[Part]) -> Iterator[FlavorQuota]:
    for group in groups:
        for flavor in group.get("flavors") or ():
            for resource in flavor.get("resources") or ():
                yield FlavorQuota(flavor["name"], resource["name"], _whole(resource.get("nominalQuota"), unreadable=-1))


def _is_plain(groups: list[Part]) -> bool:
    """In the form the machine writes: one group, one resource, whole numbers, no limits."""
    if not groups:
        return True
    if len(groups) > 1 or len(groups[0].get("coveredResources") or ()) != 1:
        return False
    return all(
        flavor.keys() <= _PLAIN_FLAVOR
        and len(flavor.get("resources") or ()) == 1
        and all(each.keys() <= _PLAIN_RESOURCE and _is_whole(each.get("nominalQuota")) for each in flavor["resources"])
        for flavor in groups[0].get("flavors") or ()
    )


def _covered(groups: list[Part]) -> Iterator[str]:
    for group in groups:
        yield from group.get("coveredResources") or ()


def _checks(spec: Part) -> list[Part]:
    strategy: Part = spec.get("admissionChecksStrategy") or _NOTHING
    return strategy.get("admissionChecks") or []


def _check(each: Part) -> str:
    flavors = each.get("onFlavors")
    name: str = each.get("name", "")
    return f"{name} on {', '.join(flavors)}" if flavors else name


def _amounts(usage: list[Part] | None) -> dict[str, int]:
    return {
        flavor["name"]: sum(
            _whole(resource.get(field, 0), unreadable=1)
            for resource in flavor.get("resources") or ()
            for field in ("total", "borrowed")
        )
        for flavor in usage or ()
    }


def _whole(quantity: object, *, unreadable: int) -> int:
    """Rounded up."""
    try:
        return -(-parse_quantity(str(quantity)) // 1)
    except EvaluationError:
        return unreadable


def _is_whole(quantity: object) -> bool:
    try:
        return isinstance(parse_quantity(str(quantity)), int)
    except EvaluationError:
        return False
