"""ClusterQueues: resource groups, checks, draining and its end, and the condition that tells of all that.

How a queue moves is the domain's state machine; this makes one guarded write of each step. That a queue exists, its labels
and the admin's switch between Hold and None are the types'.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from engine.cluster.actions import Action, Apply, EmitEvent, MergePatch, reference
from engine.cluster.objects import Owned
from engine.cluster.resources import CLUSTER_QUEUES, key_of
from engine.domain.kueue_limits import FLAVORS_PER_GROUP, is_near_flavor_limit
from engine.domain.queue import Step, step
from engine.domain.queue_plan import LiveFlavor, Overlap, plan_queue
from engine.domain.queue_state import MARKERS, QueueState, Reason, TopologyReady
from engine.worker.reading.queue import TOPOLOGY_READY, condition, read_observed, read_state
from engine.worker.render.clusterqueue import checks_strategy, resource_groups

MANAGER: Final = "engine-queue"
ACTION: Final = "SyncQueue"

REMEDIES: Final[dict[Reason, str]] = {
    "DuplicateCoveredResource": "leave the resource groups of this queue to the worker: delete the queue, and it is made anew",
    "UnsupportedExistingObject": "delete the queue, and it is made anew",
    "TooManyFlavors": "give the nodes fewer different counts and CPUs, or split the pool into types by generalGroup",
    "MissingTopology": "delete the ResourceFlavor, and it is made anew",
    "OverlappingSelectors": "let each node carry the labels of one of them only",
    "NonConservedQuota": "correct the node's labels, or take it out of management until they are",
    "InvalidMigrationState": "remove the annotation, or give it a value that this version knows",
}
"""What a person can do about a refusal; a reason that ends by itself has none."""


@dataclass(frozen=True, slots=True)
class QueueNeighbourhood:
    """One queue of ours, and what feeds it.

    Shape: `flavors` are on the cluster and not being deleted; `untold` says what rules could not tell, and then nothing
    else here counts; `now` is the time of day as metadata has it.
    """

    live: Owned
    now: str
    has_selector: bool = True
    flavors: tuple[LiveFlavor, ...] = ()
    checks: tuple[str, ...] = ()
    overlaps: tuple[Overlap, ...] = ()
    orphan_nodes: tuple[str, ...] = ()
    drains_when_no_flavors: bool = True
    untold: str = ""


def plan(seen: QueueNeighbourhood) -> list[Action]:
    """What one queue needs now."""
    state = read_state(seen.live, has_selector=seen.has_selector)
    if seen.untold and not state.is_deleting:
        return [_event(seen.live, "CouldNotTell", f"{seen.untold}; the queue stays as it is")]
    taken = _step(seen, state)
    return [*_written(seen.live, state, taken.state), *_told(seen, taken.condition)]


def again_after_seconds(seen: QueueNeighbourhood) -> float | None:
    """When to look again though nothing has changed."""
    if seen.untold:
        return None
    return _step(seen, read_state(seen.live, has_selector=seen.has_selector)).requeue_seconds


def waits_for_kueue(live: Owned) -> bool:
    """Whether what Kueue says of the queue's use decides its next step; else its status is of no interest here."""
    state = read_state(live)
    return state.is_migrating or condition(live, TOPOLOGY_READY).get("reason") == "AwaitingQueueStatus"


def _step(seen: QueueNeighbourhood, state: QueueState) -> Step:
    planned = plan_queue(state, seen.flavors, seen.checks, overlaps=seen.overlaps, orphan_nodes=seen.orphan_nodes)
    return step(state, planned, read_observed(seen.live), drains_when_no_flavors=seen.drains_when_no_flavors)


def _written(live: Owned, before: QueueState, after: QueueState) -> list[Action]:
    """The difference in one write, refused when anybody wrote since: `stopPolicy` and annotations are shared."""
    patch: dict[str, Any] = {}
    spec = _spec(before, after)
    if spec:
        patch["spec"] = spec
    was, becomes = before.markers(), after.markers()
    notes = {key: becomes.get(key) for key in MARKERS if was.get(key) != becomes.get(key)}
    if notes:
        patch["metadata"] = {"annotations": notes}
    if not patch:
        return []
    actions: list[Action] = [MergePatch(CLUSTER_QUEUES, key_of(live), patch, MANAGER, live.metadata.resource_version)]
    flavors = len(after.groups)
    if flavors != len(before.groups) and is_near_flavor_limit(flavors):
        note = (
            f"the queue has {flavors} flavors; Kueue permits at most {FLAVORS_PER_GROUP}; {REMEDIES['TooManyFlavors']}"
        )
        actions.append(_event(live, "FlavorsNearLimit", note))
    return actions


def _spec(before: QueueState, after: QueueState) -> dict[str, Any]:
    spec: dict[str, Any] = {}
    if after.stop_policy != before.stop_policy:
        spec["stopPolicy"] = after.stop_policy
    if (after.groups, after.covered_resources) != (before.groups, before.covered_resources):
        spec["resourceGroups"] = resource_groups(after.groups) or None
    if after.checks != before.checks:
        spec["admissionChecksStrategy"] = checks_strategy(after.checks) if after.checks else None
    return spec


def _told(seen: QueueNeighbourhood, wanted: TopologyReady | None) -> list[Action]:
    """The condition, where it is another one, and with it the Event: neither is repeated while nothing changes."""
    live = seen.live
    if wanted is None:
        return []
    was = condition(live, TOPOLOGY_READY)
    if all(was.get(field) == getattr(wanted, field) for field in ("status", "reason", "message")):
        return []
    made = {
        "type": TOPOLOGY_READY,
        "status": wanted.status,
        "reason": wanted.reason,
        "message": wanted.message,
        "lastTransitionTime": was["lastTransitionTime"] if was.get("status") == wanted.status else seen.now,
    }
    body = CLUSTER_QUEUES.body(live.metadata.name, status={"conditions": [made]})
    actions: list[Action] = [Apply(CLUSTER_QUEUES, body, MANAGER, subresource="status")]
    remedy = REMEDIES.get(wanted.reason)
    if wanted.status == "False" and remedy:
        actions.append(_event(live, wanted.reason, f"{wanted.message}; {remedy}"))
    return actions


def _event(live: Owned, reason: str, note: str) -> EmitEvent:
    return EmitEvent(reference(CLUSTER_QUEUES, live), reason, note, ACTION, "Warning")
