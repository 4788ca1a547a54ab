"""What a bare client needs for the writes of a cold start: a NodeFeature and a label patch for every Node, nothing else.

`bench_live` starts it as a process of its own beside the player; nothing is watched, compared or decided here.
"""

from __future__ import annotations

import asyncio
import sys
import time
from pathlib import Path
from typing import Final

from engine.cluster.client import Client
from engine.cluster.http import HttpTransport
from engine.cluster.resources import NODE_FEATURES, NODES
from engine.cluster.session import connection

MANAGER: Final = "bench"
NAMESPACE: Final = "gpustack-system"
LABELS: Final = 12
"""Labels of a patch and of an object: about as many as the worker writes."""


def main(kubeconfig: str, at_once: str) -> None:
    """Prints seconds of wall time and of this process's CPU time."""
    print(*(f"{each:.2f}" for each in asyncio.run(measure(Path(kubeconfig), int(at_once)))))


async def measure(kubeconfig: Path, at_once: int) -> tuple[float, float]:
    """Writes, then takes away what was made; only the former is measured."""
    async with HttpTransport(await connection(kubeconfig), user_agent="bench-floor") as transport:
        client = Client(transport)
        names = [each.metadata.name for each in (await client.list(NODES)).items]
        waiting = list(reversed(names))
        labels = {f"floor.example/{at_once}-{each}": "true" for each in range(LABELS)}

        async def write() -> None:
            while waiting:
                name = waiting.pop()
                body = NODE_FEATURES.body(f"{name}-floor", NAMESPACE) | {"spec": {"labels": labels}}
                await client.create(NODE_FEATURES, body, manager=MANAGER)
                await client.merge_patch(NODES, name, {"metadata": {"labels": labels}}, manager=MANAGER)

        begun, spent = time.monotonic(), time.process_time()
        async with asyncio.TaskGroup() as group:
            for _ in range(at_once):
                group.create_task(write())
        figures = time.monotonic() - begun, time.process_time() - spent
        waiting.extend(names)

        async def undo() -> None:
            while waiting:
                name = waiting.pop()
                await client.delete(NODE_FEATURES, f"{name}-floor", NAMESPACE)
                nothing = dict.fromkeys(labels)
                await client.merge_patch(NODES, name, {"metadata": {"labels": nothing}}, manager=MANAGER)

        async with asyncio.TaskGroup() as group:
            for _ in range(at_once):
                group.create_task(undo())
        return figures


if __name__ == "__main__":
    main(*sys.argv[1:])
