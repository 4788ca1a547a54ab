"""What a contract test sees of a server: a client, names of its own, a way to wait. The same for the fake and a real one."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol, TypeVar

from engine.cluster.client import Client, Selection
from engine.cluster.errors import ClusterError
from engine.cluster.http import HttpTransport
from engine.cluster.objects import Owned
from engine.cluster.resources import CRDS, NAMESPACES, Resource
from engine.cluster.session import connection
from tests.fakes.apiserver import ApiServer, FakeTransport
from tests.fakes.faults import Storm
from tests.fakes.kinds import Kind
from tests.fakes.kueue import FakeKueue
from tests.fakes.virtual import VirtualClock, half, run

R = TypeVar("R")

WIDGETS: Resource[Owned] = Resource("contract.engine.dev", "v1", "widgets", "Widget", is_namespaced=True, struct=Owned)
"""A custom resource of the suite's own: every kind of list, a status subresource."""

_TEXT = {"type": "string"}


def _list(items: dict[str, Any], how: str, **more: Any) -> dict[str, Any]:
    return {"type": "array", "items": items, "x-kubernetes-list-type": how, **more}


_ITEM = {"type": "object", "required": ["name"], "properties": {"name": _TEXT, "value": _TEXT, "other": _TEXT}}
_CONDITION = {"type": "object", "required": ["type"], "properties": {"type": _TEXT, "status": _TEXT}}
_SCHEMA = {
    "type": "object",
    "properties": {
        "spec": {
            "type": "object",
            "properties": {
                "text": _TEXT,
                "other": _TEXT,
                "map": {"type": "object", "additionalProperties": _TEXT},
                "keyed": _list(_ITEM, "map", **{"x-kubernetes-list-map-keys": ["name"]}),
                "tags": _list(_TEXT, "set"),
                "whole": _list(_TEXT, "atomic"),
            },
        },
        "status": {
            "type": "object",
            "properties": {
                "phase": _TEXT,
                "conditions": _list(_CONDITION, "map", **{"x-kubernetes-list-map-keys": ["type"]}),
            },
        },
    },
}
WIDGET_CRD = CRDS.body(
    "widgets.contract.engine.dev",
    spec={
        "group": WIDGETS.group,
        "scope": "Namespaced",
        "names": {"plural": "widgets", "singular": "widget", "kind": "Widget", "listKind": "WidgetList"},
        "versions": [
            {
                "name": "v1",
                "served": True,
                "storage": True,
                "subresources": {"status": {}},
                "schema": {"openAPIV3Schema": _SCHEMA},
            }
        ],
    },
)
WIDGET_KIND = Kind(WIDGETS, ("v1",), lists={("spec", "keyed"): ("name",), ("spec", "tags"): "set"})


@dataclass
class Bench:
    """Inside a test: the client, a namespace, and a prefix for names of cluster-wide objects."""

    client: Client
    namespace: str
    prefix: str
    compact: Callable[[], Any]
    """Makes the server forget its history."""
    restart: Callable[[], Awaitable[Any]]
    """Kills the server and starts it anew."""
    pause: Callable[[], Any]
    """The server takes requests and does not answer."""
    resume: Callable[[], Any]
    _cleanup: list[Callable[[], Awaitable[None]]] = field(default_factory=list)

    @property
    def here(self) -> Selection:
        return Selection(namespace=self.namespace)

    def widget(self, name: str, **parts: Any) -> dict[str, Any]:
        return WIDGETS.body(name, self.namespace, **parts)

    def later(self, action: Callable[[], Awaitable[None]]) -> None:
        """Done when the test ends, whatever happened."""
        self._cleanup.append(action)

    async def eventually(self, true: Callable[[], Awaitable[Any]], seconds: float = 30.0) -> Any:
        """The first answer that is not false."""
        loop = asyncio.get_running_loop()
        ends = loop.time() + seconds
        while True:
            found = await true()
            if found:
                return found
            assert loop.time() < ends, "it did not come true"
            await asyncio.sleep(0.05)

    async def clean(self) -> None:
        for action in reversed(self._cleanup):
            try:
                await action()
            except ClusterError:
                continue


class Server(Protocol):
    """Runs a test's coroutine against a server."""

    def run(self, test: Callable[[Bench], Coroutine[Any, Any, R]]) -> R: ...


@dataclass
class FakeServer:
    """The in-memory one, on a virtual clock."""

    has_kueue: bool = False

    def run(self, test: Callable[[Bench], Coroutine[Any, Any, R]]) -> R:
        async def main() -> R:
            clock = VirtualClock()
            server = ApiServer(clock)
            server.serve(WIDGET_KIND)
            kueue = asyncio.create_task(FakeKueue(server).run()) if self.has_kueue else None
            client = Client(FakeTransport(server), clock=clock, chance=half)

            async def restart() -> None:
                server.faults.is_down = True
                server.restart()
                await asyncio.sleep(4)
                server.store.compact()
                # As a real one while it starts.
                server.faults.is_down, server.faults.storm = False, Storm(503, retry_after_seconds=5)
                await asyncio.sleep(1)
                server.faults.storm = None

            powers = (server.store.compact, restart, server.faults.pause, server.faults.resume)
            async with _bench(client, *powers) as bench:
                try:
                    return await test(bench)
                finally:
                    if kueue is not None:
                        kueue.cancel()

        return run(main())


@dataclass
class RealServer:
    """A real one, in real time."""

    cluster: Any
    """`tests.cluster.cluster.Cluster`: its name here would load the testbed for the fake's sake."""

    def run(self, test: Callable[[Bench], Coroutine[Any, Any, R]]) -> R:
        async def main() -> R:
            name = "kube-apiserver"
            powers = (
                self.cluster.compact,
                lambda: asyncio.to_thread(self.cluster.restart, name, kill=True),
                lambda: self.cluster.pause(name),
                lambda: self.cluster.resume(name),
            )
            found = await connection(Path(self.cluster.kubeconfig))
            async with HttpTransport(found, user_agent="engine-contract") as transport:
                client = Client(transport)
                await client.apply(CRDS, WIDGET_CRD, manager="contract")
                async with _bench(client, *powers) as bench:
                    await bench.eventually(lambda: _is_served(client))
                    return await test(bench)

        return asyncio.run(main())


async def _is_served(client: Client) -> bool:
    try:
        await client.list(WIDGETS)
    except ClusterError:
        return False
    return True


@asynccontextmanager
async def _bench(client: Client, *powers: Any) -> AsyncIterator[Bench]:
    prefix = f"contract-{uuid.uuid4().hex[:8]}"
    bench = Bench(client, prefix, prefix, *powers)
    await client.create(NAMESPACES, NAMESPACES.body(prefix), manager="contract")
    bench.later(lambda: client.delete(NAMESPACES, prefix))
    try:
        yield bench
    finally:
        await bench.clean()
