"""A cluster at rest with admitted Workloads in it, something that happens to it, and what is left of that an hour later.

No assertions here but those of `survives`, which are what every fault has in common.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from functools import cache
from typing import Any

from engine.cluster.errors import Unreachable
from engine.cluster.resources import WORKLOADS
from engine.cluster.transport import Request
from engine.worker.app import Worker
from tests.fakes.apiserver import FakeTransport
from tests.fakes.faults import Faults
from tests.fakes.store import Object
from tests.fakes.virtual import run
from tests.unit.worker.photos import Photo, assert_same
from tests.unit.worker.queues_stage import A10G, CREDITS, GENERIC, T4, QueueStage

GPU = "nvidia.com/gpu"
UNITS = 1_600_000
ADMITTED = ("on-a10g", "on-cpu", "on-t4")
_LEASE = "/leases/"

Happens = Callable[["FaultStage"], Awaitable[None]]


class FaultStage(QueueStage):
    """The cluster of a photograph."""

    def __init__(self, photo: Photo | None = None) -> None:
        super().__init__()
        self.kueue._transform = _charge
        if photo is not None:
            photo.hang(self.server)

    def kill(self, name: str) -> None:
        """A worker ends as by SIGKILL: not one more request of it gets out."""

        def dead(_request: Request) -> None:
            raise Unreachable("killed")

        worker, task = self.workers.pop(name)
        transport(worker).faults = Faults(before=dead)
        task.cancel()

    async def admit_all(self) -> None:
        """A Workload in each of the three queues."""
        await self.workload("on-a10g", self.door(A10G), GPU, "1")
        await self.workload("on-cpu", self.door(GENERIC), "cpu", "2")
        await self.workload("on-t4", self.door(T4), GPU, "1")

    def says(self, workload: str, condition: str) -> bool:
        """Whether a condition of a Workload is True."""
        return _says(self.server.get(WORKLOADS, workload, "default") or {}, condition)

    def admitted(self) -> list[str]:
        return [name for name in ADMITTED if self.says(name, "Admitted")]

    def evictions(self) -> list[str]:
        """Workloads that were evicted since the history of the store begins."""
        told = (each.after for each in self.server.store.history if each.kind == str(WORKLOADS))
        return sorted({each["metadata"]["name"] for each in told if each is not None and _says(each, "Evicted")})

    def writes_of_workers(self) -> list[str]:
        """All that workers asked the server to write but their Lease, whatever came of it."""
        return [
            f"{each.sender} {each.method} {each.path} {each.code}"
            for each in self.server.seen
            if each.sender in self.workers and each.method != "GET" and _LEASE not in each.path
        ]

    async def at_rest(self, seconds: float = 3600) -> list[str]:
        """What workers write in an hour in which nothing happens."""
        count = len(self.writes_of_workers())
        await self.wait(seconds)
        return self.writes_of_workers()[count:]


def transport(worker: Worker) -> FakeTransport:
    """By which a worker reaches the server."""
    found: FakeTransport = worker._client._caller.transport  # type: ignore[assignment]
    return found


def on(photo: Photo | None, happens: Happens) -> Any:
    """Runs what happens on the cluster of a photograph, with a Kueue. Returns what it returns."""

    async def main() -> Any:
        stage = FaultStage(photo)
        kueue = asyncio.create_task(stage.kueue.run())
        made = await happens(stage)
        await stage.end()
        kueue.cancel()
        return made

    return run(main())


@cache
def bare() -> Photo:
    """Machines, and no worker yet."""

    async def main(stage: FaultStage) -> Photo:
        await stage.play()
        await stage.wait(1)
        return Photo.of(stage.server)

    found: Photo = on(None, main)
    return found


@cache
def settled() -> Photo:
    """The walkthrough at rest, a Workload admitted in each queue; the worker was told to stop."""

    async def main(stage: FaultStage) -> Photo:
        stage.start()
        await stage.wait(20)
        await stage.admit_all()
        await stage.wait(20)
        await stage.stop()
        return Photo.of(stage.server)

    found: Photo = on(bare(), main)
    return found


def from_the_start(happens: Happens) -> None:
    """Runs what happens on machines that no worker has seen yet."""
    settled()  # a test compares with it, and no loop can be run inside another
    on(bare(), happens)


def survives(
    happens: Happens, *, seconds: float = 60, rest_seconds: float = 3600, is_started: bool = True, **options: Any
) -> FaultStage:
    """Something happens to a worker at rest; `seconds` later all is as it was, nobody was evicted, and nothing is written."""

    async def main(stage: FaultStage) -> FaultStage:
        if is_started:
            stage.start(**options)
            await stage.wait(5)
        await happens(stage)
        await stage.wait(seconds)
        assert_same(settled(), Photo.of(stage.server))
        assert stage.evictions() == []
        assert stage.admitted() == list(ADMITTED)
        assert await stage.at_rest(rest_seconds) == []
        return stage

    found: FaultStage = on(settled(), main)
    return found


def _charge(requests: dict[str, str]) -> dict[str, str]:
    """As the shipped transformations do for whole cards."""
    charged = {CREDITS: str(int(requests[GPU]) * UNITS)} if GPU in requests else {}
    return charged | {key: text for key, text in requests.items() if key != GPU}


def _says(workload: Object, kind: str) -> bool:
    conditions = (workload.get("status") or {}).get("conditions") or ()
    return any(each["type"] == kind and each["status"] == "True" for each in conditions)
