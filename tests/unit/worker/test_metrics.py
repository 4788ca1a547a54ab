"""Metrics say what happened to controllers, informers and requests, and name no object."""

from __future__ import annotations

import asyncio
import base64
from collections.abc import Mapping
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

from prometheus_client.parser import text_string_to_metric_families

from engine.chain.changes import Condition
from engine.cluster.actions import Create
from engine.cluster.client import Client
from engine.cluster.elector import Elector, ElectorSettings
from engine.cluster.informer import Informer
from engine.cluster.resources import CLUSTER_QUEUES, NAMESPACES, NODES
from engine.cluster.writers import Writer
from engine.sections.resources import resource_names
from engine.worker.app import Worker
from engine.worker.asked import Answers, CountedProgram
from engine.worker.health import Health, passes, report
from engine.worker.inforce import InForce
from engine.worker.log import silent
from engine.worker.loop import Controller, Work
from engine.worker.metrics import Metrics, Sources
from engine.worker.stage import everything
from tests.fakes.apiserver import ApiServer, FakeTransport
from tests.fakes.virtual import VirtualClock, half, run
from tests.unit.features.world import program
from tests.unit.worker.stage import SEVEN, Stage

Series = dict[str, dict[tuple[str, ...], float]]


def series(metrics: Metrics) -> Series:
    """Samples by name, then by label values in the order of label names."""
    found: Series = {}
    for family in text_string_to_metric_families(metrics.text()[0].decode()):
        for sample in family.samples:
            values = tuple(value for _, value in sorted(sample.labels.items()))
            found.setdefault(sample.name, {})[values] = sample.value
    return found


class World:
    """One controller that makes namespaces, one informer, and an API server."""

    def __init__(self) -> None:
        self.clock = VirtualClock()
        self.server = ApiServer(self.clock)
        self.client = Client(FakeTransport(self.server, "engine"), clock=self.clock, chance=half)
        self.rules = InForce(program(), {})
        self.nodes = Informer(self.client, NODES)
        self.queues = Informer(self.client, CLUSTER_QUEUES)
        self.conditions: list[Condition] = []
        self.answers: Answers = Answers()
        work = Work("namespace", lambda: ["a", "b", "broken"], self.observe, self.plan)
        self.controller = Controller(work, Writer(self.client), lambda *_: None, self.clock, silent())
        self.sources = Sources(
            rules=self.rules,
            works=lambda: [self.controller, object()],
            informers=lambda: [self.nodes, self.queues],
            conditions=lambda: self.conditions,
            leads=lambda: False,
            calls=self.client.calls,
            answers=self.answers,
            version="1.2.3",
            clock=self.clock,
        )
        self.metrics = Metrics(self.sources)

    def observe(self, key: str) -> str | None:
        if key == "broken":
            raise ValueError("a fault of ours")
        return key if key == "a" else None

    def plan(self, key: str) -> list[Create]:
        return [Create(NAMESPACES, NAMESPACES.body(key), "engine")]

    def labels(self) -> dict[str, str]:
        data = {"node-management-manual": "perhaps", "unheard-of": "1"}
        return {key: base64.b64encode(text.encode()).decode() for key, text in data.items()}


def test_passes_are_counted_by_controller_and_result_and_failing_keys_wait() -> None:
    async def main() -> Series:
        world = World()
        task = asyncio.create_task(world.controller.lead())
        await asyncio.sleep(0.01)
        found = series(world.metrics)
        task.cancel()
        return found

    found = run(main())
    counted = {labels: value for labels, value in found["engine_reconcile_total"].items() if value}
    assert counted == {
        ("namespace", "written"): 1,
        ("namespace", "unchanged"): 1,
        ("namespace", "failed"): 1,
    }
    assert found["engine_reconcile_seconds_count"] == {("namespace",): 3}
    assert found["engine_reconcile_seconds_bucket"]["namespace", "+Inf"] == 3
    assert found["engine_queue_depth"] == {("namespace",): 0}
    assert found["engine_queue_delayed"] == {("namespace",): 1}
    assert found["engine_queue_failing"] == {("namespace",): 1}
    assert found["engine_api_requests_total"] == {("201", "namespaces", "create"): 1}


def test_informers_tell_lists_watches_troubles_and_what_they_hold() -> None:
    async def main() -> tuple[Series, list[str]]:
        world = World()
        world.server.stop_serving(world.server.kind(str(CLUSTER_QUEUES)).resource)
        await world.client.create(NODES, NODES.body("one"), manager="kubelet")
        health = Health(lambda: [world.nodes, world.queues])
        before = report("readyz", health.ready())
        tasks = [asyncio.create_task(each.run()) for each in (world.nodes, world.queues)]
        await asyncio.sleep(1)
        health.is_prepared = True
        assert passes(health.ready()), "a kind that the cluster does not serve is not waited for"
        after = report("readyz", health.ready())
        found = series(world.metrics)
        for task in tasks:
            task.cancel()
        return found, [before, after]

    found, (before, after) = run(main())
    queues = "clusterqueues.kueue.x-k8s.io"
    assert found["engine_informer_lists_total"]["nodes",] == 1
    assert found["engine_informer_watches_total"]["nodes",] == 1
    assert found["engine_informer_objects"] == {("nodes",): 1, (queues,): 0}
    assert found["engine_informer_synced"] == {("nodes",): 1, (queues,): 0}
    assert found["engine_informer_troubles_total"]["nodes",] == 0
    assert found["engine_informer_troubles_total"][queues,] >= 1
    assert found["engine_api_requests_total"]["404", queues, "list"] >= 1
    assert f"[-]informer/{queues} failed: waits for its first list" in before
    assert f"[+]informer/{queues} ok: the cluster has no such kind" in after


def test_two_informers_of_one_kind_are_one_series() -> None:
    async def main() -> Series:
        world = World()
        second = Informer(world.client, NODES)
        return series(Metrics(Sources(world.rules, works=list, informers=lambda: [world.nodes, second])))

    assert list(run(main())["engine_informer_lists_total"]) == [("nodes",)]


def test_the_rules_in_force_have_a_digest_and_an_age_that_begins_anew_with_others() -> None:
    other = CountedProgram(OtherDigest(program()), Answers())

    async def main() -> list[Series]:
        world = World()
        await asyncio.sleep(60)
        found = [series(world.metrics)]
        world.rules.store(world.labels())
        found.append(series(world.metrics))
        world.rules.swap(other)
        await asyncio.sleep(5)
        return [*found, series(world.metrics)]

    before, stored, after = run(main())
    assert before["engine_rules_info"] == {(program().digest,): 1}
    assert before["engine_rules_age_seconds"] == {(): 60}
    assert ("Derivation", "flavor") in {labels[:2] for labels in before["engine_rule_pack"]}
    assert (before["engine_settings_refused"][()], before["engine_settings_unknown"][()]) == (0, 0)
    assert (stored["engine_settings_refused"][()], stored["engine_settings_unknown"][()]) == (1, 1)
    assert stored["engine_rules_age_seconds"] == {(): 60}, "other settings are not other rules"
    assert after["engine_rules_age_seconds"] == {(): 5}


class OtherDigest:
    """A program that answers as another does, under another digest."""

    def __init__(self, inner: Any) -> None:
        self._inner = inner
        self.makers = inner.makers

    def block(self, name: str, maker: str | None = None) -> Any:
        return self._inner.block(name, maker)

    def evaluate(self, section: str, inputs: Mapping[str, Any], maker: str | None = None) -> Any:
        return self._inner.evaluate(section, inputs, maker)


def test_answers_and_conditions_are_counted_by_section_and_reason() -> None:
    async def main() -> Series:
        world = World()
        counted = CountedProgram(program(), world.answers)
        assert resource_names(counted, "nvidia") == resource_names(program(), "nvidia")
        counted.evaluate("flavor", {})
        world.conditions += [Condition("Node", name, "CouldNotTell", "…") for name in ("one", "two")]
        return series(world.metrics)

    found = run(main())
    assert found["engine_section_answers_total"] == {("unknown", "flavor"): 1, ("value", "resources"): 1}
    assert found["engine_conditions"] == {("Node", "CouldNotTell"): 2}
    assert found["engine_leading"] == {(): 0}
    assert "1.2.3" in next(iter(found["engine_build_info"]))


def test_a_delivery_of_rules_is_counted_by_its_verdict() -> None:
    book = SimpleNamespace(verdicts={"Loaded": 2, "Held": 1, "Failed": 0}, verdict="Held", swaps=1)

    async def main() -> Series:
        return series(Metrics(replace(World().sources, book=book)))

    found = run(main())
    assert found["engine_rule_deliveries_total"] == {("Failed",): 0, ("Held",): 1, ("Loaded",): 2}
    assert found["engine_rule_delivery"] == {("Failed",): 0, ("Held",): 1, ("Loaded",): 0}
    assert found["engine_rule_swaps_total"] == {(): 1}


def test_each_controller_of_a_worker_has_its_series_and_none_names_a_node() -> None:
    async def main() -> tuple[Series, list[str]]:
        stage = Stage()
        worker = stage.start()
        await stage.play()
        await stage.wait(60)
        found = series(overseen(worker))
        await stage.end()
        return found, list(worker.stage.fleet.nodes())

    found, nodes = run(main())
    works = set(found["engine_queue_depth"])
    assert {("flavor",), ("features",), ("nodefeature",), ("topology",)} <= works
    assert found["engine_informer_objects"]["nodes",] == len(nodes) == 4
    assert found["engine_reconcile_total"]["features", "written"] >= 4
    calls = found["engine_api_requests_total"]
    applied = ("resourceflavors.kueue.x-k8s.io", "apply")
    assert sum(count for (_, *about), count in calls.items() if tuple(about) == applied) == len(SEVEN)
    labels = {label for each in found.values() for values in each for label in values}
    assert not [label for label in labels if any(node in label for node in nodes)]


def overseen(worker: Worker) -> Metrics:
    """The metrics of a worker, put together as its process does."""
    return Metrics(
        Sources(
            rules=worker.stage.rules,
            works=lambda: everything(worker.parts),
            informers=worker.stage.informers.all,
            calls=worker.stage.client.calls,
            clock=worker.stage.clock,
        )
    )


def test_a_leader_whose_work_does_not_end_after_its_time_is_not_alive_and_one_that_waits_is() -> None:
    async def main() -> None:
        world = World()
        elector = Elector(world.client, ElectorSettings("worker", "default", "one"))
        health = Health(list, elector)
        assert passes(health.live()), "a replica that waits for the lease is alive"
        ended = asyncio.Event()

        async def stubborn() -> None:
            try:
                await asyncio.sleep(3600)
            finally:
                await ended.wait()

        task = asyncio.create_task(elector.run(stubborn))
        await asyncio.sleep(1)
        assert elector.is_leader()
        assert passes(health.live())
        world.server.faults.is_down = True
        await asyncio.sleep(60)
        assert "[-]lease failed: it was not renewed in time" in report("livez", health.live())
        ended.set()
        await asyncio.wait({task})
        assert task.exception() is not None
        assert passes(health.live())

    run(main())
