"""What an InstanceType reports: phase, views, detail and the cells of its table, from its live queue and the cards behind it.

How it is counted is the chain's, the same as a plan shows offline. A type at its end is left to `instancetype`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from engine.chain.book import FlavorEntry
from engine.chain.fields import TypeStatus
from engine.chain.report import type_status as report
from engine.chain.tally import TypeTally
from engine.cluster.actions import Action, Apply
from engine.cluster.objects import Owned
from engine.cluster.resources import INSTANCE_TYPES
from engine.errors import EvaluationError
from engine.values.quantities import parse_quantity
from engine.worker.reading.queue import read_observed, read_state
from engine.worker.render.instancetype import status_fields, type_status

MANAGER: Final = "engine-instancetype-status"

NO_QUEUE: Final = TypeStatus("Activating", "cluster queue is being made")
"""Between a type and its queue; the specification has no word for it."""


@dataclass(frozen=True, slots=True)
class StatusNeighbourhood:
    """One type and what is behind it.

    Shape: `entrance` names its LocalQueues; `feeding` are the flavors that feed it, by name, and `tally` what their Nodes
    add up to. `refusal` is why the type is not served, and `is_in_doubt` that rules could not tell, which keeps a status as
    it is.
    """

    live: Owned
    entrance: str = ""
    queue: Owned | None = None
    feeding: Sequence[FlavorEntry] = ()
    tally: TypeTally = field(default_factory=TypeTally)
    settings: Mapping[str, Any] = field(default_factory=dict)
    refusal: str = ""
    is_in_doubt: bool = False


def plan(seen: StatusNeighbourhood) -> list[Action]:
    """The status of one type."""
    live = seen.live
    if live.metadata.deletion_timestamp or (seen.is_in_doubt and live.status.get("phase")):
        return []
    fields = status_fields(live.spec, seen.entrance, _status(seen))
    return [Apply(INSTANCE_TYPES, type_status(live.metadata.name, fields), MANAGER, subresource="status")]


def reserved_millicores(queue: Owned, resource: str) -> int:
    """What workloads reserve of a resource over all flavors, in thousandths, rounded up.

    Shape: an amount that cannot be read counts as nothing; Kueue writes quantities.
    """
    total = 0
    for flavor in queue.status.get("flavorsReservation") or ():
        for each in flavor.get("resources") or ():
            if each.get("name") == resource:
                total += _thousandths(each.get("total", 0))
    return total


def _status(seen: StatusNeighbourhood) -> TypeStatus:
    if seen.refusal:
        return TypeStatus("Inactive", seen.refusal)
    if seen.queue is None:
        return NO_QUEUE
    state = read_state(seen.queue)
    resource = state.groups[0].resource if state.groups else ""
    return report(
        seen.live.spec,
        state,
        read_observed(seen.queue),
        seen.feeding,
        seen.tally,
        seen.settings,
        reserved_millicores=reserved_millicores(seen.queue, resource),
    )


def _thousandths(quantity: object) -> int:
    try:
        return -(-parse_quantity(str(quantity)) * 1000 // 1)
    except EvaluationError:
        return 0
