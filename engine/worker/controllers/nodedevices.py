"""What the check of devices answers on a Workload: Ready or Retry, never Rejected.

The verdict is the domain's; here it becomes the entry of each check of ours in the Workload's status. Kueue evicts a Workload
on Retry and comes back with it after the delay.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from engine.cluster.actions import Action, Apply
from engine.domain.gate import Verdict
from engine.worker.admission.workload import READ_WORKLOADS, READY, RETRY, CheckState, Workload

MANAGER: Final = "gpustack-node-devices"
RETRY_SECONDS: Final = 30
"""Source: specification 10 §2.1."""


@dataclass(frozen=True, slots=True)
class JudgedWorkload:
    """One Workload. Shape: `checks` are the names of ours that it has to pass; `now` is a time as the API writes it."""

    workload: Workload
    checks: tuple[str, ...]
    verdict: Verdict
    now: str


def plan(seen: JudgedWorkload) -> list[Action]:
    """Says the verdict in all checks of ours, where it is not said already.

    It is said of the version that was judged: an answer on a Workload that Kueue has evicted meanwhile would outlive the
    eviction, and the next reservation would be taken for judged.
    """
    state = READY if seen.verdict.is_ready else RETRY
    live = [each for each in seen.workload.status.checks if each.name in seen.checks]
    if all(_says(each, state, seen.verdict.message) for each in live):
        return []
    metadata = seen.workload.metadata
    entries = [_entry(each, state, seen.verdict.message, seen.now) for each in live]
    body = READ_WORKLOADS.body(
        metadata.name,
        metadata.namespace,
        metadata={"resourceVersion": metadata.resource_version},
        status={"admissionChecks": entries},
    )
    return [Apply(READ_WORKLOADS, body, MANAGER, subresource="status")]


def _says(live: CheckState, state: str, message: str) -> bool:
    # Kueue keeps the delay of an earlier Retry, which means nothing beside Ready.
    delays = live.requeue_after_seconds == RETRY_SECONDS or state == READY
    return live.state == state and live.message == message and delays


def _entry(live: CheckState, state: str, message: str, now: str) -> dict[str, Any]:
    entry: dict[str, Any] = {
        "name": live.name,
        "state": state,
        "message": message,
        "lastTransitionTime": live.last_transition_time if live.state == state else now,
    }
    if state == RETRY:
        entry["requeueAfterSeconds"] = RETRY_SECONDS
    return entry
