"""The ledger behind verdicts: what is taken of the cards of some nodes right now, read past every cache.

It is the status of `Devices`. Whoever rebuilds it from elsewhere changes this function and nothing else.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from typing import Final

from engine.api.devices import Devices
from engine.cluster.client import Client
from engine.cluster.errors import BadObject, NotFound
from engine.worker.cards import READ_DEVICES

AT_ONCE: Final = 16
"""Reads under way at the same time. Chosen: a large Workload's nodes in a few round trips, without a burst."""


async def ledger_of(
    client: Client, nodes: Iterable[str], told: Callable[[str, BadObject], None]
) -> dict[str, Devices | None]:
    """The `Devices` of these nodes; None where there is none, or none that can be read, which is told.

    Raises: ClusterError: the API server did not answer; nothing may be concluded from that.
    """
    gate = asyncio.Semaphore(AT_ONCE)

    async def one(node: str) -> Devices | None:
        async with gate:
            try:
                return await client.get(READ_DEVICES, node)
            except NotFound:
                return None
            except BadObject as error:
                told(node, error)
                return None

    names = list(nodes)
    return dict(zip(names, await asyncio.gather(*map(one, names)), strict=True))
