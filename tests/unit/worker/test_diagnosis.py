"""What `engine status` says of a cluster: nothing while all is well, and the missing link with its reason otherwise."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from engine.cluster.resources import CLUSTER_QUEUES, INSTANCE_TYPES, LOCAL_QUEUES, RESOURCE_FLAVORS
from engine.worker.diagnosis import Status, diagnose, sentences
from tests.behaviour.running import run as run_command
from tests.unit.features.world import program
from tests.unit.worker.queues_stage import A10G, GENERIC, T4, QueueStage, with_kueue
from tests.unit.worker.test_recorded import recorded

pytestmark = pytest.mark.living


async def status(stage: QueueStage) -> Status:
    _, found = await recorded(stage)
    return diagnose(found, program())


def missing(found: Status, pool: str) -> tuple[str, ...]:
    return next(each.missing for each in found.pools if each.name == pool)


def test_a_cluster_at_rest_misses_nothing() -> None:
    async def test(stage: QueueStage) -> None:
        found = await status(stage)
        assert found.is_whole
        assert list(sentences(found)) == []
        assert [(each.name, each.nodes, each.flavors, each.phase) for each in found.pools] == [
            (GENERIC, 4, (4, 4), "Active"),
            (A10G, 1, (1, 1), "Active"),
            (T4, 2, (2, 2), "Active"),
        ]
        assert found.worker == "no worker has ever led here: is it installed?", "this one runs without a lease"

    with_kueue(test)


def test_what_is_gone_while_no_worker_runs_is_named_link_by_link() -> None:
    async def test(stage: QueueStage) -> None:
        await stage.stop()
        flavor = "gpustack--amd-epyc-7r32-linux-amd64-4c"
        door = stage.door(T4)
        await stage.admin.delete(LOCAL_QUEUES, door, "default")
        await stage.admin.delete(CLUSTER_QUEUES, A10G)
        await stage.admin.delete(INSTANCE_TYPES, A10G)
        stage.server.store.objects[str(RESOURCE_FLAVORS)].pop(("", flavor))
        await stage.wait(5)
        found = await status(stage)
        assert not found.is_whole
        assert missing(found, T4) == (f"LocalQueue default/{door} is not there: the worker has not made it",)
        assert missing(found, GENERIC)[0] == f"ResourceFlavor {flavor} is not there: the worker has not made it"
        assert missing(found, A10G)[0] == f"InstanceType {A10G} is being deleted: it goes when its queue has drained"

    with_kueue(test)


def test_a_pool_whose_node_left_and_a_type_that_is_switched_off_say_so() -> None:
    async def test(stage: QueueStage) -> None:
        await stage.mark("node-a10g", "false")
        off = {"spec": {"inactive": True}}
        await stage.admin.merge_patch(INSTANCE_TYPES, T4, off, manager="kubectl")
        await stage.wait(60)
        found = await status(stage)
        assert missing(found, A10G)[-1] == f"ClusterQueue {A10G} admits nothing: no managed node of its pool is there"
        assert missing(found, T4) == (
            f"ClusterQueue {T4} is stopped: Hold, because spec.inactive of its InstanceType is true",
        )
        assert found.idle == (
            ("node-a10g", "gpustack.ai/managed is false: set it to true in the node's worker NodeFeature"),
        )

    with_kueue(test)


def test_the_command_reads_a_recording_and_its_exit_code_tells(tmp_path: Path) -> None:
    file = tmp_path / "cluster.jsonl"

    async def test(stage: QueueStage) -> None:
        lines, _ = await recorded(stage)
        file.write_text("\n".join(lines), encoding="utf-8")

    with_kueue(test)
    whole = run_command("status", str(file))
    assert whole.exit_code == 0
    assert f"{T4}" in whole.stdout
    lines = [line for line in file.read_text(encoding="utf-8").split("\n") if '"kind": "ClusterQueue"' not in line]
    file.write_text("\n".join(lines), encoding="utf-8")
    broken = run_command("status", str(file), "-o", "json")
    assert broken.exit_code == 1
    told = json.loads(broken.stdout)
    assert not told["isWhole"]
    assert told["pools"][0]["missing"] == [f"ClusterQueue {GENERIC} is not there: the worker has not made it"]
    assert run_command("status", str(file), "--pool", "generic").exit_code == 2
    planned = run_command("plan", str(file), "--show", "instancetypes", "-o", "name")
    assert planned.stdout.splitlines() == [f"instancetype.worker.gpustack.ai/{name}" for name in (GENERIC, A10G, T4)]
