"""What a bare client needs for the writes of a cold start: a NodeFeature and one patch for every Node, nothing else.

`bench_live` starts it as a process of its own beside the player; nothing is watched, compared or decided here. What it writes
is as large as what the worker writes of a Node with cards: an API server needs twice as long for it as for a dozen labels.
"""

from __future__ import annotations

import asyncio
import sys
import time
from pathlib import Path
from typing import Any, Final

from engine.cluster.client import Client
from engine.cluster.http import HttpTransport
from engine.cluster.resources import NODE_FEATURES, NODES
from engine.cluster.session import connection

MANAGER: Final = "bench"
NAMESPACE: Final = "gpustack-system"
OWN_LABELS: Final = 5
"""Labels that a NodeFeature of the worker asks for."""
NODE_LABELS: Final = 20
NODE_ANNOTATIONS: Final = 9
LISTED_BYTES: Final = 1_300
"""Of one annotation more: the list of all labels. All as the worker writes them for a Node of the walkthrough with cards."""


def keys(what: str, count: int) -> dict[str, str]:
    """So many keys of a usual length."""
    return {f"feature.floor.example/{what}.number-{each}": "true" for each in range(count)}


WORN: Final = {
    "metadata": {
        "labels": keys("model-with-a-name", NODE_LABELS),
        "annotations": keys("fact", NODE_ANNOTATIONS) | {"floor.example/labels": "x" * LISTED_BYTES},
    }
}
"""What a Node gets."""


def main(kubeconfig: str, at_once: str) -> None:
    """Prints seconds of wall time and of this process's CPU time."""
    print(*(f"{each:.2f}" for each in asyncio.run(measure(Path(kubeconfig), int(at_once)))))


async def measure(kubeconfig: Path, at_once: int) -> tuple[float, float]:
    """Writes, then takes away what was made; only the former is measured."""
    async with HttpTransport(await connection(kubeconfig), user_agent="bench-floor") as transport:
        client = Client(transport)
        uids = {each.metadata.name: each.metadata.uid for each in (await client.list(NODES)).items}
        waiting = list(reversed(uids))

        async def write() -> None:
            while waiting:
                name = waiting.pop()
                await client.create(NODE_FEATURES, feature(name, uids[name]), manager=MANAGER)
                await client.merge_patch(NODES, name, WORN, manager=MANAGER)

        begun, spent = time.monotonic(), time.process_time()
        async with asyncio.TaskGroup() as group:
            for _ in range(at_once):
                group.create_task(write())
        figures = time.monotonic() - begun, time.process_time() - spent
        waiting.extend(uids)

        async def undo() -> None:
            while waiting:
                name = waiting.pop()
                await client.delete(NODE_FEATURES, f"{name}-floor", NAMESPACE)
                nothing = {part: dict.fromkeys(worn) for part, worn in WORN["metadata"].items()}
                await client.merge_patch(NODES, name, {"metadata": nothing}, manager=MANAGER)

        async with asyncio.TaskGroup() as group:
            for _ in range(at_once):
                group.create_task(undo())
        return figures


def feature(node: str, uid: str) -> dict[str, Any]:
    """An object that asks for a few labels, and goes with its Node."""
    owner = {"apiVersion": "v1", "controller": True, "kind": "Node", "name": node, "uid": uid}
    metadata = {"labels": keys("name", 2), "ownerReferences": [owner]}
    return NODE_FEATURES.body(f"{node}-floor", NAMESPACE, metadata=metadata, spec={"labels": keys("cpu", OWN_LABELS)})


if __name__ == "__main__":
    main(*sys.argv[1:])
