"""One step of a Workload's life in the model of Kueue: reserve, check, admit, evict.

Pure. Real Kueue evicts in two steps with the Job's controller between them; here it is one. A Workload that a check has sent
back waits as long as the check asked for.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from engine.values.quantities import canonical, parse_quantity
from tests.fakes.store import Object

_TIME = "%Y-%m-%dT%H:%M:%SZ"

Charge = dict[str, dict[str, int]]
"""Per pod set: resource -> amount."""


@dataclass
class Pool:
    """What is left in a queue, by (flavor, resource). Taking from it changes it."""

    name: str
    left: dict[tuple[str, str], int]

    def take(self, charge: Charge) -> list[Object] | None:
        """Assignments of the first flavors that fit, or None. Resources the queue does not cover are not charged."""
        left = dict(self.left)
        assignments: list[Object] = []
        for pod_set, amounts in charge.items():
            flavors: dict[str, str] = {}
            for resource, amount in amounts.items():
                of_resource = [key for key in left if key[1] == resource]
                if not of_resource:
                    continue
                fitting = next((key for key in of_resource if left[key] >= amount), None)
                if fitting is None:
                    return None
                left[fitting] -= amount
                flavors[resource] = fitting[0]
            usage = {resource: canonical(amounts[resource]) for resource in flavors}
            assignments.append({"name": pod_set, "flavors": flavors, "resourceUsage": usage})
        self.left = left
        return assignments


def requests_of(workload: Object, transform: Callable[[dict[str, str]], dict[str, str]]) -> Charge:
    """What a Workload asks for."""
    charge: Charge = {}
    for pod_set in workload["spec"].get("podSets") or ():
        amounts: dict[str, int] = {}
        for container in pod_set["template"]["spec"].get("containers") or ():
            requests = (container.get("resources") or {}).get("requests") or {}
            for resource, text in transform({key: str(value) for key, value in requests.items()}).items():
                amounts[resource] = amounts.get(resource, 0) + int(parse_quantity(text)) * pod_set.get("count", 1)
        charge[pod_set["name"]] = amounts
    return charge


def is_reserving(workload: Object) -> bool:
    """Holds quota."""
    return _is_true(workload, "QuotaReserved") and not _is_true(workload, "Finished")


def is_admitted(workload: Object) -> bool:
    """May run."""
    return _is_true(workload, "Admitted")


def requeue_at(workload: Object) -> str:
    """Before when it takes no quota again; empty when nothing holds it back."""
    found: str = ((workload.get("status") or {}).get("requeueState") or {}).get("requeueAt", "")
    return found


def admission_step(
    workload: Object, pool: Pool, checks: list[str], *, is_active: bool, stop_policy: str, now: str, charge: Charge
) -> Object | None:
    """The Workload's next status, None when it stays."""
    status: Object = dict(workload.get("status") or {})
    if _is_true(workload, "Finished"):
        return None
    if not is_reserving(workload):
        if not is_active or not workload["spec"].get("active", True) or workload["metadata"].get("deletionTimestamp"):
            return None
        if now < requeue_at(workload):
            return None
        assignments = pool.take(charge)
        if assignments is None:
            return _condition(workload, status, "QuotaReserved", "False", "Pending", "couldn't assign flavors", now)
        status["admission"] = {"clusterQueue": pool.name, "podSetAssignments": assignments}
        status["admissionChecks"] = [_pending(name, now) for name in checks]
        status.pop("requeueState", None)
        if _is_true(workload, "Evicted"):
            note = "Previously: Evicted"
            status = _condition(workload, status, "Evicted", "False", "QuotaReserved", note, now)
        message = f"Quota reserved in ClusterQueue {pool.name}"
        return _condition(workload, status, "QuotaReserved", "True", "QuotaReserved", message, now)
    states = {each["name"]: each["state"] for each in status.get("admissionChecks") or ()}
    if stop_policy == "HoldAndDrain":
        return _evicted(workload, status, "ClusterQueueStopped", "The ClusterQueue is stopped", now, checks)
    if "Retry" in states.values() or "Rejected" in states.values():
        return _evicted(workload, status, "AdmissionCheck", "At least one admission check is false", now, checks)
    if not is_admitted(workload) and all(states.get(name) == "Ready" for name in checks):
        return _condition(workload, status, "Admitted", "True", "Admitted", "The workload is admitted", now)
    return None


def _evicted(workload: Object, status: Object, reason: str, message: str, now: str, checks: list[str]) -> Object:
    status = _condition(workload, status, "Evicted", "True", reason, message, now)
    status = _condition(workload, status, "QuotaReserved", "False", "Pending", message, now)
    if is_admitted(workload):
        status = _condition(workload, status, "Admitted", "False", "NoReservation", "no reservation", now)
    status.pop("admission", None)
    delays = [_after(each, now) for each in status.get("admissionChecks") or () if each["state"] == "Retry"]
    if delays:
        status["requeueState"] = {"requeueAt": max(delays)}
    status["admissionChecks"] = [_pending(name, now) for name in checks]
    return status


def _after(check: Object, now: str) -> str:
    """Never at once: a Job's controller has to stop the Job in between."""
    after = datetime.fromisoformat(check["lastTransitionTime"]) + timedelta(seconds=check.get("requeueAfterSeconds", 0))
    return max(after, datetime.fromisoformat(now) + timedelta(seconds=1)).strftime(_TIME)


def _pending(name: str, now: str) -> Object:
    return {"name": name, "state": "Pending", "message": "", "lastTransitionTime": now}


def _condition(workload: Object, status: Object, kind: str, value: str, reason: str, message: str, now: str) -> Object:
    conditions: list[Any] = list(status.get("conditions") or ())
    old = next((each for each in conditions if each["type"] == kind), None)
    made = {
        "type": kind,
        "status": value,
        "reason": reason,
        "message": message,
        "observedGeneration": workload["metadata"].get("generation", 0),
        "lastTransitionTime": old["lastTransitionTime"] if old is not None and old["status"] == value else now,
    }
    return {**status, "conditions": [*(each for each in conditions if each["type"] != kind), made]}


def _is_true(workload: Object, kind: str) -> bool:
    conditions = (workload.get("status") or {}).get("conditions") or ()
    return any(each["type"] == kind and each["status"] == "True" for each in conditions)
