"""LocalQueues: the entrance of each queue of ours in every namespace that is not the system's.

A user may write them, so nothing is read back from one, and one that is in the way is told, never removed: his Workloads
may be in it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from engine.chain.fields import LocalQueueFields
from engine.cluster.actions import Action, Apply, EmitEvent, reference
from engine.cluster.objects import Namespace, Owned
from engine.cluster.ownership import owner_reference
from engine.cluster.resources import CLUSTER_QUEUES, LOCAL_QUEUES
from engine.sections.entrance import Entrance
from engine.worker.render.localqueue import local_queue

MANAGER: Final = "engine-entrance"
KUBE_SYSTEM: Final = "kube-system"
"""With the worker's own namespace, the reserved ones. Source: specification 20 §5.7."""


@dataclass(frozen=True, slots=True)
class EntranceNeighbourhood:
    """One queue of ours in one namespace. Shape: `entrance` is None where rules could not tell it, and `untold` says why."""

    namespace: Namespace
    queue: Owned
    entrance: Entrance | None
    live: Owned | None = None
    untold: str = ""


def plan(seen: EntranceNeighbourhood) -> list[Action]:
    """What one entrance needs now."""
    if seen.queue.metadata.deletion_timestamp or is_ending(seen.namespace):
        # They go with the queue or with the namespace.
        return []
    if seen.entrance is None:
        note = f"{seen.untold}; its LocalQueues stay as they are"
        return [EmitEvent(reference(CLUSTER_QUEUES, seen.queue), "CouldNotTell", note, "SyncEntrance", "Warning")]
    live = seen.live
    if live is not None and live.metadata.deletion_timestamp:
        return []
    if live is not None and (note := _taken(live, seen.queue.metadata.name)):
        return [EmitEvent(reference(LOCAL_QUEUES, live), "EntranceTaken", note, "SyncEntrance", "Warning")]
    fields = LocalQueueFields(
        seen.entrance.name, seen.namespace.metadata.name, seen.queue.metadata.name, dict(seen.entrance.annotations)
    )
    owner = owner_reference(CLUSTER_QUEUES, seen.queue, is_controller=True)
    return [Apply(LOCAL_QUEUES, local_queue(fields, owner), MANAGER)]


def is_ending(namespace: Namespace) -> bool:
    """Nothing can be made in it any more."""
    return bool(namespace.metadata.deletion_timestamp) or namespace.status.phase == "Terminating"


def is_reserved(namespace: str, system_namespace: str) -> bool:
    """Has no entrances."""
    return namespace in {system_namespace, KUBE_SYSTEM}


def _taken(live: Owned, queue: str) -> str:
    """Why the name is not ours here; empty when it is, or can be taken over."""
    name, leads_to = live.metadata.name, live.spec.get("clusterQueue")
    if leads_to != queue:
        # Kueue lets nobody change where a LocalQueue leads.
        return f'LocalQueue "{name}" leads to "{leads_to}" instead of "{queue}"; delete it, and it is made anew'
    other = next(
        (each for each in live.metadata.owner_references if each.controller and each.kind != CLUSTER_QUEUES.kind), None
    )
    if other is None:
        return ""
    return f'LocalQueue "{name}" is controlled by {other.kind} "{other.name}"; delete it, and it is made anew'
