"""What a kubelet says of its node and of its Pods. Pure: a time is the only thing looked up."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any, Final

Object = dict[str, Any]

LEASE_DURATION_SECONDS: Final = 40
"""A kubelet's own."""


def with_conditions(node: Object) -> Object:
    return node | {"status": node["status"] | {"conditions": conditions(now_seconds())}}


def conditions(now: str) -> list[Object]:
    statuses = {"Ready": "True", "MemoryPressure": "False", "DiskPressure": "False", "PIDPressure": "False"}
    return [
        {
            "type": name,
            "status": status,
            "reason": "Played",
            "message": "played by the testbed",
            "lastHeartbeatTime": now,
            "lastTransitionTime": now,
        }
        for name, status in statuses.items()
    ]


def lease(node: str, owner: list[Object]) -> Object:
    return {
        "apiVersion": "coordination.k8s.io/v1",
        "kind": "Lease",
        "metadata": {"name": node, "namespace": "kube-node-lease", "ownerReferences": owner},
        "spec": {"holderIdentity": node, "leaseDurationSeconds": LEASE_DURATION_SECONDS, "renewTime": now()},
    }


def running(pod: Object) -> Object:
    now = now_seconds()
    ready = [
        {"type": name, "status": "True", "lastTransitionTime": now}
        for name in ("PodReadyToStartContainers", "Initialized", "Ready", "ContainersReady", "PodScheduled")
    ]
    containers = [_container(each, {"running": {"startedAt": now}}) for each in pod["spec"]["containers"]]
    return {
        "phase": "Running",
        "startTime": now,
        "podIP": "127.0.0.1",
        "podIPs": [{"ip": "127.0.0.1"}],
        "hostIP": "127.0.0.1",
        "conditions": ready,
        "containerStatuses": containers,
    }


def finished(pod: Object) -> Object:
    now = now_seconds()
    ended = {"terminated": {"exitCode": 0, "reason": "Completed", "finishedAt": now, "startedAt": now}}
    return {
        "phase": "Succeeded",
        "conditions": [
            {"type": name, "status": "False", "reason": "PodCompleted", "lastTransitionTime": now}
            for name in ("Ready", "ContainersReady")
        ],
        "containerStatuses": [_container(each, ended, is_ready=False) for each in pod["spec"]["containers"]],
    }


def _container(container: Object, state: Object, *, is_ready: bool = True) -> Object:
    return {
        "name": container["name"],
        "image": container.get("image", ""),
        "imageID": "played",
        "containerID": f"played://{container['name']}",
        "ready": is_ready,
        "started": is_ready,
        "restartCount": 0,
        "state": state,
    }


def now() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def now_seconds() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
