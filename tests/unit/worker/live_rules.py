"""Workers whose rules are delivered: a mount that a kubelet swaps, and what people see of it. No assertions here."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any

from engine.cluster.client import Client
from engine.cluster.resources import CONFIG_MAPS, NODES, RULE_PACKS
from engine.delivery.directory import Mount
from engine.delivery.publish import approval_action
from engine.worker.app import Worker
from engine.worker.log import Log
from engine.worker.options import Options
from engine.worker.rulebook import Delivery, RuleBook, open_rules
from tests.fakes.apiserver import FakeTransport
from tests.fakes.virtual import half, run
from tests.unit.delivery.mounts import Kubelet, contents, image
from tests.unit.worker.stage import NAMESPACE, Stage

HEAD = "engine-program"


async def inline(judge: Callable[[], Any]) -> Any:
    """Instead of a thread, which does not belong on a virtual loop."""
    return judge()


class LiveStage(Stage):
    """The cluster, and one mount that every worker in it sees."""

    def __init__(self, mount: Path) -> None:
        super().__init__()
        self.kubelet = Kubelet(mount)
        self.books: dict[str, RuleBook] = {}
        self._mount = mount
        self._watches: list[asyncio.Queue[None]] = []

    async def begin(
        self, name: str = "engine", *, has_mount: bool = True, is_real: bool = False, **options: Any
    ) -> Worker:
        """A worker begins, with what is published, mounted or in its image; a real one watches files and has threads."""
        client = Client(FakeTransport(self.server, name), clock=self.clock, chance=half)
        given = Options(identity=name, **{"is_elected": False, **options})
        log = Log(self.lines.append, clock=self.clock)
        events, aside = (None, asyncio.to_thread) if is_real else (self._events, inline)
        mount = Mount(self._mount, origin=NAMESPACE, clock=self.clock, events=events) if has_mount else None
        book = await open_rules(client, given, Delivery(image(), mount, aside=aside), log)
        worker = Worker(client, book.program, given, log, book)
        self.books[name] = book
        self.workers[name] = worker, asyncio.create_task(worker.run())
        return worker

    def book(self, name: str = "engine") -> RuleBook:
        return self.books[name]

    async def deliver(self, files: str | Mapping[str, bytes], seconds: float = 5.0) -> None:
        """The kubelet swaps the volume's content."""
        self.kubelet.swap(contents(files) if isinstance(files, str) else files)
        self.stir()
        await self.wait(seconds)

    def stir(self) -> None:
        """An event of the directory, whatever it was."""
        for watch in self._watches:
            watch.put_nowait(None)

    async def approve(self, digest: str) -> None:
        """As `engine rules approve` does."""
        action = approval_action(digest, NAMESPACE)
        await self.admin.merge_patch(
            action.resource, action.key.name, action.patch, manager=action.manager, namespace=NAMESPACE
        )

    def pack(self, name: str = "manufacturer-nvidia") -> dict[str, Any]:
        """The status of a RulePack."""
        found = self.server.get(RULE_PACKS, name)
        assert found is not None, name
        status: dict[str, Any] = found["status"]
        return status

    def packs(self) -> set[str]:
        return {name for _, name in self.server.store.objects.get(str(RULE_PACKS), {})}

    def published(self) -> dict[str, str]:
        """The data of the ConfigMap that names the program in force."""
        found = self.server.get(CONFIG_MAPS, HEAD, NAMESPACE)
        assert found is not None
        data: dict[str, str] = found["data"]
        return data

    def node_labels(self) -> dict[str, dict[str, str]]:
        """The labels of all Nodes."""
        return {name: dict(self.labels(name)) for _, name in self.server.store.objects[str(NODES)]}

    async def _events(self, _path: Path) -> AsyncIterator[object]:
        watch: asyncio.Queue[None] = asyncio.Queue()
        self._watches.append(watch)
        try:
            while True:
                yield await watch.get()
        finally:
            self._watches.remove(watch)


def delivered(mount: Path, test: Callable[[LiveStage], Awaitable[None]], *, first: str = "base") -> LiveStage:
    """A worker over the walkthrough's machines and a first delivery, at rest when `test` begins."""

    async def main() -> LiveStage:
        stage = LiveStage(mount)
        stage.kubelet.swap(contents(first))
        await stage.begin()
        await stage.play()
        await stage.wait(20)
        await test(stage)
        await stage.end()
        return stage

    return run(main())
