"""A worker beside a Kueue, over machines played as nodes, on a virtual clock; and how queues are looked at.

No assertions here.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from engine.cluster.resources import CLUSTER_QUEUES, LOCAL_QUEUES, NAMESPACES, WORKLOADS, Resource
from tests.fakes.kueue import FakeKueue
from tests.fakes.virtual import run
from tests.unit.worker.stage import Stage

GENERIC = "gpustack--generic-linux-amd64"
A10G = "gpustack--nvidia-a10g-linux-amd64"
T4 = "gpustack--nvidia-tesla-t4-linux-amd64"
CREDITS = "credits.gpustack.ai/nvidia"
CHECK = "gpustack-node-devices"
PHASE = "topology.gpustack.ai/migration-phase"
SAVED = "topology.gpustack.ai/migration-stop-policy"
HOLD = "topology.gpustack.ai/empty-plan-hold"


class QueueStage(Stage):
    """The cluster with a Kueue in it."""

    def __init__(self, kueue_seconds: float = 0.05) -> None:
        super().__init__()
        self.kueue = FakeKueue(self.server, delay_seconds=kueue_seconds)

    async def namespace(self, name: str) -> None:
        await self.admin.create(NAMESPACES, NAMESPACES.body(name), manager="kubectl")

    def queue(self, name: str) -> dict[str, Any]:
        found = self.server.get(CLUSTER_QUEUES, name)
        assert found is not None
        return found

    def names(self, resource: Resource[Any], namespace: str = "") -> list[str]:
        return sorted(name for space, name in self.server.store.objects.get(str(resource), {}) if space == namespace)

    def policy(self, name: str) -> str:
        policy: str = self.queue(name)["spec"]["stopPolicy"]
        return policy

    def notes(self, name: str) -> dict[str, str]:
        notes: dict[str, str] = self.queue(name)["metadata"].get("annotations") or {}
        return notes

    def quotas(self, name: str) -> dict[str, str]:
        groups = self.queue(name)["spec"].get("resourceGroups") or ()
        return {
            flavor["name"]: flavor["resources"][0]["nominalQuota"] for group in groups for flavor in group["flavors"]
        }

    def ready(self, name: str) -> tuple[str, str]:
        """Status and reason of `TopologyReady`."""
        conditions = (self.queue(name).get("status") or {}).get("conditions") or ()
        found = next((each for each in conditions if each["type"] == "TopologyReady"), {"status": "", "reason": ""})
        return found["status"], found["reason"]

    async def workload(self, name: str, door: str, resource: str, amount: str, namespace: str = "default") -> None:
        """Admitted as soon as Kueue and its checks let it."""
        requests = {"requests": {resource: amount}}
        pod = {"name": "main", "count": 1, "template": {"spec": {"containers": [{"name": "c", "resources": requests}]}}}
        body = WORKLOADS.body(name, namespace, spec={"queueName": door, "podSets": [pod]})
        await self.admin.create(WORKLOADS, body, manager="kubectl")

    def is_reserving(self, name: str, namespace: str = "default") -> bool:
        found = self.server.get(WORKLOADS, name, namespace)
        assert found is not None
        conditions = (found.get("status") or {}).get("conditions") or ()
        return any(each["type"] == "QuotaReserved" and each["status"] == "True" for each in conditions)

    def door(self, queue: str, namespace: str = "default") -> str:
        """The LocalQueue of a queue in a namespace."""
        found = self.server.store.objects.get(str(LOCAL_QUEUES), {})
        return next(
            name
            for (space, name), each in found.items()
            if space == namespace and each["spec"]["clusterQueue"] == queue
        )


def with_kueue(
    test: Callable[[QueueStage], Awaitable[None]],
    *,
    machines: str = "walkthrough",
    seconds: float = 20,
    kueue_seconds: float = 0.05,
    **options: Any,
) -> QueueStage:
    """A worker and a Kueue over these machines, at rest when `test` begins."""

    async def main() -> QueueStage:
        stage = QueueStage(kueue_seconds)
        kueue = asyncio.create_task(stage.kueue.run())
        for name in ("default", "kube-system"):
            if stage.server.get(NAMESPACES, name) is None:
                await stage.namespace(name)
        stage.start(**options)
        if machines:
            await stage.play(machines)
        await stage.wait(seconds)
        await test(stage)
        await stage.end()
        kueue.cancel()
        return stage

    return run(main())
