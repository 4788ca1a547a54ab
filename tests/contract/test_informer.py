"""The informer, the elector and the event recorder against a server: the parts that have been wrong elsewhere."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator

import pytest

from engine.cluster.actions import EmitEvent, ObjectReference
from engine.cluster.client import Client
from engine.cluster.elector import Elector, ElectorSettings
from engine.cluster.errors import NotLeader
from engine.cluster.events import EventRecorder
from engine.cluster.informer import Informer
from engine.cluster.objects import Owned
from engine.cluster.resources import EVENTS, LEASES, ObjectKey
from tests.contract.servers import WIDGETS, Bench, Server


@contextlib.asynccontextmanager
async def _running(informer: Informer[Owned]) -> AsyncIterator[None]:
    task = asyncio.create_task(informer.run())
    try:
        await informer.wait_synced()
        yield
    finally:
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task


def test_a_cache_follows_the_server(server: Server) -> None:
    async def test(bench: Bench) -> None:
        for name in ("a", "b"):
            await bench.client.create(WIDGETS, bench.widget(name, spec={"text": name}), manager="c")
        informer = Informer(bench.client, WIDGETS, bench.here)
        informer.cache.add_index("text", lambda thing: [thing.spec.get("text", "")])
        async with _running(informer):
            assert [thing.metadata.name for thing in informer.cache] == ["a", "b"]
            await bench.client.merge_patch(
                WIDGETS, "a", {"spec": {"text": "b"}}, manager="c", namespace=bench.namespace
            )
            await bench.client.delete(WIDGETS, "b", bench.namespace)
            await bench.client.create(WIDGETS, bench.widget("c"), manager="c")

            async def is_equal() -> bool:
                real = await bench.client.list(WIDGETS, bench.here)
                return list(real.items) == list(informer.cache)

            await bench.eventually(is_equal)
            assert [thing.metadata.name for thing in informer.cache.by_index("text", "b")] == ["a"]
            assert (informer.lists, informer.watches) == (1, 1)

    server.run(test)


def test_a_lease_passes_from_one_elector_to_the_next(server: Server) -> None:
    async def test(bench: Bench) -> None:
        order: list[str] = []

        def elector(name: str) -> Elector:
            settings = ElectorSettings(
                "lead",
                bench.namespace,
                name,
                lease_seconds=3,
                renew_deadline_seconds=2,
                retry_seconds=0.5,
                request_seconds=1,
            )
            return Elector(bench.client, settings)

        first, second = elector("first"), elector("second")

        async def lead(own: Elector, name: str, writer: Client) -> None:
            order.append(name)
            await asyncio.sleep(2)
            body = bench.widget(name)
            await writer.create(WIDGETS, body, manager=name)
            assert own.is_leader()

        async def one(own: Elector, name: str) -> None:
            await own.run(lambda: lead(own, name, bench.client.gated(own)))

        async with asyncio.timeout(30):
            started = asyncio.create_task(one(first, "first"))
            await bench.eventually(lambda: _is_true(bool(order)))
            with pytest.raises(NotLeader):
                await bench.client.gated(second).delete(WIDGETS, "first", bench.namespace)
            await one(second, "second")
            await started
        assert order == ["first", "second"]
        lease = await bench.client.get(LEASES, "lead", bench.namespace)
        assert (lease.spec.holder_identity, lease.spec.lease_transitions) == ("", 1)

    server.run(test)


def test_an_event_is_written_once_and_then_counted(server: Server) -> None:
    async def test(bench: Bench) -> None:
        recorder = EventRecorder(bench.client, component="engine.test/contract", instance="here")
        regarding = ObjectReference("v1", "ConfigMap", ObjectKey(bench.namespace, "m"), "u-1")
        for _ in range(5):
            await recorder.emit(EmitEvent(regarding, "Tested", "It was tested.", "Testing", "Warning"))
        await recorder.emit(EmitEvent(regarding, "Other", "x" * 2000, "Testing"))
        events = (await bench.client.list(EVENTS, bench.here)).items
        by_reason = {event.reason: event for event in events}
        assert set(by_reason) == {"Tested", "Other"}
        series = by_reason["Tested"].series
        assert series is not None
        assert series.count == 2, "the third and later ones are counted, and written with the next write"
        assert len(by_reason["Other"].note) <= 1024

    server.run(test)


async def _is_true(value: bool) -> bool:
    return value
