"""Many Nodes at once: what they come to never lags behind, and rules are asked a few times for them all."""

from __future__ import annotations

import asyncio
from typing import Any

from engine.lang.outcome import Outcome
from engine.worker.asking import SeenNode
from engine.worker.fleet import Fleet
from engine.worker.gathering import Gathering
from engine.worker.settings import SettingsReader
from tests.fakes.virtual import run
from tests.unit.features.world import program
from tests.unit.worker.replaced import Replaced

NAME = "gpustack--amd-epyc-7r13-linux-amd64-16c"
LABELS = {
    "gpustack.ai/managed": "true",
    "topology.gpustack.ai/profile": "fnv64-87bf574bea2a4f23",
    "feature.node.kubernetes.io/cpu-model.vendor_id": "AMD",
    "general.feature.gpustack.ai/amd-epyc-7r13": "true",
    "general.feature.gpustack.ai/amd-epyc-7r13.count": "16",
}


def node(number: int, **changes: Any) -> SeenNode:
    name = {"feature.gpustack.ai/cpu-name": "AMD EPYC 7R13 Processor"}
    labels = {key: value for key, value in {**LABELS, **changes}.items() if value is not None}
    return SeenNode(f"n{number}", f"u{number}", "linux", "amd64", "16", labels, name)


def fleet(rules: Any = None) -> Fleet:
    return Fleet(rules or program(), SettingsReader(program().block("settings"), {}).first().values)


def test_a_flavor_is_asked_for_once_however_many_nodes_came_since() -> None:
    asked: list[str] = []

    class Counting(Replaced):
        def evaluate(self, section: str, inputs: dict[str, Any], maker: str | None = None) -> Outcome:
            asked.append(section)
            return super().evaluate(section, inputs, maker)

    made = fleet(Counting())
    for number in range(50):
        made.put(node(number))
    assert "flavor" not in asked
    assert made.take().flavors == {NAME}
    assert asked.count("flavor") == 1
    assert made.take().flavors == frozenset()


def test_what_is_looked_up_is_never_behind_though_nobody_took_it() -> None:
    made = fleet()
    made.put(node(1))
    found = made.flavor(NAME)
    assert found is not None
    assert found.nodes == 1
    made.put(node(2))
    assert made.flavor_names() == {NAME}
    assert made.flavor(NAME).nodes == 2
    assert made.take().flavors == {NAME}, "looking does not take"
    made.drop("n1")
    made.drop("n2")
    assert made.flavor(NAME) is None


def test_a_label_counts_once_it_is_there() -> None:
    for missing in LABELS:
        if "cpu-model" not in missing:
            made = fleet()
            made.put(node(1, **{missing: None}))
            assert made.flavor_names() == set(), missing


def test_nodes_that_only_lack_the_profile_are_told_of_a_flavor_that_would_go() -> None:
    made = fleet()
    selector = {key: value for key, value in LABELS.items() if "cpu-model" not in key}
    made.put(node(1))
    assert made.unprofiled(selector) == ()
    made.put(node(1, **{"topology.gpustack.ai/profile": None}))
    assert made.unprofiled(selector) == ("n1",)


def test_a_burst_is_acted_on_at_once_and_then_together() -> None:
    async def main() -> list[float]:
        times: list[float] = []
        loop = asyncio.get_running_loop()
        gathering = Gathering(lambda: times.append(round(loop.time() - 1000, 2)), 0.25)
        for _ in range(10):
            gathering.soon()
            await asyncio.sleep(0.1)
        await asyncio.sleep(1)
        gathering.soon()
        await asyncio.sleep(1)
        return times

    assert run(main()) == [0.0, 0.25, 0.5, 0.75, 1.0, 2.0]
