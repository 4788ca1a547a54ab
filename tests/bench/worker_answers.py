"""How long the check of devices takes to answer, beside what the two calls of an answer take alone.

A part of `bench_worker`, which has a whole worker at rest by then.
"""

from __future__ import annotations

import time
from typing import Any, Final

from tests.bench.worker_watch import Changes, at_percent, show, until
from tests.cluster.api import Api
from tests.cluster.statuses import now_seconds

ADMISSIONS: Final = 100
_GROUP: Final = "/apis/worker.gpustack.ai/v1"
_KUEUE: Final = "/apis/kueue.x-k8s.io/v1beta2"
_JOBS: Final = "/apis/batch/v1/namespaces/default/jobs"
_A10G: Final = "gpustack--nvidia-a10g-linux-amd64"

Object = dict[str, Any]


def admissions(api: Api) -> None:
    """Jobs of one card each, one after the other: from Kueue's question to the answer of the check, as a watch sees both.

    A check can be answered once quota is reserved and Kueue has put the check into the status, which are two writes of its.
    An answer is a read of one `Devices` and an apply to the Workload's status, which passes Kueue's webhook; what these two
    take a client that decides nothing is measured beside each.
    """

    def read(workload: Object) -> list[str]:
        status = workload.get("status") or {}
        told = [each["type"] for each in status.get("conditions") or () if each["status"] == "True"]
        states = [each["state"] for each in status.get("admissionChecks") or ()]
        return [*told, *states, *(["Asked"] if "QuotaReserved" in told and states else ())]

    entrance = api.get(f"{_GROUP}/instancetypes/{_A10G}")["status"]["entrance"]
    names = [each["metadata"]["name"] for each in api.get(f"{_GROUP}/devices")["items"]]
    reserved, asked, trips = [], [], []
    with Changes(api, f"{_KUEUE}/namespaces/default/workloads", read) as changes:
        for at in range(ADMISSIONS):
            name = f"bench-{at}"
            made = api.post(_JOBS, job(name, entrance))
            workload = workload_of(api, made["metadata"]["uid"])
            answered = changes.when(workload, "Ready")
            reserved.append(answered - changes.when(workload, "QuotaReserved"))
            asked.append(answered - changes.when(workload, "Asked"))
            trips.append(bare_answer(api, names[at % len(names)], workload))
            # Out of the way, or the scheduler and the player would be measured along with the answer.
            api.delete(f"{_JOBS}/{name}", {"propagationPolicy": "Background"})
    for percent, target in ((50, "<= 20"), (99, "<= 100")):
        figure, trip = at_percent(asked, percent), at_percent(trips, percent)
        show(f"asked to the answer, {len(names):,} Devices, p{percent}", 1000 * figure, "ms", target)
        show(f"the same with Kueue's second write, p{percent}", 1000 * at_percent(reserved, percent), "ms")
        show(f"the two calls of an answer alone (not ours), p{percent}", 1000 * trip, "ms")
        show(f"asked to the answer, in times of them, p{percent}", figure / trip, "x")


def bare_answer(api: Api, node: str, workload: str) -> float:
    """Seconds of a read of `Devices` and an apply to a Workload's status."""
    condition = {
        "type": "BenchAnswered",
        "status": "True",
        "reason": "Bench",
        "message": node,
        "lastTransitionTime": now_seconds(),
    }
    body = {
        "apiVersion": "kueue.x-k8s.io/v1beta2",
        "kind": "Workload",
        "metadata": {"name": workload, "namespace": "default"},
        "status": {"conditions": [condition]},
    }
    begun = time.monotonic()
    api.get(f"{_GROUP}/devices/{node}")
    api.apply(f"{_KUEUE}/namespaces/default/workloads/{workload}/status", body, "bench")
    return time.monotonic() - begun


def workload_of(api: Api, uid: str) -> str:
    """The name of a Job's Workload, once there is one."""
    found: list[str] = []

    def is_there() -> bool:
        listed = api.get(f"{_KUEUE}/namespaces/default/workloads")["items"]
        found.extend(
            each["metadata"]["name"]
            for each in listed
            if any(owner["uid"] == uid for owner in each["metadata"].get("ownerReferences", ()))
        )
        return bool(found)

    until(is_there, 60, what="a Job has its Workload")
    return found[0]


def job(name: str, entrance: str) -> Object:
    """One Pod that takes one card."""
    requests = {"nvidia.com/gpu": "1"}
    container = {"name": "main", "image": "none", "resources": {"requests": requests, "limits": requests}}
    template = {"spec": {"restartPolicy": "Never", "containers": [container]}}
    metadata = {"name": name, "labels": {"kueue.x-k8s.io/queue-name": entrance}}
    return {"apiVersion": "batch/v1", "kind": "Job", "metadata": metadata, "spec": {"template": template}}
