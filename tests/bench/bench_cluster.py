"""The door to Kubernetes: listing 50,000 Nodes into a cache, the memory each keeps, a relist, and one watch event.

Bodies are made as they are asked for, 12 kB a Node with managedFields and images as kubelets write them; making them is
taken out of the times. No socket: what is measured is decoding and the cache.
"""

from __future__ import annotations

import asyncio
import contextlib
import gc
import json
import os
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from typing import Any

from engine.cluster.client import Client
from engine.cluster.informer import Informer
from engine.cluster.resources import NODES
from engine.cluster.transport import Request

NODE_COUNT = 50_000
PAGE = 500
EVENTS = 20_000

MAX_KB_PER_NODE = 20.0
MAX_LIST_SECONDS = 20.0


def node(name: str) -> dict[str, Any]:
    """A Node as large as real ones: 52 labels, 12 annotations, 40 images, managedFields."""
    labels = {f"acme.feature.gpustack.ai/some-feature-{number:02}": f"value-{number}-{name}" for number in range(30)}
    labels |= {f"feature.node.kubernetes.io/cpu-feature-{number}": "true" for number in range(20)}
    labels |= {"kubernetes.io/hostname": name, "kubernetes.io/os": "linux"}
    owned: dict[str, Any] = {"f:metadata": {"f:labels": {f"f:{key}": {} for key in labels}}}
    images = [{"names": [f"registry.example/{name}/{i}@sha256:{i:064}"], "sizeBytes": i} for i in range(40)]
    return {
        "metadata": {
            "name": name,
            "uid": f"uid-{name}",
            "resourceVersion": "12345",
            "creationTimestamp": "2026-11-29T12:00:00Z",
            "labels": labels,
            "annotations": {f"annotations.example/{number}": "x" * 40 for number in range(12)},
            "managedFields": [{"manager": "kubelet", "operation": "Update", "fieldsV1": owned}],
        },
        "spec": {"podCIDR": "10.0.0.0/24", "providerID": f"acme:///{name}", "taints": []},
        "status": {
            "capacity": {"cpu": "64", "memory": "528Gi", "pods": "110", "device.example/acme": "8"},
            "allocatable": {"cpu": "63", "memory": "520Gi", "pods": "110", "device.example/acme": "8"},
            "conditions": [{"type": "Ready", "status": "True", "lastHeartbeatTime": "2026-11-29T12:00:00Z"}],
            "images": images,
            "nodeInfo": {"architecture": "amd64", "operatingSystem": "linux", "kernelVersion": "6.18"},
        },
    }


TEMPLATE = json.dumps(node("NAME")).encode()


class Body:
    """An answer made of given pieces."""

    status = 200
    headers: Mapping[str, str] = {}

    def __init__(self, pieces: list[bytes]) -> None:
        self._pieces = pieces

    async def read(self) -> bytes:
        return b"".join(self._pieces)

    async def chunks(self) -> AsyncIterator[bytes]:
        for piece in self._pieces:
            yield piece
        await asyncio.Event().wait()

    def pause(self) -> None:
        """Nothing comes by itself."""

    def resume(self) -> None:
        """Nothing was held back."""

    def close(self) -> None:
        """Nothing is held."""


class Canned:
    """Lists so many Nodes page by page; a watch is silent, or `events` lines."""

    def __init__(self, count: int) -> None:
        self.count = count
        self.making_seconds = 0.0
        self.events: list[bytes] = []

    async def request(self, request: Request) -> Body:
        began = time.perf_counter()
        if "watch" in request.query:
            return Body(self.events)
        start = int(request.query.get("continue", "0"))
        end = min(self.count, start + PAGE)
        items = b",".join(TEMPLATE.replace(b"NAME", b"node-%05d" % number) for number in range(start, end))
        metadata = {"resourceVersion": "12345", "continue": str(end) if end < self.count else ""}
        body = b'{"metadata":%s,"items":[%s]}' % (json.dumps(metadata).encode(), items)
        self.making_seconds += time.perf_counter() - began
        return Body([body])

    async def close(self) -> None:
        """Nothing is held."""


def resident_kb() -> float:
    """What the process keeps, in kB of 1,000 bytes."""
    gc.collect()
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1000


async def measure(count: int) -> None:
    """Prints the figures of one process as JSON."""
    transport = Canned(count)
    client = Client(transport)
    async for page in client.pages(NODES):
        assert page.items
        break
    before_kb = resident_kb()
    informer = Informer(client, NODES)
    figures: dict[str, float] = {}
    for name in ("list", "relist"):
        transport.making_seconds = 0.0
        began = time.perf_counter()
        task = asyncio.create_task(informer.run())
        lists = informer.lists
        while informer.watches == lists:  # noqa: ASYNC110 - looked at from outside
            await asyncio.sleep(0.01)
        figures[f"{name}_seconds"] = time.perf_counter() - began - transport.making_seconds
        figures[f"{name}_kb_per_node"] = (resident_kb() - before_kb) / count
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task
        informer._version = None  # as after 410
    line = json.dumps({"type": "MODIFIED", "object": node("node-00001")}).encode() + b"\n"
    transport.events = [line] * EVENTS
    seen = 0
    began = time.perf_counter()
    stream = client.watch(NODES, resource_version="1", timeout_seconds=60)
    async with contextlib.aclosing(stream) as events:
        async for _ in events:
            seen += 1
            if seen == EVENTS:
                break
    figures["event_us"] = (time.perf_counter() - began) / EVENTS * 1e6
    figures["body_kb"] = len(line) / 1000
    print(json.dumps(figures))


def main() -> None:
    """Prints the figures, and fails when a limit is passed."""
    for count in (5_000, NODE_COUNT):
        done = subprocess.run(
            [sys.executable, "-m", "tests.bench.bench_cluster", str(count)], check=True, capture_output=True, text=True
        )
        found = json.loads(done.stdout)
        print(
            f"cluster: {count:>6,} Nodes of {found['body_kb']:.1f} kB  list {found['list_seconds']:.2f} s"
            f"  {found['list_kb_per_node']:.1f} kB a Node  relist {found['relist_seconds']:.2f} s"
            f"  {found['relist_kb_per_node']:.1f} kB a Node  event {found['event_us']:.0f} us"
        )
    assert found["relist_kb_per_node"] <= MAX_KB_PER_NODE, "memory per Node"
    assert found["list_seconds"] <= MAX_LIST_SECONDS, "time of a list"


if __name__ == "__main__":
    if len(sys.argv) > 1:
        asyncio.run(measure(int(sys.argv[1])))
    else:
        main()
