"""A real NFD's master, played on the stage: its Pod, its Lease, and its writes; and a Node watch that misses nothing.

What it writes is `tests.fakes.foreign_nfd`. No assertions here.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress

from engine.cluster.client import Client
from engine.cluster.informer import Informer
from engine.cluster.objects import Node
from engine.cluster.resources import LEASES, NODE_FEATURES, NODES, PODS
from tests.fakes.apiserver import FakeTransport
from tests.fakes.foreign_nfd import LEASE, MANAGER, MASTER, nfd_patch
from tests.fakes.virtual import half
from tests.unit.worker.stage import Stage

NAMESPACE = "default"


class PlayedNfd:
    """The master, and whatever it sees of the stage."""

    def __init__(self, stage: Stage) -> None:
        self._stage = stage
        self._client = Client(FakeTransport(stage.server, MANAGER), clock=stage.clock, chance=half)
        self._task: asyncio.Task[None] | None = None

    async def start(self) -> None:
        """It is ready, and writes from now on."""
        await self._client.create(PODS, PODS.body("master", NAMESPACE, metadata={"labels": MASTER}), manager="kubelet")
        ready = {"status": {"conditions": [{"type": "Ready", "status": "True"}]}}
        await self._client.merge_patch(
            PODS, "master", ready, manager="kubelet", namespace=NAMESPACE, subresource="status"
        )
        if self._stage.server.get(LEASES, LEASE, NAMESPACE) is None:
            await self._client.create(LEASES, LEASES.body(LEASE, NAMESPACE, spec={}), manager=MANAGER)
        self._task = asyncio.create_task(self._run())

    async def stop(self) -> None:
        """Scaled to 0: its Pod goes, and its marks stay."""
        if self._task is not None:
            self._task.cancel()
            with suppress(asyncio.CancelledError):
                await self._task
        await self._client.delete(PODS, "master", NAMESPACE)

    async def _run(self) -> None:
        began = self._stage.clock.monotonic()
        renewed = began - 10
        while True:
            now = self._stage.clock.monotonic()
            if now - renewed >= 10:
                renewed = now
                time = self._stage.clock.wall().isoformat()
                patch = {"spec": {"renewTime": time}}
                await self._client.merge_patch(LEASES, LEASE, patch, manager=MANAGER, namespace=NAMESPACE)
            await self._pass()
            await asyncio.sleep(0.5)

    async def _pass(self) -> None:
        objects = self._stage.server.store.objects
        features = list(objects.get(str(NODE_FEATURES), {}).values())
        for node in list(objects.get(str(NODES), {}).values()):
            name = node["metadata"]["name"]
            mine = [each for each in features if each["metadata"].get("labels", {}).get(NODE_NAME) == name]
            patch = nfd_patch(node, mine)
            if patch is not None:
                await self._client.merge_patch(NODES, name, patch, manager=MANAGER)


NODE_NAME = "nfd.node.kubernetes.io/node-name"


class NodeWatch:
    """Labels that vanished or changed in any event of a Node watch. Shape: `Node key: before -> after`."""

    def __init__(self, stage: Stage) -> None:
        self.lost: list[str] = []
        self._informer = Informer(Client(FakeTransport(stage.server, "watch"), clock=stage.clock, chance=half), NODES)
        self._informer.add_handler(self._take)
        self._task = asyncio.create_task(self._informer.run())

    async def end(self) -> None:
        self._task.cancel()
        with suppress(asyncio.CancelledError):
            await self._task

    def _take(self, before: Node | None, after: Node | None) -> None:
        if before is None or after is None:
            return
        now = after.metadata.labels
        self.lost += [
            f"{after.metadata.name} {key}: {value} -> {now.get(key)}"
            for key, value in sorted(before.metadata.labels.items())
            if now.get(key) != value
        ]
