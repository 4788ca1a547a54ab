"""The AdmissionCheck of the devices: it exists, and is Active while a worker leads.

What it says of a Workload is the admission part's. Queues name it only once it is Active.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from engine.cluster.actions import Action, Apply, EmitEvent, reference
from engine.cluster.objects import Owned
from engine.cluster.resources import ADMISSION_CHECKS
from engine.worker.reading.queue import ACTIVE, condition

MANAGER: Final = "engine-check"
STATUS_MANAGER: Final = "gpustack-node-devices"
CONTROLLER: Final = "worker.gpustack.ai/node-devices"
LABELS: Final = {"app.kubernetes.io/part-of": "gpustack-operator"}
READY: Final = ("Ready", "the node-devices admission check controller is running")
"""Source: specification 10 §4.5 and 20 §5.4, texts verbatim."""


@dataclass(frozen=True, slots=True)
class CheckNeighbourhood:
    """The check. Shape: `now` is the time of day as metadata has it."""

    name: str
    now: str
    live: Owned | None = None


def plan(seen: CheckNeighbourhood) -> list[Action]:
    """What the check needs now."""
    live = seen.live
    if live is not None and live.metadata.deletion_timestamp:
        # Kueue holds it while a queue names it, and it works until then; made anew once it is gone.
        return []
    if live is not None and live.spec.get("controllerName") != CONTROLLER:
        note = (
            f'AdmissionCheck "{seen.name}" is of controller "{live.spec.get("controllerName")}" instead of "{CONTROLLER}",'
            " and that cannot be changed; delete it, and it is made anew"
        )
        return [EmitEvent(reference(ADMISSION_CHECKS, live), "CheckTaken", note, "SyncCheck", "Warning")]
    body = ADMISSION_CHECKS.body(seen.name, metadata={"labels": LABELS}, spec={"controllerName": CONTROLLER})
    return [Apply(ADMISSION_CHECKS, body, MANAGER), *_active(seen)]


def is_active(check: Owned) -> bool:
    """Queues may name it."""
    return condition(check, ACTIVE).get("status") == "True"


def _active(seen: CheckNeighbourhood) -> list[Action]:
    if seen.live is None:
        # Its own creation comes back as a change.
        return []
    reason, message = READY
    was = condition(seen.live, ACTIVE)
    if (was.get("status"), was.get("reason"), was.get("message")) == ("True", reason, message):
        return []
    made = {
        "type": ACTIVE,
        "status": "True",
        "reason": reason,
        "message": message,
        "observedGeneration": seen.live.metadata.generation,
        "lastTransitionTime": was["lastTransitionTime"] if was.get("status") == "True" else seen.now,
    }
    body = ADMISSION_CHECKS.body(seen.name, status={"conditions": [made]})
    return [Apply(ADMISSION_CHECKS, body, STATUS_MANAGER, subresource="status")]
