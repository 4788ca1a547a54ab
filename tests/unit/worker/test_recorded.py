"""A recorded cluster: what is in it, what is left out of it, and that its plan is what stood there."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from engine.cluster.resources import INSTANCE_TYPES, NODES, SECRETS
from engine.errors import InputError
from engine.worker.recorded import Recorded
from engine.worker.recording import read_recording, record
from tests.offline import differences, planned
from tests.unit.features.world import program
from tests.unit.worker.queues_stage import QueueStage, with_kueue
from tests.unit.worker.stage import NAMESPACE, SEVEN, Stage

pytestmark = pytest.mark.living

DECLARED = frozenset(each["name"] for each in program().block("settings"))


async def recorded(stage: Stage) -> tuple[list[str], Recorded]:
    header = {"engine": "0", "program": program().digest, "taken": "now"}
    lines = [json.dumps(each) async for each in record(stage.admin, NAMESPACE, DECLARED, header)]
    return lines, read_recording(lines, "cluster.jsonl")


def test_the_plan_of_a_recording_is_what_the_worker_made() -> None:
    async def test(stage: QueueStage) -> None:
        _, found = await recorded(stage)
        chain = planned(found, program())
        assert [each.name for each in chain.flavors()] == SEVEN
        assert differences(found, chain) == []

    with_kueue(test)


async def nothing(_stage: QueueStage) -> None:
    """As it came to rest."""


async def unmanaged(stage: QueueStage) -> None:
    await stage.mark("node-a10g", "false")


async def aware_and_back(stage: QueueStage) -> None:
    await stage.set(instance_type_aware_cpu_manufacturer="true")
    await stage.wait(60)
    await stage.set(instance_type_aware_cpu_manufacturer="false")


async def held(stage: QueueStage) -> None:
    patch = {"spec": {"inactive": True}}
    await stage.admin.merge_patch(INSTANCE_TYPES, "gpustack--nvidia-a10g-linux-amd64", patch, manager="kubectl")


@pytest.mark.parametrize("change", [nothing, unmanaged, aware_and_back, held])
def test_a_cluster_with_a_history_is_planned_as_it_stands(change: Callable[[QueueStage], Awaitable[None]]) -> None:
    async def test(stage: QueueStage) -> None:
        await change(stage)
        await stage.wait(90)
        _, found = await recorded(stage)
        assert differences(found, planned(found, program())) == []

    with_kueue(test)


def test_a_field_that_somebody_changed_is_a_difference() -> None:
    async def test(stage: QueueStage) -> None:
        lines, _ = await recorded(stage)
        text = "\n".join(lines).replace('"note.gpustack.ai/product": "NVIDIA-A10G"', '"note.gpustack.ai/product": "B"')
        found = read_recording(text.split("\n"), "cluster.jsonl")
        told = differences(found, planned(found, program()))
        assert len(told) == 1
        assert told[0].startswith("resourceflavors/")
        assert told[0].endswith("there 'B', planned 'NVIDIA-A10G'")

    with_kueue(test)


def test_secrets_addresses_and_what_people_noted_are_left_out() -> None:
    async def test(stage: QueueStage) -> None:
        token: dict[str, Any] = {"data": {"token": "c2VjcmV0"}, "metadata": {"annotations": {}}}
        await stage.admin.create(SECRETS, SECRETS.body("other", NAMESPACE, **token), manager="x")
        await stage.set(unheard_of="c2VjcmV0")
        note = {
            "metadata": {
                "annotations": {"kubectl.kubernetes.io/last-applied-configuration": "c2VjcmV0", "x/y": "c2VjcmV0"}
            }
        }
        await stage.admin.merge_patch(NODES, "node-a10g", note, manager="kubectl")
        lines, _ = await recorded(stage)
        text = "\n".join(lines)
        assert "c2VjcmV0" not in text
        assert "addresses" not in text
        assert "machineID" not in text

    with_kueue(test)


@pytest.mark.parametrize(
    ("lines", "told"),
    [
        ([], "is empty"),
        (["{"], "cluster.jsonl:1: not JSON"),
        (['{"kind": "Node"}'], "this is no recording"),
        (
            ['{"apiVersion": "engine.gpustack.ai/v1alpha1", "kind": "Recording"}', "[]"],
            "cluster.jsonl:2: this is no object",
        ),
    ],
)
def test_what_is_no_recording_is_refused_with_the_line(lines: list[str], told: str) -> None:
    with pytest.raises(InputError, match=told):
        read_recording(lines, "cluster.jsonl")


def test_an_object_that_no_cluster_would_hold_is_refused_by_name() -> None:
    head = '{"apiVersion": "engine.gpustack.ai/v1alpha1", "kind": "Recording", "namespace": "gpustack-system"}'
    node = '{"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n1", "labels": 3}}'
    with pytest.raises(InputError, match="Node n1 cannot be read"):
        planned(read_recording([head, node], "cluster.jsonl"), program())
