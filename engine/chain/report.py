"""What a type reports: phase, views and detail, from its queue, the flavors that feed it and what their nodes add up to.

One function for a planned queue and for a live one. How the queue came to where it is, is `queues` offline and Kueue's
answer on a cluster.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from engine.chain.book import FlavorEntry
from engine.chain.fields import NO_CARDS, NO_CORES, Labels, TypeStatus
from engine.chain.tally import TypeTally
from engine.chain.types import GENERIC, MadeType
from engine.domain.queue import phase
from engine.domain.queue_state import Observed, QueueState, StopPolicy, read_markers
from engine.domain.views import View, cpu_view
from engine.errors import EvaluationError
from engine.sections.cpu import detail_object

OVERCOMMITS_CPU: Final = "instanceGeneralResourcesOvercommit"
AWARE_OF_CPU: Final = "instanceTypeAwareCpuManufacturer"
"""The settings that code, not a rule, obeys here: they steer the arithmetic of a view, and what is told of a CPU."""

_POLICIES: Final[dict[str, StopPolicy]] = {"None": "None", "Hold": "Hold", "HoldAndDrain": "HoldAndDrain"}


def created_state(made: MadeType) -> QueueState:
    """The queue of a type as it is made. Raises: EvaluationError: the rules gave a stop policy that is none."""
    policy = _POLICIES.get(made.queue.stop_policy)
    if policy is None:
        raise EvaluationError(
            f"section queue gave the stop policy {made.queue.stop_policy!r}", why="it is none of three"
        )
    markers = read_markers(dict(made.queue.annotations))
    return QueueState(
        stop_policy=policy,
        has_selector=bool(made.selector),
        is_topology_aware=bool(markers["is_topology_aware"]),
        has_empty_plan_hold=bool(markers["has_empty_plan_hold"]),
    )


def queue_labels(made: MadeType) -> Labels:
    """The labels of a type's queue: those of its pool, and what it is."""
    return {**made.selector, **dict(made.queue.labels)}


def type_status(
    spec: Mapping[str, Any],
    state: QueueState,
    observed: Observed,
    feeding: Sequence[FlavorEntry],
    tally: TypeTally,
    settings: Mapping[str, Any],
    *,
    reserved_millicores: int = 0,
) -> TypeStatus:
    """What a type with this spec and this queue reports.

    Shape: `feeding` is sorted by name; `reserved_millicores` is what workloads reserve of a queue that covers CPU.
    """
    shown, message = phase(state, observed)
    is_accelerated = bool(spec.get("acceleratable"))
    return TypeStatus(
        phase=shown,
        phase_message=message,
        accelerator=tally.views(held_and_drained=state.is_held_and_drained) if is_accelerated else NO_CARDS,
        cpu=NO_CORES if is_accelerated else _cores(state, feeding, settings, reserved_millicores),
        detail=_detail(spec, feeding, tally, settings),
    )


def _cores(
    state: QueueState, feeding: Sequence[FlavorEntry], settings: Mapping[str, Any], reserved_millicores: int
) -> View:
    in_force = {quota.flavor for quota in state.groups}
    largest = max((entry.fields.key.count for entry in feeding if entry.fields.name in in_force), default=0)
    return cpu_view(
        sum(quota.nominal for quota in state.groups),
        largest,
        reserved_millicores,
        overcommit=bool(settings.get(OVERCOMMITS_CPU)),
        held_and_drained=state.is_held_and_drained,
    )


def _detail(
    spec: Mapping[str, Any], feeding: Sequence[FlavorEntry], tally: TypeTally, settings: Mapping[str, Any]
) -> dict[str, Any]:
    if not feeding or (not spec.get("acceleratable") and (spec.get("generalGroup") or GENERIC) == GENERIC):
        return {}
    fields = feeding[0].fields
    cpu = {"manufacturer": fields.cpu.manufacturer, "product": fields.cpu.name, "family": fields.cpu.family}
    cpu |= detail_object(fields.cpu.detail)
    card = fields.accelerator
    if card is None:
        return _known(cpu)
    versions = tally.runtime_versions()
    return _known(
        {
            "manufacturer": card.manufacturer,
            "product": card.product,
            "family": card.family,
            "memory": card.memory,
            "cores": card.cores,
            "computeCapability": card.compute_capability,
            "slicedDetail": tally.sliced_detail(),
            "cpu": _known(cpu) if settings.get(AWARE_OF_CPU) else None,
            "runtimeVersion": versions[0] if versions else None,
            "runtimeVersions": list(versions) or None,
        }
    )


def _known(fields: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if value not in (None, "")}
