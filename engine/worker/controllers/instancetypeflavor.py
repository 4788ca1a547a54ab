"""InstanceTypeFlavors: the rows of the catalogue, each there while some flavor shows it.

What a row says is the chain's. A row is known for ours by who applied it: it carries no labels.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from engine.chain.changes import Condition
from engine.chain.fields import CatalogueRow
from engine.cluster.actions import Action, Apply, Delete, EmitEvent, reference
from engine.cluster.objects import Owned
from engine.cluster.resources import INSTANCE_TYPE_FLAVORS, key_of
from engine.worker.render.instancetypeflavor import instance_type_flavor

MANAGER: Final = "engine-instancetypeflavor"
UNTOLD_SECONDS: Final = 30.0
"""How often a row is looked at that may only seem to be without a flavor. Chosen: rules that cannot tell are seldom."""


@dataclass(frozen=True, slots=True)
class RowNeighbourhood:
    """One row.

    Shape: `wanted` is what flavors show, None when none does; `condition` is where they disagree; `untold` is what rules
    could not tell, and then nothing is taken for absent.
    """

    name: str
    wanted: CatalogueRow | None = None
    live: Owned | None = None
    condition: Condition | None = None
    untold: tuple[str, ...] = ()


def plan(seen: RowNeighbourhood) -> list[Action]:
    """What one row needs now."""
    live = seen.live
    if live is not None and live.metadata.deletion_timestamp:
        # Made anew once it is gone.
        return []
    if seen.wanted is None:
        if live is None or not is_ours(live) or seen.untold:
            return []
        return [Delete(INSTANCE_TYPE_FLAVORS, key_of(live), uid=live.metadata.uid)]
    actions: list[Action] = [Apply(INSTANCE_TYPE_FLAVORS, instance_type_flavor(seen.wanted), MANAGER)]
    if live is not None and seen.condition is not None:
        note = (
            f"{seen.condition.message}; bring the labels of their Nodes into line, or give the models names that differ"
        )
        regarding = reference(INSTANCE_TYPE_FLAVORS, live)
        actions.append(EmitEvent(regarding, seen.condition.reason, note, "SyncCatalogue", "Warning"))
    return actions


def again_after_seconds(seen: RowNeighbourhood) -> float | None:
    """When to look again though nothing has changed."""
    return UNTOLD_SECONDS if seen.wanted is None and seen.live is not None and seen.untold else None


def is_ours(live: Owned) -> bool:
    """Applied by the worker; any other row is a person's."""
    return any(each.manager == MANAGER and each.operation == "Apply" for each in live.metadata.managed_fields)
