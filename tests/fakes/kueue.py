"""Kueue's answers on the in-memory API server: activity of queues, finalizers, admission and eviction of Workloads.

A model: first flavor that fits, no borrowing, no preemption, no topology. It looks at everything after each change, some
time later, as a controller does. Source of reasons and messages: Kueue 0.19.1.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import datetime
from typing import Any

from engine.values.quantities import canonical, parse_quantity
from tests.fakes import verbs
from tests.fakes.apiserver import ApiServer
from tests.fakes.kueue_rules import IN_USE, admit
from tests.fakes.kueue_workloads import (
    Charge,
    Pool,
    admission_step,
    is_admitted,
    is_reserving,
    requests_of,
    requeue_at,
)
from tests.fakes.store import Object

QUEUES = "clusterqueues.kueue.x-k8s.io"
FLAVORS = "resourceflavors.kueue.x-k8s.io"
CHECKS = "admissionchecks.kueue.x-k8s.io"
LOCALS = "localqueues.kueue.x-k8s.io"
TOPOLOGIES = "topologies.kueue.x-k8s.io"
WORKLOADS = "workloads.kueue.x-k8s.io"
_WATCHED = frozenset({QUEUES, FLAVORS, CHECKS, LOCALS, TOPOLOGIES, WORKLOADS})


class FakeKueue:
    """`transform` turns a Pod's requests into what is charged (Kueue's resource transformations)."""

    def __init__(
        self,
        server: ApiServer,
        *,
        delay_seconds: float = 0.05,
        transform: Callable[[dict[str, str]], dict[str, str]] = dict,
    ) -> None:
        self.server = server
        self._delay_seconds = delay_seconds
        self._transform = transform
        server.admissions.append(admit)

    async def run(self) -> None:
        """Answers changes; cancel it."""
        seen, is_due = 0, False
        while True:
            changes = self.server.store.after(seen) if seen else None
            seen = self.server.store.version
            if changes is None or is_due or any(change.kind in _WATCHED for change in changes):
                await asyncio.sleep(self._delay_seconds)
                self.reconcile()
            is_due = False
            if self.server.store.version == seen:
                is_due = not await self.server.store.wait(self._next_seconds())

    def reconcile(self) -> None:
        """Answers everything, until there is nothing more to say."""
        version = -1
        while version != self.server.store.version:
            version = self.server.store.version
            self._one_pass()

    def _next_seconds(self) -> float | None:
        """How long the first Workload that was sent back is still held back; None when none is."""
        times = [at for each in self.server.store.all(WORKLOADS) if (at := requeue_at(each))]
        now = self.server.clock.wall().replace(tzinfo=None)
        left = [(datetime.fromisoformat(at.rstrip("Z")) - now).total_seconds() for at in times]
        return max(0.1, min(ahead)) if (ahead := [each for each in left if each > 0]) else None

    def _one_pass(self) -> None:
        store = self.server.store
        for body in store.all(QUEUES):
            self._workloads(body)
        for body in store.all(QUEUES):
            self._queue(body)
        for body in store.all(LOCALS):
            self._local_queue(body)
        queues = store.all(QUEUES)
        used_flavors = {flavor["name"] for queue in queues for flavor in _flavors(queue)}
        used_checks = {name for queue in queues for name in _checks(queue)}
        for kind, used in ((FLAVORS, used_flavors), (CHECKS, used_checks)):
            for body in store.all(kind):
                self._hold(kind, body, is_used=body["metadata"]["name"] in used)

    def _workloads(self, queue: Object) -> None:
        pool = self._pool(queue)
        is_active = self._inactive_reason(queue)[0] == "Ready"
        for workload in self._workloads_of(queue):
            step = admission_step(
                workload,
                pool,
                _checks(queue),
                is_active=is_active,
                stop_policy=queue["spec"].get("stopPolicy", "None"),
                now=verbs.now(self.server),
                charge=self._charge(workload),
            )
            if step is not None:
                self._set_status(WORKLOADS, workload, step)

    def _queue(self, queue: Object) -> None:
        metadata, workloads = queue["metadata"], self._workloads_of(queue)
        reserving = [workload for workload in workloads if is_reserving(workload)]
        if metadata.get("deletionTimestamp") and not reserving:
            self._let_go(QUEUES, queue)
            return
        reason, message = self._inactive_reason(queue)
        status = {
            "conditions": _with_condition(
                queue,
                type="Active",
                status="True" if reason == "Ready" else "False",
                reason=reason,
                message=message,
                now=verbs.now(self.server),
            ),
            "flavorsReservation": self._usage(queue, reserving),
            "flavorsUsage": self._usage(queue, [each for each in reserving if is_admitted(each)]),
            "reservingWorkloads": len(reserving),
            "admittedWorkloads": len([each for each in reserving if is_admitted(each)]),
            "pendingWorkloads": len(workloads) - len(reserving),
        }
        self._set_status(QUEUES, queue, status)

    def _inactive_reason(self, queue: Object) -> tuple[str, str]:
        store, spec = self.server.store, queue["spec"]
        if queue["metadata"].get("deletionTimestamp"):
            return "Terminating", "Can't admit new workloads; clusterQueue is terminating"
        found: list[tuple[str, str]] = []
        if spec.get("stopPolicy", "None") != "None":
            found.append(("Stopped", "is stopped"))
        flavors = {flavor["name"]: store.get(FLAVORS, ("", flavor["name"])) for flavor in _flavors(queue)}
        missing = [name for name, flavor in flavors.items() if flavor is None]
        if missing:
            found.append(("FlavorNotFound", f"references missing ResourceFlavor(s): {','.join(missing)}"))
        checks = {name: store.get(CHECKS, ("", name)) for name in sorted(_checks(queue))}
        missing = [name for name, check in checks.items() if check is None]
        if missing:
            found.append(("AdmissionCheckNotFound", f"references missing AdmissionCheck(s): {','.join(missing)}"))
        inactive = [name for name, check in checks.items() if check is not None and not _is_active(check)]
        if inactive:
            found.append(("AdmissionCheckInactive", f"references inactive AdmissionCheck(s): {','.join(inactive)}"))
        for name, flavor in flavors.items():
            topology = ((flavor or {}).get("spec") or {}).get("topologyName")
            if topology and store.get(TOPOLOGIES, ("", topology)) is None:
                found.append(("TopologyNotFound", f'there is no Topology "{topology}" for TAS flavor "{name}"'))
        if not found:
            return "Ready", "Can admit new workloads"
        return found[0][0], f"Can't admit new workloads: {', '.join(text for _, text in found)}."

    def _local_queue(self, local: Object) -> None:
        queue = self.server.store.get(QUEUES, ("", local["spec"].get("clusterQueue", "")))
        status, reason, message = "True", "Ready", "Can submit new workloads to localQueue"
        if local["spec"].get("stopPolicy", "None") != "None":
            status, reason, message = "False", "Stopped", "LocalQueue is stopped"
        elif queue is None or not _is_active(queue):
            reason = "ClusterQueueDoesNotExist" if queue is None else "ClusterQueueIsInactive"
            status, message = "False", "Can't submit new workloads to clusterQueue"
        conditions = _with_condition(
            local, type="Active", status=status, reason=reason, message=message, now=verbs.now(self.server)
        )
        self._set_status(LOCALS, local, {**(local.get("status") or {}), "conditions": conditions})

    def _hold(self, kind: str, body: Object, *, is_used: bool) -> None:
        finalizers = body["metadata"].get("finalizers") or []
        if body["metadata"].get("deletionTimestamp"):
            if not is_used:
                self._let_go(kind, body)
        elif IN_USE not in finalizers:
            self._patch(kind, body, {"metadata": {"finalizers": [*finalizers, IN_USE]}})

    def _let_go(self, kind: str, body: Object) -> None:
        finalizers = body["metadata"].get("finalizers") or []
        if IN_USE in finalizers:
            self._patch(kind, body, {"metadata": {"finalizers": [each for each in finalizers if each != IN_USE]}})

    def _workloads_of(self, queue: Object) -> list[Object]:
        locals_ = {
            (body["metadata"]["namespace"], body["metadata"]["name"])
            for body in self.server.store.all(LOCALS)
            if body["spec"].get("clusterQueue") == queue["metadata"]["name"]
        }
        return [
            body
            for body in self.server.store.all(WORKLOADS)
            if (body["metadata"]["namespace"], body["spec"].get("queueName")) in locals_
        ]

    def _charge(self, workload: Object) -> Charge:
        return requests_of(workload, self._transform)

    def _pool(self, queue: Object) -> Pool:
        used = self._used([each for each in self._workloads_of(queue) if is_reserving(each)])
        return Pool(
            queue["metadata"]["name"],
            {
                (flavor["name"], each["name"]): int(parse_quantity(str(each["nominalQuota"])))
                - used.get((flavor["name"], each["name"]), 0)
                for flavor in _flavors(queue)
                for each in flavor["resources"]
            },
        )

    def _used(self, workloads: list[Object]) -> dict[tuple[str, str], int]:
        used: dict[tuple[str, str], int] = {}
        for workload in workloads:
            for assignment in workload["status"]["admission"]["podSetAssignments"]:
                for resource, flavor in assignment["flavors"].items():
                    amount = int(parse_quantity(assignment["resourceUsage"][resource]))
                    used[(flavor, resource)] = used.get((flavor, resource), 0) + amount
        return used

    def _usage(self, queue: Object, workloads: list[Object]) -> list[Object]:
        used = self._used(workloads)
        return [
            {
                "name": flavor["name"],
                "resources": [
                    {
                        "name": each["name"],
                        "total": canonical(used.get((flavor["name"], each["name"]), 0)),
                        "borrowed": "0",
                    }
                    for each in flavor["resources"]
                ],
            }
            for flavor in _flavors(queue)
        ]

    def _set_status(self, kind: str, body: Object, status: Object) -> None:
        key = (body["metadata"].get("namespace", ""), body["metadata"]["name"])
        wanted = {**body, "status": status}
        verbs.update(self.server, self.server.kind(kind), key, wanted, "kueue", "status")

    def _patch(self, kind: str, body: Object, patch: Object) -> None:
        key = (body["metadata"].get("namespace", ""), body["metadata"]["name"])
        verbs.merge_patch(self.server, self.server.kind(kind), key, patch, "kueue", "")


def _flavors(queue: Object) -> list[Object]:
    return [flavor for group in queue["spec"].get("resourceGroups") or () for flavor in group["flavors"]]


def _checks(queue: Object) -> list[str]:
    strategy = queue["spec"].get("admissionChecksStrategy") or {}
    return [each["name"] for each in strategy.get("admissionChecks") or ()]


def _is_active(body: Object) -> bool:
    conditions = (body.get("status") or {}).get("conditions") or ()
    return any(each["type"] == "Active" and each["status"] == "True" for each in conditions)


def _with_condition(body: Object, *, now: str, **condition: Any) -> list[Object]:
    """The object's conditions with this one in place; its time moves only when its status does."""
    conditions: list[Object] = list((body.get("status") or {}).get("conditions") or ())
    old = next((each for each in conditions if each["type"] == condition["type"]), None)
    is_same = old is not None and old["status"] == condition["status"]
    made = {
        **condition,
        "observedGeneration": body["metadata"].get("generation", 0),
        "lastTransitionTime": old["lastTransitionTime"] if old is not None and is_same else now,
    }
    return [*(each for each in conditions if each["type"] != condition["type"]), made]
