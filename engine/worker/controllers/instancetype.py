"""The life of one InstanceType: its labels and finalizer, that its ClusterQueue exists, the admin switch, its end.

A queue is made held and empty; what it holds, checks, drains and when it opens first is the queue controller's. What the type
reports is `instancetypestatus`. Source: specification 20 §5.2, §5.6, §6.3, §6.7.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from engine.chain.fields import QueueFields
from engine.chain.report import created_state, queue_labels
from engine.chain.types import MadeType
from engine.cluster.actions import Action, Apply, Create, Delete, EmitEvent, MergePatch, reference
from engine.cluster.objects import Owned
from engine.cluster.ownership import remove_finalizer
from engine.cluster.resources import CLUSTER_QUEUES, INSTANCE_TYPES, key_of
from engine.domain.queue import phase, switch
from engine.domain.queue_state import MARKERS, Observed, QueueState
from engine.worker.asking import Keys
from engine.worker.controllers import instancetypestatus
from engine.worker.reading.queue import read_state
from engine.worker.render.clusterqueue import cluster_queue
from engine.worker.render.instancetype import type_status
from engine.worker.render.skeleton import Object, present

MANAGER: Final = "engine-instancetype"
FINALIZER: Final = "gpustack.ai/controlled"
"""Source: specification 20 §2.1."""
LEAVING_SECONDS: Final = 15.0
"""How often a queue that is being deleted is looked at. Source: specification 20 §6.7."""


REFUSED: Final = "SpecRefused"
UNTOLD: Final = "CouldNotTell"
QUEUE_TAKEN: Final = "QueueTaken"


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a type is not served. Shape: `reason` is one of the three above, `message` a sentence with its remedy."""

    reason: str
    message: str


@dataclass(frozen=True, slots=True)
class TypeNeighbourhood:
    """One type, and the ClusterQueue of its name.

    Shape: `made` is what the rules make of its spec; None with a `refusal`.
    """

    keys: Keys
    live: Owned
    made: MadeType | None = None
    refusal: Refusal | None = None
    queue: Owned | None = None


def plan(seen: TypeNeighbourhood) -> list[Action]:
    """What one type needs now: at most one write to it and one to its queue, each guarded by the version read.

    Shape: of a type that is refused, whatever stands of it stays: no queue is taken away because a rule is in doubt.
    """
    if seen.live.metadata.deletion_timestamp:
        return _end(seen)
    if seen.made is None:
        return [] if seen.refusal is None else [_tell(seen.live, seen.refusal)]
    if seen.queue is None:
        # The finalizer first: a type that goes in between would leave its queue behind.
        return [*_patch_type(seen.live, seen.made, seen.keys), Create(CLUSTER_QUEUES, _queue(seen.made), MANAGER)]
    taken = queue_taken(seen.queue, seen.keys)
    if taken is not None:
        return [*_patch_type(seen.live, seen.made, seen.keys), _tell(seen.live, taken)]
    before = read_state(seen.queue)
    admin = switch(before, inactive=bool(seen.live.spec.get("inactive")))
    return [
        *_patch_type(seen.live, seen.made, seen.keys, sets_inactive=admin.sets_inactive),
        *_patch_queue(seen.queue, seen.made, seen.keys, before, admin.state),
    ]


def again_after_seconds(seen: TypeNeighbourhood) -> float | None:
    """When to look again though nothing has changed: while a queue is on its way out."""
    queue = seen.queue
    if queue is None or queue_taken(queue, seen.keys) is not None:
        return None
    is_leaving = bool(seen.live.metadata.deletion_timestamp or queue.metadata.deletion_timestamp)
    return LEAVING_SECONDS if is_leaving else None


def queue_taken(queue: Owned, keys: Keys) -> Refusal | None:
    """Why a queue of the type's name is not the type's: somebody else made it."""
    is_ours = queue.metadata.labels.get(keys.type) == keys.type_types
    if is_ours or any(each.manager == MANAGER for each in queue.metadata.managed_fields):
        return None
    return Refusal(
        QUEUE_TAKEN,
        f'a ClusterQueue "{queue.metadata.name}" is there that no InstanceType made, so the type has no queue;'
        " delete that ClusterQueue, or give the InstanceType another name",
    )


def _end(seen: TypeNeighbourhood) -> list[Action]:
    """The status says so, the queue is deleted once, and the type goes after it. Draining is the queue controller's."""
    live, queue = seen.live, seen.queue
    if queue is None or queue_taken(queue, seen.keys) is not None:
        freed = remove_finalizer(INSTANCE_TYPES, live, FINALIZER, MANAGER)
        if freed is None:
            return []
        # One that was made a moment ago may not be known of yet, and would stay behind for ever.
        return [freed] if queue is not None else [Delete(CLUSTER_QUEUES, key_of(live)), freed]
    shown, message = phase(read_state(queue), Observed(), type_is_deleting=True)
    entrance = live.status.get("entrance") if seen.made is None else seen.made.entrance.name
    status = present(phase=shown, phaseMessage=message, entrance=entrance)
    body = type_status(live.metadata.name, status)
    actions: list[Action] = [Apply(INSTANCE_TYPES, body, instancetypestatus.MANAGER, subresource="status")]
    if not queue.metadata.deletion_timestamp:
        actions.append(Delete(CLUSTER_QUEUES, key_of(queue), uid=queue.metadata.uid))
    return actions


def _tell(live: Owned, refusal: Refusal) -> EmitEvent:
    regarding = reference(INSTANCE_TYPES, live)
    return EmitEvent(regarding, refusal.reason, refusal.message, "ServeInstanceType", "Warning")


def _queue(made: MadeType) -> Object:
    return cluster_queue(QueueFields(made.name, queue_labels(made), made.queue, created_state(made)))


def _patch_type(live: Owned, made: MadeType, keys: Keys, *, sets_inactive: bool = False) -> list[Action]:
    metadata: Object = present(labels=_aligned(live.metadata.labels, made.labels, keys))
    if FINALIZER not in live.metadata.finalizers:
        metadata["finalizers"] = [*live.metadata.finalizers, FINALIZER]
    patch = present(metadata=metadata, spec={"inactive": True} if sets_inactive else None)
    if not patch:
        return []
    return [MergePatch(INSTANCE_TYPES, key_of(live), patch, MANAGER, live.metadata.resource_version)]


def _patch_queue(queue: Owned, made: MadeType, keys: Keys, before: QueueState, after: QueueState) -> list[Action]:
    labels = {} if before.is_deleting else _aligned(queue.metadata.labels, queue_labels(made), keys)
    had, has = before.markers(), after.markers()
    annotations = {key: has.get(key) for key in MARKERS if had.get(key) != has.get(key)}
    patch = present(
        metadata=present(labels=labels, annotations=annotations),
        spec={"stopPolicy": after.stop_policy} if before.stop_policy != after.stop_policy else None,
    )
    if not patch:
        return []
    return [MergePatch(CLUSTER_QUEUES, key_of(queue), patch, MANAGER, queue.metadata.resource_version)]


def _aligned(now: Mapping[str, str], wanted: Mapping[str, str], keys: Keys) -> dict[str, str | None]:
    """What labels lack or have otherwise, and features of another pool to be taken away; every other label stays."""
    features = (keys.acceleratable, keys.general)
    changed: dict[str, str | None] = {key: text for key, text in sorted(wanted.items()) if now.get(key) != text}
    return changed | {key: None for key in sorted(now) if key.startswith(features) and key not in wanted}
