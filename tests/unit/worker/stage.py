"""A cluster in memory with machines played as nodes, and workers in it, on a virtual clock.

Acts for the host's agent and the device manager as the node player does on a real cluster. No assertions here.
"""

from __future__ import annotations

import asyncio
import base64
from collections.abc import Awaitable, Callable
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

from engine.cluster.client import Client
from engine.cluster.resources import (
    CRDS,
    DEVICES,
    EVENTS,
    NODE_FEATURES,
    NODES,
    RESOURCE_FLAVORS,
    SECRETS,
    TOPOLOGIES,
    ObjectKey,
)
from engine.worker.app import Worker
from engine.worker.log import Log
from engine.worker.options import Options
from tests.cluster.machines import Machinery, PlayedNode, machine_facts
from tests.fakes.apiserver import ApiServer, FakeTransport
from tests.fakes.virtual import VirtualClock, half, run
from tests.unit.features.world import program

NAMESPACE = "gpustack-system"
MACHINES = Path(__file__).parents[2] / "machines"
SETTINGS = ObjectKey(NAMESPACE, "gpustack-settings")

SEVEN = [
    "gpustack--amd-epyc-7r13-linux-amd64-16c",
    "gpustack--amd-epyc-7r32--nvidia-a10g-linux-amd64-1d",
    "gpustack--amd-epyc-7r32-linux-amd64-4c",
    "gpustack--intel-xeon-platinum-8259cl--nvidia-tesla-t4-linux-amd64-1d",
    "gpustack--intel-xeon-platinum-8259cl--nvidia-tesla-t4-linux-amd64-4d",
    "gpustack--intel-xeon-platinum-8259cl-linux-amd64-48c",
    "gpustack--intel-xeon-platinum-8259cl-linux-amd64-4c",
]
A10G = SEVEN[1:3]


@cache
def objects(path: str) -> tuple[PlayedNode, ...]:
    machinery = Machinery()
    return tuple(machinery.objects(each) for each in machine_facts([MACHINES / path]))


class Stage:
    """The cluster, and whoever acts in it."""

    def __init__(self) -> None:
        self.clock = VirtualClock()
        self.server = ApiServer(self.clock)
        self.admin = Client(FakeTransport(self.server, "admin"), clock=self.clock, chance=half)
        self.lines: list[str] = []
        self.workers: dict[str, tuple[Worker, asyncio.Task[None]]] = {}

    def start(self, name: str = "engine", *, rules: Any = None, **options: Any) -> Worker:
        """A worker begins, with the shipped rules or others; `environment` and the like are options."""
        client = Client(FakeTransport(self.server, name), clock=self.clock, chance=half)
        given = Options(identity=name, **{"is_elected": False, **options})
        worker = Worker(client, rules or program(), given, Log(self.lines.append, clock=self.clock))
        self.workers[name] = worker, asyncio.create_task(worker.run())
        return worker

    async def stop(self, name: str = "engine") -> None:
        """The worker ends, as on SIGTERM."""
        _, task = self.workers.pop(name)
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task

    async def end(self) -> None:
        for name in list(self.workers):
            await self.stop(name)

    async def play(self, path: str = "walkthrough") -> None:
        """Machines come up: with the tokens of their plugins in the capacity, host facts, and `Devices`."""
        for each in objects(path):
            made = await self.admin.create(NODES, each.node, manager="kubelet")
            owner = [{"apiVersion": "v1", "kind": "Node", "name": each.name, "uid": made.metadata.uid}]
            for feature in each.features:
                metadata = feature["metadata"] | {"ownerReferences": owner, "namespace": NAMESPACE}
                await self.admin.create(NODE_FEATURES, feature | {"metadata": metadata}, manager="agent")
            if each.devices is not None:
                await self.put_devices(
                    each.devices | {"metadata": each.devices["metadata"] | {"ownerReferences": owner}}
                )

    async def put_devices(self, body: dict[str, Any]) -> None:
        """As a device manager does: the object, then its status."""
        name = body["metadata"]["name"]
        await self.admin.create(DEVICES, body, manager="device-manager")
        await self.take(name, body["status"]["groups"])

    async def take(self, node: str, groups: list[dict[str, Any]]) -> None:
        """A device manager publishes what is taken of a Node's cards."""
        patch = {"status": {"groups": groups}}
        await self.admin.merge_patch(DEVICES, node, patch, manager="device-manager", subresource="status")

    async def kubelet(self, node: str, **parts: dict[str, str | None]) -> None:
        """A kubelet writes its Node's status: `capacity`, say; None takes an entry away."""
        await self.admin.merge_patch(NODES, node, {"status": parts}, manager="kubelet", subresource="status")

    async def wait(self, seconds: float = 10.0) -> None:
        await asyncio.sleep(seconds)

    def flavors(self) -> list[str]:
        return sorted(name for _, name in self.server.store.objects.get(str(RESOURCE_FLAVORS), {}))

    def topologies(self) -> list[str]:
        return sorted(name for _, name in self.server.store.objects.get(str(TOPOLOGIES), {}))

    def labels(self, node: str) -> dict[str, str]:
        return self.server.get(NODES, node)["metadata"]["labels"]

    def capacity(self, node: str) -> dict[str, str]:
        return self.server.get(NODES, node)["status"]["capacity"]

    def feature(self, node: str) -> dict[str, Any]:
        found = self.server.get(NODE_FEATURES, f"{node}-gpustack-worker", NAMESPACE)
        assert found is not None
        return found

    def events(self, reason: str) -> list[dict[str, Any]]:
        found = self.server.store.objects.get(str(EVENTS), {})
        return [each for each in found.values() if each["reason"] == reason]

    def stored(self) -> dict[str, str]:
        secret = self.server.get(SECRETS, SETTINGS.name, NAMESPACE)
        return {key: base64.b64decode(text).decode() for key, text in secret["data"].items()}

    async def mark(self, node: str, value: str | None) -> None:
        """As `kubectl patch` does."""
        patch = {"spec": {"labels": {"gpustack.ai/managed": value}}}
        name = f"{node}-gpustack-worker"
        await self.admin.merge_patch(NODE_FEATURES, name, patch, manager="kubectl", namespace=NAMESPACE)

    async def set(self, **values: str) -> None:
        """Settings, with `_` for `-`."""
        data = {key.replace("_", "-"): base64.b64encode(text.encode()).decode() for key, text in values.items()}
        await self.admin.merge_patch(SECRETS, SETTINGS.name, {"data": data}, manager="kubectl", namespace=NAMESPACE)

    def crds(self) -> set[str]:
        return {name for _, name in self.server.store.objects.get(str(CRDS), {})}


def played(test: Callable[[Stage], Awaitable[None]], **options: object) -> Stage:
    """A worker over the walkthrough's machines, at rest when `test` begins."""

    async def main() -> Stage:
        stage = Stage()
        stage.start(**options)
        await stage.play()
        await stage.wait()
        await test(stage)
        await stage.end()
        return stage

    return run(main())
