"""The controller against the API server in memory: one write a Node, none at rest, and what a lost race comes to."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any

import pytest

from engine.cluster.client import Client
from engine.cluster.events import EventRecorder
from engine.cluster.informer import Informer
from engine.cluster.resources import EVENTS, LEASES, NODE_FEATURES, NODES, PODS
from engine.cluster.writers import Writer
from engine.features.controller import AWAITED_SECONDS, FeatureController, Settings
from engine.features.foreign import LEASE, Standing
from engine.features.objects import READ_NODE_FEATURES
from tests.fakes.apiserver import ApiServer, FakeTransport
from tests.fakes.virtual import VirtualClock, half, run
from tests.unit.features.world import NAMESPACE, document, policy, rules

HOST = {
    "attributes": {
        "cpu.model": {"vendor_id": "AMD", "family": "25", "id": "1", "name": "AMD EPYC 7763 64-Core Processor"}
    },
    "pci": [["0302", "10de", "2237"]],
    "labels": {"feature.node.kubernetes.io/pci-10de.present": "true"},
}


class Stage:
    """An API server, somebody who writes, and one controller that leads."""

    def __init__(self, **options: Any) -> None:
        self.clock = VirtualClock()
        self.server = ApiServer(self.clock)
        self.admin = Client(FakeTransport(self.server, "admin"), clock=self.clock, chance=half)
        self.options = options
        self.told: list[Standing] = []
        self.failed: list[Exception] = []
        self._tasks: list[asyncio.Task[Any]] = []

    async def begin(self) -> FeatureController:
        client = Client(FakeTransport(self.server, "engine"), clock=self.clock, chance=half)
        nodes, features = Informer(client, NODES), Informer(client, READ_NODE_FEATURES)
        events = EventRecorder(client, component="engine", instance="one")
        made = FeatureController(
            client,
            Writer(client, events=events),
            rules(),
            policy(),
            nodes=nodes,
            features=features,
            told=self.told.append,
            failed=lambda _name, error: self.failed.append(error),
            **self.options,
        )
        for informer in (nodes, features, *made.foreign.informers):
            self._tasks.append(asyncio.create_task(informer.run()))
        self._tasks.append(asyncio.create_task(made.lead()))
        return made

    async def end(self) -> None:
        for task in self._tasks:
            task.cancel()
        for task in self._tasks:
            with suppress(asyncio.CancelledError):
                await task
        self._tasks = []

    async def node(self, name: str) -> None:
        await self.admin.create(NODES, NODES.body(name), manager="kubelet")

    async def feature(self, name: str, told: dict[str, Any], node: str = "n1") -> None:
        parts = document(name, {**told, "node": node})
        body = NODE_FEATURES.body(name, NAMESPACE, metadata=parts["metadata"], spec=parts["spec"])
        await self.admin.create(NODE_FEATURES, body, manager="agent")

    def labels(self, name: str = "n1") -> dict[str, str]:
        return self.server.get(NODES, name)["metadata"].get("labels") or {}  # type: ignore[index]

    def node_writes(self) -> int:
        return len([each for each in self.server.writes("engine") if "/nodes/" in each.path])

    def writes(self) -> int:
        return len(self.server.writes("engine"))


def on_stage(test: Callable[[Stage], Awaitable[None]], **options: Any) -> None:
    async def main() -> None:
        stage = Stage(**options)
        try:
            await test(stage)
        finally:
            await stage.end()

    run(main())


def test_each_node_is_written_once_and_a_restart_writes_nothing() -> None:
    async def test(stage: Stage) -> None:
        for number in range(20):
            await stage.node(f"n{number}")
            await stage.feature(f"n{number}-gpustack-host", HOST, f"n{number}")
            await stage.feature(f"n{number}-gpustack-worker", {"labels": {"gpustack.ai/managed": "true"}}, f"n{number}")
        await stage.begin()
        await asyncio.sleep(1)
        assert stage.writes() == 20
        assert stage.labels("n7") == {
            "feature.node.kubernetes.io/pci-10de.present": "true",
            "gpustack.ai/managed": "true",
        }
        await asyncio.sleep(900)
        assert stage.writes() == 20, "nothing at rest"
        await stage.end()
        await stage.begin()
        await asyncio.sleep(900)
        assert stage.writes() == 20, "nothing after a restart"
        assert stage.failed == []

    on_stage(test)


def test_a_change_is_on_the_node_within_the_window() -> None:
    async def test(stage: Stage) -> None:
        await stage.node("n1")
        await stage.feature("n1-gpustack-worker", {"labels": {"gpustack.ai/managed": "true"}})
        await stage.begin()
        await asyncio.sleep(1)
        patch = {"spec": {"labels": {"gpustack.ai/managed": "false"}}}
        await stage.admin.merge_patch(
            NODE_FEATURES, "n1-gpustack-worker", patch, manager="kubectl", namespace=NAMESPACE
        )
        await asyncio.sleep(0.05)
        assert stage.labels()["gpustack.ai/managed"] == "false"

    on_stage(test)


def test_a_label_of_the_administrator_is_adopted_and_never_undone() -> None:
    async def test(stage: Stage) -> None:
        await stage.node("n1")
        await stage.feature("n1-gpustack-worker", {"labels": {"gpustack.ai/managed": "true"}})
        await stage.begin()
        await asyncio.sleep(1)
        await stage.admin.merge_patch(
            NODES, "n1", {"metadata": {"labels": {"gpustack.ai/managed": "false"}}}, manager="kubectl"
        )
        for _ in range(40):
            await asyncio.sleep(0.02)
            assert stage.labels()["gpustack.ai/managed"] == "false"
        asked = stage.server.get(NODE_FEATURES, "n1-gpustack-worker", NAMESPACE)
        assert asked is not None
        assert asked["spec"]["labels"] == {"gpustack.ai/managed": "false"}

    on_stage(test)


def test_a_write_that_comes_too_late_is_planned_anew() -> None:
    async def test(stage: Stage) -> None:
        await stage.node("n1")
        controller = await stage.begin()
        await asyncio.sleep(1)
        # The watch of Nodes is behind: the version that the book knows is an old one.
        controller._book.put_node = lambda _seen: []  # type: ignore[method-assign]
        await stage.admin.merge_patch(NODES, "n1", {"metadata": {"labels": {"y": "z"}}}, manager="kubectl")
        await asyncio.sleep(0.1)
        del controller._book.put_node
        await stage.feature("a", {"labels": {"x.io/k": "1"}})
        await asyncio.sleep(1)
        assert stage.labels() == {"y": "z", "x.io/k": "1"}
        assert stage.failed == []
        refused = [each for each in stage.server.seen if each.code == 409]
        assert len(refused) == 1

    on_stage(test)


def test_an_adoption_that_comes_too_late_is_planned_anew() -> None:
    async def test(stage: Stage) -> None:
        await stage.node("n1")
        await stage.feature("n1-gpustack-worker", {"labels": {"gpustack.ai/managed": "true"}})
        controller = await stage.begin()
        await asyncio.sleep(1)
        # The watch of NodeFeatures is behind: the worker's object has another version by now.
        controller._book.put_object = lambda _seen: []  # type: ignore[method-assign]
        patch = {"spec": {"labels": {"x.io/k": "1"}}}
        await stage.admin.merge_patch(NODE_FEATURES, "n1-gpustack-worker", patch, manager="x", namespace=NAMESPACE)
        await asyncio.sleep(0.1)
        del controller._book.put_object
        await stage.admin.merge_patch(
            NODES, "n1", {"metadata": {"labels": {"gpustack.ai/managed": "false"}}}, manager="kubectl"
        )
        await asyncio.sleep(1)
        assert stage.labels() == {"gpustack.ai/managed": "false", "x.io/k": "1"}
        asked = stage.server.get(NODE_FEATURES, "n1-gpustack-worker", NAMESPACE)
        assert asked is not None
        assert asked["spec"]["labels"] == {"gpustack.ai/managed": "false", "x.io/k": "1"}
        assert len([each for each in stage.server.seen if each.code == 409]) == 1

    on_stage(test)


def test_a_node_that_is_gone_before_its_watch_tells_so_is_no_failure() -> None:
    async def test(stage: Stage) -> None:
        await stage.node("n1")
        controller = await stage.begin()
        await asyncio.sleep(1)
        controller._book.remove_node = lambda _name: None  # type: ignore[method-assign]
        await stage.admin.delete(NODES, "n1")
        await stage.feature("a", {"labels": {"x.io/k": "1"}})
        await asyncio.sleep(10)
        assert stage.failed == []
        assert stage.writes() == 0

    on_stage(test)


def test_what_cannot_be_written_is_reported_and_tried_again() -> None:
    async def test(stage: Stage) -> None:
        await stage.node("n1")
        controller = await stage.begin()
        await asyncio.sleep(1)
        stale = controller._book.node("n1")
        assert stale is not None
        controller._book.put_node = lambda _seen: []  # type: ignore[method-assign]
        controller._book.node = lambda _name: stale  # type: ignore[method-assign]
        await stage.admin.merge_patch(NODES, "n1", {"metadata": {"labels": {"y": "z"}}}, manager="kubectl")
        await stage.feature("a", {"labels": {"x.io/k": "1"}})
        await asyncio.sleep(0.2)
        del controller._book.put_node
        assert "written by others each time" in str(stage.failed[0])
        await asyncio.sleep(10)
        await stage.feature("b", {"labels": {"x.io/l": "1"}})
        await asyncio.sleep(10)
        assert stage.labels() == {"y": "z", "x.io/k": "1", "x.io/l": "1"}

    on_stage(test)


def test_who_fights_is_named_in_an_event() -> None:
    async def test(stage: Stage) -> None:
        await stage.node("n1")
        await stage.feature("a", {"labels": {"gpustack.ai/k": "1"}})
        await stage.begin()
        await asyncio.sleep(1)
        for _ in range(3):
            await stage.admin.merge_patch(
                NODES, "n1", {"metadata": {"labels": {"gpustack.ai/k": "2"}}}, manager="rival"
            )
            await asyncio.sleep(5)
        assert stage.labels() == {"gpustack.ai/k": "2"}
        listing = await stage.admin.list(EVENTS)
        (event,) = [each for each in listing.items if each.reason == "FeatureStopped"]
        assert "rival keeps changing gpustack.ai/k from '1' to '2'" in event.note

    on_stage(test)


def test_the_first_write_waits_for_the_workers_object_but_not_for_ever() -> None:
    async def test(stage: Stage) -> None:
        await stage.node("n1")
        await stage.node("n2")
        await stage.feature("n1-gpustack-host", HOST)
        await stage.feature("n2-gpustack-host", HOST, "n2")
        await stage.begin()
        await asyncio.sleep(0.5)
        assert stage.node_writes() == 0
        awaited.discard("n1")
        await stage.feature("n1-gpustack-worker", {"labels": {"gpustack.ai/managed": "true"}})
        await asyncio.sleep(0.5)
        assert stage.node_writes() == 1
        await asyncio.sleep(AWAITED_SECONDS)
        assert stage.node_writes() == 2

    awaited = {"n1", "n2"}
    on_stage(test, is_awaited=awaited.__contains__)


def test_direct_labels_share_the_write() -> None:
    async def test(stage: Stage) -> None:
        await stage.node("n1")
        await stage.feature("a", {"labels": {"x.io/k": "1"}})
        controller = await stage.begin()
        controller.put_direct_labels("n1", {"topology.gpustack.ai/profile": "fnv64-0"})
        await asyncio.sleep(1)
        assert stage.labels() == {"x.io/k": "1", "topology.gpustack.ai/profile": "fnv64-0"}
        assert stage.node_writes() == 1
        controller.put_direct_labels("n1", {"topology.gpustack.ai/profile": "fnv64-0"})
        await asyncio.sleep(1)
        assert stage.node_writes() == 1

    on_stage(test)


def test_a_node_that_goes_takes_its_memory_along() -> None:
    async def test(stage: Stage) -> None:
        await stage.node("n1")
        await stage.feature("a", {"labels": {"x.io/k": "1"}})
        await stage.begin()
        await asyncio.sleep(1)
        await stage.admin.delete(NODES, "n1")
        await stage.admin.delete(NODE_FEATURES, "a", NAMESPACE)
        await asyncio.sleep(1)
        await stage.node("n1")
        await asyncio.sleep(100)
        assert stage.labels() == {}
        assert stage.failed == []

    on_stage(test)


@pytest.mark.parametrize("sign", ["pod", "lease", "writing"])
def test_a_live_nfd_stops_every_write_until_it_has_been_gone_for_a_minute(sign: str) -> None:
    async def test(stage: Stage) -> None:
        await stage.node("n1")
        await stage.begin()
        await asyncio.sleep(1)
        await show(stage, sign)
        await asyncio.sleep(1)
        await stage.feature("a", {"labels": {"x.io/k": "1"}})
        await asyncio.sleep(30)
        assert stage.labels() == {}
        assert stage.told[-1].reason == "ForeignNFD"
        await hide(stage, sign)
        await asyncio.sleep(58 if sign == "pod" else 26)
        assert stage.labels() == {}
        await asyncio.sleep(5)
        assert stage.labels() == {"x.io/k": "1"}
        leaving = [] if sign == "writing" else ["NFDLeaving"]
        assert [each.reason for each in stage.told] == ["Builtin", "ForeignNFD", *leaving, "Builtin"]

    async def show(stage: Stage, sign: str) -> None:
        if sign == "pod":
            labels = {"app": "nfd-master"}
            await stage.admin.create(PODS, PODS.body("nfd", "default", metadata={"labels": labels}), manager="x")
            ready = {"status": {"conditions": [{"type": "Ready", "status": "True"}]}}
            await stage.admin.merge_patch(PODS, "nfd", ready, manager="x", namespace="default", subresource="status")
        elif sign == "lease":
            spec = {"renewTime": "2026-11-29T12:00:01.000000Z"}
            await stage.admin.create(LEASES, LEASES.body(LEASE, "default", spec=spec), manager="x")
        else:
            listed = {"nfd.node.kubernetes.io/feature-labels": "gpustack.ai/x"}
            await stage.admin.merge_patch(NODES, "n1", {"metadata": {"annotations": listed}}, manager="nfd-master")

    async def hide(stage: Stage, sign: str) -> None:
        if sign == "pod":
            await stage.admin.delete(PODS, "nfd", "default")
        elif sign == "lease":
            await stage.admin.delete(LEASES, LEASE, "default")
        else:
            nothing = {"nfd.node.kubernetes.io/feature-labels": None}
            await stage.admin.merge_patch(NODES, "n1", {"metadata": {"annotations": nothing}}, manager="nfd-master")

    on_stage(test)


def test_a_lease_that_nobody_renews_any_more_stops_nothing() -> None:
    async def test(stage: Stage) -> None:
        spec = {"renewTime": "2026-11-29T10:00:01.000000Z"}
        await stage.admin.create(LEASES, LEASES.body(LEASE, "default", spec=spec), manager="x")
        await stage.node("n1")
        await stage.feature("a", {"labels": {"x.io/k": "1"}})
        await stage.begin()
        await asyncio.sleep(1)
        assert stage.labels() == {"x.io/k": "1"}

    on_stage(test, settings=Settings(workers=2))
