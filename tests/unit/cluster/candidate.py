"""A process that leads and writes, for `test_processes`. Arguments: server URL, its name."""

from __future__ import annotations

import asyncio
import contextlib
import sys

from engine.cluster.client import Client
from engine.cluster.credentials import FixedCredentials
from engine.cluster.elector import Elector, ElectorSettings
from engine.cluster.errors import ClusterError, NotLeader
from engine.cluster.http import HttpTransport
from engine.cluster.resources import CONFIG_MAPS
from engine.cluster.session import Connection


async def _main(url: str, name: str) -> None:
    async with HttpTransport(Connection(url, None, FixedCredentials()), user_agent=name) as transport:
        client = Client(transport)
        settings = ElectorSettings(
            "lead", "default", name, lease_seconds=3, renew_deadline_seconds=2, retry_seconds=0.3, request_seconds=1
        )
        elector = Elector(client, settings)
        writer = client.gated(elector)

        async def lead() -> None:
            number = 0
            while True:
                number += 1
                body = CONFIG_MAPS.body("state", "default", data={name: str(number)})
                with contextlib.suppress(ClusterError):
                    await writer.apply(CONFIG_MAPS, body, manager=name)
                await asyncio.sleep(0.02)

        while True:
            with contextlib.suppress(NotLeader):
                await elector.run(lead)


asyncio.run(_main(sys.argv[1], sys.argv[2]))
