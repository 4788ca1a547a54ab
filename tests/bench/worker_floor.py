"""What a bare client needs for what a cold start of the whole worker writes; nothing is watched, compared or decided here.

`bench_worker` starts it as a process of its own beside the player, once the worker has ended.
"""

from __future__ import annotations

import asyncio
import sys
import time
from pathlib import Path
from typing import Final

from engine.cluster.client import Client
from engine.cluster.http import HttpTransport
from engine.cluster.resources import DEVICES, NODE_FEATURES, NODES
from engine.cluster.session import connection
from tests.bench.live_floor import WORN, feature

MANAGER: Final = "bench"
NAMESPACE: Final = "gpustack-system"
AT_ONCE: Final = 16
"""About as many as the worker writes on a Node and in its NodeFeature."""
FIT: Final = {f"floor.example/fit-{each}": "1" for each in range(4)}
DEVICES_LABELS: Final = {f"floor.example/{each}": "true" for each in range(5)}
CAPACITY: Final = {f"floor.example/{each}": "4" for each in ("units", "cores", "memory")}


def main(kubeconfig: str) -> None:
    """Prints writes, seconds of wall time and seconds of this process's CPU time."""
    writes, wall, spent = asyncio.run(measure(Path(kubeconfig)))
    print(writes, f"{wall:.2f}", f"{spent:.2f}")


async def measure(kubeconfig: Path) -> tuple[int, float, float]:
    """For every Node: a NodeFeature and its labels; with cards also its capacity, fit labels, and labels of its `Devices`."""
    async with HttpTransport(await connection(kubeconfig), user_agent="bench-floor") as transport:
        client = Client(transport)
        uids = {each.metadata.name: each.metadata.uid for each in (await client.list(NODES)).items}
        waiting = list(uids)
        with_cards = {each.metadata.name for each in (await client.list(DEVICES)).items}
        writes = 2 * len(waiting) + 3 * len(with_cards)

        async def write() -> None:
            while waiting:
                name = waiting.pop()
                await client.create(NODE_FEATURES, feature(name, uids[name]), manager=MANAGER)
                await client.merge_patch(NODES, name, WORN, manager=MANAGER)
                if name in with_cards:
                    capacity = {"status": {"capacity": CAPACITY}}
                    await client.merge_patch(NODES, name, capacity, manager=MANAGER, subresource="status")
                    await client.merge_patch(NODES, name, {"metadata": {"labels": FIT}}, manager=MANAGER)
                    await client.merge_patch(DEVICES, name, {"metadata": {"labels": DEVICES_LABELS}}, manager=MANAGER)

        begun, spent = time.monotonic(), time.process_time()
        async with asyncio.TaskGroup() as group:
            for _ in range(AT_ONCE):
                group.create_task(write())
        return writes, time.monotonic() - begun, time.process_time() - spent


if __name__ == "__main__":
    main(*sys.argv[1:])
