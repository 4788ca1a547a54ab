"""The informer and the elector while the server is killed, forgets, or stops answering."""

from __future__ import annotations

import asyncio
import contextlib

from engine.cluster.elector import Elector, ElectorSettings
from engine.cluster.errors import ClusterError, NotLeader
from engine.cluster.informer import Informer
from engine.cluster.objects import Owned
from tests.contract.servers import WIDGETS, Bench, Server
from tests.unit.cluster.worlds import running

RECOVERY_SECONDS = 5.0


async def _caught_up(bench: Bench, informer: Informer[Owned]) -> None:
    """The cache equals the server, in time."""

    async def is_equal() -> bool:
        real = await bench.client.list(WIDGETS, bench.here)
        return list(real.items) == list(informer.cache)

    await bench.eventually(is_equal, RECOVERY_SECONDS)


async def _answers(bench: Bench) -> bool:
    try:
        await bench.client.list(WIDGETS, bench.here)
    except ClusterError:
        return False
    return True


def test_a_cache_catches_up_after_the_server_was_killed(breakable_server: Server) -> None:
    async def test(bench: Bench) -> None:
        await bench.client.create(WIDGETS, bench.widget("a"), manager="c")
        informer = Informer(bench.client, WIDGETS, bench.here)
        async with running(informer.run()):
            await informer.wait_synced()
            for name in ("b", "c"):
                await bench.restart()
                await bench.eventually(lambda: _answers(bench))
                await bench.client.create(WIDGETS, bench.widget(name), manager="c")
                await _caught_up(bench, informer)

    breakable_server.run(test)


def test_a_cache_catches_up_after_the_server_was_killed_and_forgot(breakable_server: Server) -> None:
    async def test(bench: Bench) -> None:
        await bench.client.create(WIDGETS, bench.widget("a"), manager="c")
        informer = Informer(bench.client, WIDGETS, bench.here)
        async with running(informer.run()):
            await informer.wait_synced()
            await bench.client.delete(WIDGETS, "a", bench.namespace)
            await bench.client.create(WIDGETS, bench.widget("b"), manager="c")
            bench.compact()
            await bench.restart()
            await bench.eventually(lambda: _answers(bench))
            await _caught_up(bench, informer)

    breakable_server.run(test)


def test_a_leader_stops_in_time_when_the_server_does_not_answer(breakable_server: Server) -> None:
    async def test(bench: Bench) -> None:
        settings = ElectorSettings(
            "lead",
            bench.namespace,
            "one",
            lease_seconds=6,
            renew_deadline_seconds=4,
            retry_seconds=1,
            request_seconds=2,
        )
        elector = Elector(bench.client, settings)
        leads = asyncio.Event()
        ended_at: list[float] = []
        loop = asyncio.get_running_loop()

        async def lead() -> None:
            leads.set()
            try:
                await asyncio.sleep(3600)
            finally:
                ended_at.append(loop.time())

        async def run() -> None:
            with contextlib.suppress(NotLeader):
                await elector.run(lead)

        async with running(run()) as task:
            await leads.wait()
            await asyncio.sleep(2)
            bench.pause()
            paused_at = loop.time()
            try:
                await task
            finally:
                bench.resume()
        assert ended_at[0] - paused_at <= 4.5
        await bench.eventually(lambda: _answers(bench))

    breakable_server.run(test)
