"""A real NFD beside the worker: it comes and goes, nobody fights, and no label is ever missing from a Node."""

from __future__ import annotations

from typing import Any

import pytest

from engine.cluster.resources import NODE_FEATURE_RULES, NODES
from engine.features.cpu_info import NAME
from engine.features.foreign import Provider
from tests.fakes.foreign_nfd import ANNOTATIONS, CPU_NAME, LABELS
from tests.fakes.virtual import run
from tests.unit.worker.foreign import NodeWatch, PlayedNfd
from tests.unit.worker.stage import SEVEN, Stage

pytestmark = pytest.mark.living

NODE_NAMES = ("node-a10g", "node-cpu", "node-t4-a", "node-t4-b")
PROFILE = "topology.gpustack.ai/profile"


OF_CARDS = ("engine-node-capacity", "engine-node-fit")
"""What is written because of cards no NFD writes, so none is fought by it."""


def node_writes(stage: Stage, by: str = "engine") -> list[str]:
    sent = (each for each in stage.server.writes(by) if each.manager not in OF_CARDS)
    return [each.path for each in sent if "/nodes/" in each.path]


def annotations(stage: Stage, node: str) -> dict[str, str]:
    found: dict[str, Any] = stage.server.get(NODES, node)["metadata"]
    return found.get("annotations") or {}


def test_an_nfd_that_was_first_is_not_fought_and_is_taken_over_in_one_write_a_node_when_it_is_gone() -> None:
    async def main() -> None:
        stage = Stage()
        nfd = PlayedNfd(stage)
        await stage.play()
        await nfd.start()
        await stage.wait(5)
        stage.start()
        await stage.wait(5)
        watch = NodeWatch(stage)
        await stage.wait(100)
        assert node_writes(stage) == [], "nothing is written while an NFD is alive"
        assert stage.labels("node-cpu")["gpustack.ai/managed"] == "true", "the NFD serves the worker's objects"
        (event,) = stage.events("ForeignNFD")
        assert event["regarding"]["name"] == "gpustack-settings"
        assert "Scale its master to 0 to hand over" in event["note"]
        writes = len(node_writes(stage, "nfd-master"))
        await stage.wait(100)
        assert len(node_writes(stage, "nfd-master")) == writes, "nobody rewrites anything"

        await nfd.stop()
        await stage.wait(50)
        assert node_writes(stage) == []
        await stage.wait(60)
        assert sorted(node_writes(stage)) == [f"/api/v1/nodes/{name}" for name in NODE_NAMES]
        for name in NODE_NAMES:
            told = annotations(stage, name)
            assert not {LABELS, ANNOTATIONS} & told.keys(), "its lists have nothing left that it could prune"
            assert not told[CPU_NAME].startswith("@"), "what it could not resolve is resolved"
        assert stage.flavors() == SEVEN
        assert watch.lost == []
        await watch.end()
        await stage.end()

    run(main())


def test_an_nfd_switched_on_and_off_again_loses_no_label_and_is_never_fought() -> None:
    async def main() -> None:
        stage = Stage()
        nfd = PlayedNfd(stage)
        stage.start()
        await stage.play()
        await stage.wait(90)
        watch = NodeWatch(stage)
        await stage.wait(1)
        count = len(node_writes(stage))
        for turn in (1, 2):
            await nfd.start()
            await stage.wait(120)
            assert len(node_writes(stage)) == count, "frozen"
            assert LABELS in annotations(stage, "node-cpu"), "the NFD has claimed what it writes"
            await nfd.stop()
            await stage.wait(120)
            count += len(NODE_NAMES)
            assert len(node_writes(stage)) == count, f"taken over in one write a Node, turn {turn}"
            assert LABELS not in annotations(stage, "node-cpu")
            await stage.wait(600)
            assert len(node_writes(stage)) == count, "and that is all"
        assert watch.lost == []
        assert stage.flavors() == SEVEN
        assert len(node_writes(stage, "nfd-master")) == 2 * len(NODE_NAMES), "it had to write each Node once a turn"
        await watch.end()
        await stage.end()

    run(main())


def test_the_switch_works_while_an_nfd_serves_it() -> None:
    async def main() -> None:
        stage = Stage()
        nfd = PlayedNfd(stage)
        stage.start()
        await stage.play()
        await stage.wait(90)
        await nfd.start()
        await stage.wait(5)
        count = len(node_writes(stage))
        await stage.mark("node-a10g", "false")
        await stage.wait(10)
        assert stage.labels("node-a10g")["gpustack.ai/managed"] == "false"
        assert stage.flavors() == [name for name in SEVEN if "7r32" not in name]
        await nfd.stop()
        await stage.wait(90)
        assert stage.labels("node-a10g")["gpustack.ai/managed"] == "false"
        assert len(node_writes(stage)) == count + len(NODE_NAMES)
        await stage.end()

    run(main())


def test_in_nfd_mode_the_worker_writes_its_objects_the_rule_and_the_profile_and_no_other_label() -> None:
    async def main() -> None:
        stage = Stage()
        nfd = PlayedNfd(stage)
        await stage.play()
        await nfd.start()
        stage.start(provider=Provider.NFD)
        await stage.wait(60)
        assert sorted(node_writes(stage)) == [f"/api/v1/nodes/{name}" for name in NODE_NAMES]
        for name in NODE_NAMES:
            owned = stage.server.get(NODES, name)["metadata"]["managedFields"]
            ours = [each for each in owned if each["manager"].startswith("engine") and each["manager"] not in OF_CARDS]
            fields = {each["manager"]: each["fieldsV1"] for each in ours}
            assert fields == {"engine-node-profile": {"f:metadata": {"f:labels": {f"f:{PROFILE}": {}}}}}
        assert stage.flavors() == SEVEN
        rule = stage.server.get(NODE_FEATURE_RULES, NAME)
        assert rule is not None
        assert len(rule["spec"]["rules"]) == 3
        assert stage.events("NFDMissing") == []
        count = len(stage.server.writes("engine"))
        await stage.wait(600)
        assert len(stage.server.writes("engine")) == count, "at rest nothing is written"
        await stage.end()

    run(main())


def test_in_nfd_mode_a_missing_nfd_is_told_and_nothing_stands_in_for_it() -> None:
    async def main() -> None:
        stage = Stage()
        await stage.play()
        stage.start(provider=Provider.NFD)
        await stage.wait(50)
        assert stage.events("NFDMissing") == []
        await stage.wait(60)
        (event,) = stage.events("NFDMissing")
        assert "Install one, or set builtin" in event["note"]
        assert any("level=warning" in line.lower() or "NFDMissing" in line for line in stage.lines)
        assert all("gpustack.ai/managed" not in stage.labels(name) for name in NODE_NAMES)
        await stage.end()

    run(main())


def test_the_rule_goes_when_the_provider_is_built_in_and_no_nfd_could_miss_it() -> None:
    async def main() -> None:
        stage = Stage()
        nfd = PlayedNfd(stage)
        await stage.play()
        await nfd.start()
        stage.start(provider=Provider.NFD)
        await stage.wait(20)
        await stage.stop()
        stage.start()
        watch = NodeWatch(stage)
        await stage.wait(120)
        assert stage.server.get(NODE_FEATURE_RULES, NAME) is not None, "the NFD still evaluates it"
        await nfd.stop()
        await stage.wait(120)
        assert stage.server.get(NODE_FEATURE_RULES, NAME) is None
        assert watch.lost == []
        assert stage.flavors() == SEVEN
        await watch.end()
        await stage.end()

    run(main())


def test_a_node_that_no_nfd_can_be_told_of_is_named() -> None:
    async def main() -> None:
        stage = Stage()
        stage.start(provider=Provider.NFD)
        name = "n" * 64
        await stage.admin.create(NODES, NODES.body(name), manager="kubelet")
        await stage.wait(5)
        assert any("a real NFD cannot be told of" in line and name in line for line in stage.lines)
        await stage.end()

    run(main())
