"""What the worker writes on Nodes and `Devices` over time, against the API server in memory."""

from __future__ import annotations

from typing import Any

import pytest

from engine.cluster.resources import DEVICES, NODES
from tests.fakes.faults import Storm
from tests.fakes.virtual import run
from tests.golden.objects import read
from tests.unit.worker.stage import Stage, objects, played

pytestmark = pytest.mark.living

A10G = "node-a10g"
UNITS = "sliced-max-free-units.fit.gpustack.ai/nvidia-a10g"
SHARES = "shared-free-cards.fit.gpustack.ai/nvidia-a10g"
COUNTED = {
    "nvidia.com/gpu.sliced.cores-percentage": "12800",
    "nvidia.com/gpu.sliced.memory-mib": "24576",
    "nvidia.com/gpu.sliced.memory-percentage": "100",
    "nvidia.com/gpu.sliced.units": "1600k",
}
CARD = "GPU-e0587d2e-127c-4fb8-e2c1-6e517529f575"


def taken(remaining: int, mode: int = 3, **more: Any) -> list[dict[str, Any]]:
    rows = [{"id": CARD, "index": 0, "mode": mode, "remaining": remaining, **more}]
    return [{"id": "a10g", "manufacturer": "nvidia", "accelerators": rows}]


def counted(stage: Stage, node: str = A10G) -> dict[str, str]:
    return {key: value for key, value in stage.capacity(node).items() if ".sliced." in key or ".partitioned." in key}


def fit(stage: Stage, node: str = A10G) -> dict[str, str]:
    return {key: value for key, value in stage.labels(node).items() if ".fit." in key}


def writes(stage: Stage, end: str, since: int = 0) -> list[str]:
    """What was sent to a path, from the so-manieth write on."""
    return [each.path for each in stage.server.writes("engine")[since:] if each.path.endswith(end)]


def test_the_machines_of_the_walkthrough_have_the_capacity_and_the_labels_that_were_planned_offline() -> None:
    async def test(stage: Stage) -> None:
        hosts = "feature.node.kubernetes.io/"
        for golden in read("nodes.yaml"):
            name = golden["metadata"]["name"]
            assert stage.capacity(name) == golden["status"]["capacity"]
            found = {key: value for key, value in stage.labels(name).items() if not key.startswith(hosts)}
            assert found == golden["metadata"]["labels"]
        for golden in read("devices.yaml"):
            live = stage.server.get(DEVICES, golden["metadata"]["name"])
            assert live["metadata"]["labels"] == golden["metadata"]["labels"]
            assert (live["spec"], live["status"]) == (golden["spec"], golden["status"])

    played(test)


def test_partitions_of_a_whole_node_are_counted() -> None:
    async def main() -> None:
        stage = Stage()
        stage.start()
        await stage.play("mig")
        await stage.wait()
        assert counted(stage, "node-h100-mig") == {
            "nvidia.com/gpu.partitioned.mig-1g.10gb": "56",
            "nvidia.com/gpu.partitioned.mig-1g.20gb": "32",
            "nvidia.com/gpu.partitioned.mig-2g.20gb": "24",
            "nvidia.com/gpu.partitioned.mig-3g.40gb": "16",
            "nvidia.com/gpu.partitioned.mig-4g.40gb": "8",
            "nvidia.com/gpu.partitioned.mig-7g.80gb": "8",
            "nvidia.com/gpu.partitioned.units": "12800k",
        }
        assert fit(stage, "node-h100-mig") == {}
        await stage.end()

    run(main())


def test_at_rest_nothing_is_written_and_another_worker_finds_nothing_to_write() -> None:
    async def test(stage: Stage) -> None:
        count = len(stage.server.writes("engine"))
        heartbeat = {"conditions": [{"type": "Ready", "status": "True"}]}
        for _ in range(10):
            await stage.admin.merge_patch(NODES, A10G, {"status": heartbeat}, manager="kubelet", subresource="status")
            await stage.wait(300)
        assert len(stage.server.writes("engine")) == count
        await stage.stop()
        stage.start("again")
        await stage.wait(60)
        assert stage.server.writes("again") == []

    played(test)


def test_the_room_of_a_node_follows_its_ledger_at_once_and_then_once_in_three_seconds() -> None:
    async def test(stage: Stage) -> None:
        before = len(stage.server.writes("engine"))
        await stage.take(A10G, taken(1_200_000, allocatedSlices=1))
        await stage.wait(0.5)
        assert fit(stage) == {UNITS: "1200000", SHARES: "0"}, "a first change waits for nothing"
        for number in range(2, 12):
            await stage.take(A10G, taken(1_600_000 - number * 100_000, allocatedSlices=number))
            await stage.wait(0.2)
        assert fit(stage)[UNITS] == "1200000"
        await stage.wait(1)
        assert fit(stage)[UNITS] == "500000"
        await stage.wait(30)
        assert writes(stage, f"/nodes/{A10G}", before) == [f"/api/v1/nodes/{A10G}"] * 2
        assert writes(stage, f"/nodes/{A10G}/status", before) == [], "a card that is taken counts as before"

    played(test)


def test_what_is_counted_does_not_follow_the_room_and_goes_with_the_tokens() -> None:
    async def test(stage: Stage) -> None:
        await stage.kubelet(A10G, allocatable={"nvidia.com/gpu.sliced": "0"})
        await stage.wait()
        assert counted(stage) == COUNTED, "saturated is not gone"
        await stage.kubelet(A10G, capacity={"nvidia.com/gpu.sliced": "0"})
        await stage.wait()
        assert counted(stage) == {}
        assert stage.capacity(A10G)["nvidia.com/gpu.sliced"] == "0", "the tokens are the plugin's"
        await stage.kubelet(A10G, capacity={"nvidia.com/gpu.sliced": "128"})
        await stage.wait()
        assert counted(stage) == COUNTED
        await stage.kubelet(A10G, capacity={"nvidia.com/gpu.sliced": None})
        await stage.wait()
        assert counted(stage) == {}

    played(test)


def test_what_a_kubelet_wipes_when_it_starts_anew_is_written_again() -> None:
    async def test(stage: Stage) -> None:
        await stage.kubelet(A10G, capacity=dict.fromkeys(COUNTED))
        await stage.wait(1)
        assert counted(stage) == COUNTED

    played(test)


def test_a_node_out_of_management_loses_all_of_it_and_gets_it_back() -> None:
    async def test(stage: Stage) -> None:
        await stage.mark(A10G, "false")
        await stage.wait()
        assert (counted(stage), fit(stage)) == ({}, {})
        assert stage.server.get(DEVICES, A10G)["metadata"]["labels"]["gpustack.ai/managed"] == "false"
        assert counted(stage, "node-t4-b") != {}
        await stage.mark(A10G, "true")
        await stage.wait()
        assert (counted(stage), fit(stage)) == (COUNTED, {UNITS: "1600000", SHARES: "1"})
        assert stage.server.get(DEVICES, A10G)["metadata"]["labels"]["gpustack.ai/managed"] == "true"

    played(test)


def test_labels_that_somebody_edits_come_back_and_those_of_others_stay() -> None:
    async def test(stage: Stage) -> None:
        edited = {UNITS: "7", SHARES: None, "shared-free-cards.fit.gpustack.ai/old": "1", "mine": "x"}
        await stage.admin.merge_patch(NODES, A10G, {"metadata": {"labels": edited}}, manager="kubectl")
        general = {"general.feature.gpustack.ai/old": "true", "gpustack.ai/managed": None, "mine": "x"}
        await stage.admin.merge_patch(DEVICES, A10G, {"metadata": {"labels": general}}, manager="kubectl")
        await stage.wait()
        assert fit(stage) == {UNITS: "1600000", SHARES: "1"}
        assert stage.labels(A10G)["mine"] == "x"
        labels = stage.server.get(DEVICES, A10G)["metadata"]["labels"]
        assert (labels["gpustack.ai/managed"], labels["mine"]) == ("true", "x")
        assert "general.feature.gpustack.ai/old" not in labels

    played(test)


def test_a_node_that_is_gone_takes_its_devices_along_also_without_a_collector() -> None:
    async def test(stage: Stage) -> None:
        live = stage.server.get(DEVICES, A10G)
        orphan = {"metadata": {"ownerReferences": None}}
        await stage.admin.merge_patch(DEVICES, A10G, orphan, manager="device-manager")
        await stage.admin.delete(NODES, A10G)
        await stage.wait(4)
        assert stage.server.get(DEVICES, A10G)["metadata"]["uid"] == live["metadata"]["uid"]
        await stage.wait(4)
        assert stage.server.get(DEVICES, A10G) is None
        assert stage.server.get(DEVICES, "node-t4-b") is not None

    played(test)


def test_devices_that_came_without_a_node_go_and_those_whose_node_comes_in_time_stay() -> None:
    async def main() -> None:
        stage = Stage()
        (machine,) = [each for each in objects("walkthrough") if each.name == A10G]
        await stage.put_devices(machine.devices | {"metadata": {"name": "left-over"}})
        stage.start()
        await stage.put_devices(machine.devices | {"metadata": {"name": "early"}})
        await stage.wait(3)
        await stage.admin.create(NODES, NODES.body("early"), manager="kubelet")
        await stage.wait(30)
        assert stage.server.get(DEVICES, "left-over") is None
        assert stage.server.get(DEVICES, "early") is not None
        await stage.end()

    run(main())


def test_devices_that_cannot_be_believed_are_told_and_other_nodes_are_not_affected() -> None:
    async def test(stage: Stage) -> None:
        before = len(stage.server.writes("engine"))
        await stage.take(A10G, taken(99_000_000))
        await stage.wait()
        (event,) = stage.events("Unbelievable")
        assert (event["regarding"]["kind"], event["regarding"]["name"]) == ("Devices", A10G)
        assert f"card {CARD} of nvidia-a10g: remaining is 99000000, of at most 1600000" in event["note"]
        assert fit(stage) == {}
        assert counted(stage) == COUNTED
        spec = {"spec": {"groups": [{"id": "x" * 70, "manufacturer": "acme", "accelerators": [{"id": "c"}]}]}}
        await stage.admin.merge_patch(DEVICES, "node-t4-a", spec, manager="device-manager")
        await stage.wait()
        assert counted(stage, "node-t4-a") == {}
        (told,) = stage.events("NoPack")
        assert (told["regarding"]["name"], "no pack of that name is in force" in told["note"]) == ("node-t4-a", True)
        others = [each for each in writes(stage, "", before) if "node-t4-b" in each or "node-cpu" in each]
        assert others == []
        await stage.take(A10G, taken(1_600_000, 0))
        await stage.wait()
        assert fit(stage) == {UNITS: "1600000", SHARES: "1"}

    played(test)


def test_devices_that_cannot_be_read_are_told_and_leave_everything_as_it_was() -> None:
    async def test(stage: Stage) -> None:
        bad = {"spec": {"groups": [{"id": "a10g", "manufacturer": "nvidia", "cores": -1}]}}
        await stage.admin.merge_patch(DEVICES, A10G, bad, manager="device-manager")
        await stage.wait(0.5)
        (event,) = stage.events("Unreadable")
        assert event["regarding"]["name"] == A10G
        assert "the object cannot be read: Expected `int` >= 0 - at `$.spec.groups[0].cores`" in event["note"]
        await stage.kubelet(A10G, capacity={"nvidia.com/gpu.sliced.units": "7"})
        await stage.wait()
        assert (counted(stage), fit(stage)) == (COUNTED, {UNITS: "1600000", SHARES: "1"})
        await stage.stop()
        await stage.kubelet(A10G, capacity={"nvidia.com/gpu.sliced.units": "7"})
        stage.start("again")
        await stage.wait()
        assert fit(stage) == {UNITS: "1600000", SHARES: "1"}
        assert counted(stage) == COUNTED | {"nvidia.com/gpu.sliced.units": "7"}, "what was never read is not none"

    played(test)


def test_a_node_that_comes_is_written_three_times_and_none_of_the_writes_refuses_another() -> None:
    async def main() -> None:
        stage = Stage()
        stage.start()
        await stage.wait(30)
        await stage.play()
        await stage.wait(1)
        assert fit(stage) == {UNITS: "1600000", SHARES: "1"}
        await stage.wait(30)
        sent = [each for each in stage.server.seen if each.sender == "engine" and f"/nodes/{A10G}" in each.path]
        assert [(each.manager, each.code) for each in sent if each.method != "GET"] == [
            ("engine-node-features", 200),
            ("engine-node-capacity", 200),
            ("engine-node-fit", 200),
        ]
        assert [line for line in stage.lines if "lost a race" in line] == []
        await stage.end()

    run(main())


def test_a_capacity_that_cannot_be_written_does_not_hold_the_room_back() -> None:
    async def main() -> None:
        stage = Stage()
        stage.start()
        await stage.wait(30)
        stage.server.faults.storm = Storm(
            403,
            selects=lambda sent: sent.path.endswith(f"/nodes/{A10G}/status") and "gpu.sliced.units" in str(sent.body),
        )
        await stage.play()
        await stage.wait(1)
        await stage.take(A10G, taken(1_200_000, allocatedSlices=1))
        await stage.wait(10)
        assert counted(stage) == {}
        assert fit(stage) == {UNITS: "1200000", SHARES: "0"}
        stage.server.faults.storm = None
        await stage.wait(120)
        assert counted(stage) == COUNTED
        await stage.end()

    run(main())


def test_a_race_with_the_kubelet_is_planned_anew() -> None:
    async def test(stage: Stage) -> None:
        await stage.kubelet(A10G, capacity=dict.fromkeys(COUNTED))
        # In the same moment: the worker has seen the first of these and not yet the second.
        await stage.kubelet(A10G, capacity={"nvidia.com/gpu.sliced": None})
        await stage.wait()
        assert counted(stage) == {}

    played(test)
