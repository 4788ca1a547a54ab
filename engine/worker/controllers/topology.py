"""Kueue Topologies: one for each profile that a Node has. Made before the Node is labelled, gone with the last user.

How levels become a profile is the chain's. Levels cannot change once they are there: a difference is told.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from engine.chain.fields import TopologyFields
from engine.cluster.actions import Action, Apply, Delete, EmitEvent, reference
from engine.cluster.objects import Owned
from engine.cluster.resources import TOPOLOGIES, key_of
from engine.worker.asking import Keys
from engine.worker.render.topology import topology

MANAGER: Final = "engine-topology"


@dataclass(frozen=True, slots=True)
class TopologyNeighbourhood:
    """One topology. Shape: `users` are flavors that name it; `untold` as for flavors."""

    name: str
    keys: Keys
    wanted: TopologyFields | None = None
    live: Owned | None = None
    users: tuple[str, ...] = ()
    untold: tuple[str, ...] = ()


def plan(seen: TopologyNeighbourhood) -> list[Action]:
    """What one topology needs now."""
    live = seen.live
    if live is not None and live.metadata.deletion_timestamp:
        return []
    if seen.wanted is None:
        is_ours = live is not None and live.metadata.labels.get(seen.keys.type) == seen.keys.type_topology
        if live is None or not is_ours or seen.users or seen.untold:
            return []
        return [Delete(TOPOLOGIES, key_of(live), uid=live.metadata.uid)]
    if live is not None and _levels(live) != seen.wanted.levels:
        note = f'managed Topology "{seen.name}" has immutable level drift'
        return [EmitEvent(reference(TOPOLOGIES, live), "TopologyDrift", note, "SyncTopology", "Warning")]
    return [Apply(TOPOLOGIES, topology(seen.wanted), MANAGER)]


def _levels(live: Owned) -> tuple[str, ...]:
    return tuple(each.get("nodeLabel", "") for each in live.spec.get("levels", ()))
