"""A server, a client and processes on one virtual clock, for the tests of this folder."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Coroutine
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from engine.cluster.client import Client
from engine.cluster.transport import Request
from tests.fakes.apiserver import ApiServer, FakeTransport
from tests.fakes.streams import FakeResponse
from tests.fakes.virtual import VirtualClock, half


@dataclass
class World:
    """One server; `client` is its test's own."""

    clock: VirtualClock = field(default_factory=VirtualClock)

    def __post_init__(self) -> None:
        self.server = ApiServer(self.clock)
        self.transport = FakeTransport(self.server)
        self.client = Client(self.transport, clock=self.clock, chance=half)

    def process(self, name: str, *, skew_seconds: float = 0.0) -> Process:
        return Process(self, name, skew_seconds)


class Process:
    """A process of its own: can be paused, and its wall clock may be wrong. It is also its own clock and transport."""

    def __init__(self, world: World, name: str, skew_seconds: float = 0.0) -> None:
        self.name = name
        self._clock = VirtualClock(skew_seconds)
        self._transport = FakeTransport(world.server, name)
        self._runs = asyncio.Event()
        self._runs.set()
        self.latency_seconds = 0.0
        self.client = Client(self, clock=self, chance=half)

    def pause(self) -> None:
        """As SIGSTOP: time goes on, nothing of it runs."""
        self._runs.clear()

    def resume(self) -> None:
        self._runs.set()

    def monotonic(self) -> float:
        return self._clock.monotonic()

    def wall(self) -> datetime:
        return self._clock.wall()

    async def sleep(self, seconds: float) -> None:
        await self._clock.sleep(seconds)
        await self._runs.wait()

    async def request(self, request: Request) -> FakeResponse:
        await self.sleep(self.latency_seconds)
        response = await self._transport.request(request)
        await self.sleep(self.latency_seconds)
        return response

    async def close(self) -> None:
        await self._transport.close()


@contextlib.asynccontextmanager
async def running(main: Coroutine[Any, Any, Any]) -> AsyncIterator[asyncio.Task[Any]]:
    """Runs something beside the block and ends it with the block; its own error is raised."""
    task = asyncio.ensure_future(main)
    try:
        yield task
    finally:
        if not task.done():
            task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task


def node(name: str, **labels: str) -> dict[str, Any]:
    """A small Node."""
    return {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": labels}}
