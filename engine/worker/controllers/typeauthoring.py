"""InstanceTypes that the worker authors: one for each pool that has flavors, made once and then the user's.

Never changed and never deleted here. A derived type that somebody deletes is made again, with what the rules say by then,
as long as its pool has flavors and the rules author it. What becomes of a type is `instancetype`'s.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from engine.chain.changes import Condition
from engine.chain.types import MadeType
from engine.cluster.actions import Action, Create, EmitEvent, reference
from engine.cluster.objects import Owned
from engine.cluster.resources import INSTANCE_TYPES, RESOURCE_FLAVORS
from engine.worker.render.instancetype import made_type

MANAGER: Final = "engine-type-authoring"

_REMEDY: Final = {
    "CouldNotTell": "see `engine explain` for the rule; the type is authored as soon as it can tell",
    "PoolsDiffer": "give pools that differ names that differ",
}


@dataclass(frozen=True, slots=True)
class PoolNeighbourhood:
    """One pool.

    Shape: `wanted` is the type the rules make of it, None while they author none; `flavors` are those of the pool's
    ResourceFlavors that are on the cluster and not leaving; `conditions` are what is wrong with the pool.
    """

    name: str
    wanted: MadeType | None = None
    flavors: tuple[Owned, ...] = ()
    live: Owned | None = None
    conditions: tuple[Condition, ...] = ()


def plan(seen: PoolNeighbourhood) -> list[Action]:
    """What one pool needs now: nothing before a flavor of it is there, so that a type never stands before its flavors."""
    if not seen.flavors:
        return []
    # A pool may have no object of its own yet; its first flavor stands for it.
    regarding = reference(RESOURCE_FLAVORS, seen.flavors[0])
    actions: list[Action] = [
        EmitEvent(
            regarding,
            each.reason,
            f"InstanceType {each.name}: {each.message}; {_REMEDY[each.reason]}",
            "AuthorInstanceType",
            "Warning",
        )
        for each in seen.conditions
    ]
    if seen.live is None and seen.wanted is not None:
        made = seen.wanted
        actions.append(Create(INSTANCE_TYPES, made_type(made.name, made.labels, made.spec), MANAGER))
    return actions
