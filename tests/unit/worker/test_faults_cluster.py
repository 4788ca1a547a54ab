"""What people and other programs do to a cluster under a worker: definitions and queues deleted, nodes that flap or change
their name, a Kueue that comes late. All is as before in the end, and nobody was evicted but where a person asked for it.
"""

from __future__ import annotations

import copy

import pytest

from engine.cluster.resources import (
    ADMISSION_CHECKS,
    CLUSTER_QUEUES,
    CRDS,
    DEVICES,
    INSTANCE_TYPE_FLAVORS,
    INSTANCE_TYPES,
    LOCAL_QUEUES,
    NODE_FEATURES,
    NODES,
    RESOURCE_FLAVORS,
    TOPOLOGIES,
    WORKLOADS,
    Resource,
)
from tests.fakes import verbs
from tests.unit.worker.faults_stage import ADMITTED, FaultStage, from_the_start, on, settled, survives
from tests.unit.worker.photos import Photo, assert_same, differences
from tests.unit.worker.queues_stage import A10G, GENERIC, T4
from tests.unit.worker.stage import NAMESPACE, objects

pytestmark = pytest.mark.living

KUEUES = (TOPOLOGIES, RESOURCE_FLAVORS, CLUSTER_QUEUES, LOCAL_QUEUES, ADMISSION_CHECKS, WORKLOADS)
OURS = (INSTANCE_TYPES, INSTANCE_TYPE_FLAVORS, DEVICES)


@pytest.mark.parametrize("resource", OURS, ids=str)
def test_a_definition_that_is_deleted_comes_back_and_with_it_what_was_of_its_kind(resource: Resource[object]) -> None:
    async def happens(stage: FaultStage) -> None:
        kind = stage.server.kind(str(resource))
        await stage.admin.delete(CRDS, str(resource))
        stage.server.stop_serving(resource)
        await stage.wait(3)
        assert str(resource) in stage.crds()
        stage.server.serve(kind)
        if resource is DEVICES:
            # The device managers bring theirs, as they do whenever an object is absent.
            await stage.wait(3)
            for each in objects("walkthrough"):
                if each.devices is not None:
                    uid = stage.server.get(NODES, each.name)["metadata"]["uid"]
                    owner = [{"apiVersion": "v1", "kind": "Node", "name": each.name, "uid": uid}]
                    await stage.put_devices(
                        each.devices | {"metadata": each.devices["metadata"] | {"ownerReferences": owner}}
                    )

    survives(happens)


@pytest.mark.parametrize("queue", [A10G, GENERIC])
def test_a_queue_that_an_admin_deletes_drains_and_comes_back_open_with_its_workload(queue: str) -> None:
    """Whoever deletes a queue evicts: Kueue lets go of it after the last Workload only. The others notice nothing."""

    async def main(stage: FaultStage) -> None:
        stage.start()
        await stage.wait(5)
        await stage.admin.delete(CLUSTER_QUEUES, queue)
        await stage.wait(120)
        assert _unlike(stage) == []
        assert stage.admitted() == list(ADMITTED)
        assert stage.evictions() == [{A10G: "on-a10g", GENERIC: "on-cpu"}[queue]]
        assert await stage.at_rest() == []

    on(settled(), main)


def test_idle_queues_flavors_topologies_and_entrances_that_an_admin_deletes_come_back_as_they_were() -> None:
    async def main(stage: FaultStage) -> None:
        stage.start()
        await stage.wait(20)
        before = Photo.of(stage.server)
        for resource in (CLUSTER_QUEUES, RESOURCE_FLAVORS, TOPOLOGIES, LOCAL_QUEUES):
            for space, name in sorted(before.objects[str(resource)]):
                await stage.admin.delete(resource, name, space)
            await stage.wait(60)
            assert_same(before, Photo.of(stage.server))
        assert await stage.at_rest() == []

    from_the_start(main)


def test_entrances_that_an_admin_deletes_come_back_and_evict_nobody() -> None:
    async def happens(stage: FaultStage) -> None:
        for space, name in sorted(settled().objects[str(LOCAL_QUEUES)]):
            await stage.admin.delete(LOCAL_QUEUES, name, space)
        await stage.wait(1)

    survives(happens)


def test_a_node_that_flaps_fifty_times_is_written_no_more_than_its_changes_and_evicts_nobody_elsewhere() -> None:
    """NotReady and Ready again, with what a kubelet writes each time: nothing of it is the worker's business."""

    async def happens(stage: FaultStage) -> None:
        count = len(stage.writes_of_workers())
        for number in range(50):
            for status in ("False", "True"):
                ready = {"type": "Ready", "status": status, "lastHeartbeatTime": f"beat-{number}"}
                patch = {"status": {"conditions": [ready]}}
                await stage.admin.merge_patch(NODES, "node-t4-b", patch, manager="kubelet", subresource="status")
                await stage.wait(0.5)
        assert stage.writes_of_workers()[count:] == []
        body = stage.server.get(NODES, "node-t4-b")
        was = settled().objects["nodes"][("", "node-t4-b")]["status"].get("conditions")
        patch = {"status": {"conditions": was}}
        verbs.merge_patch(
            stage.server, stage.server.kind("nodes"), ("", body["metadata"]["name"]), patch, "kubelet", "status"
        )

    survives(happens)


def test_a_plugin_whose_tokens_come_and_go_fifty_times_evicts_nobody() -> None:
    """A device plugin in a crash loop: its tokens leave the capacity and come back, and the counted keys with them."""

    async def happens(stage: FaultStage) -> None:
        count = len(stage.writes_of_workers())
        own = {key: text for key, text in stage.capacity("node-t4-b").items() if key.startswith("nvidia.com/gpu")}
        for _ in range(50):
            await stage.kubelet("node-t4-b", capacity=dict.fromkeys(own))
            await stage.wait(0.5)
            await stage.kubelet("node-t4-b", capacity=own)
            await stage.wait(0.5)
        assert len(stage.writes_of_workers()) - count <= 100

    survives(happens)


def test_an_idle_node_that_leaves_and_comes_back_fifty_times_costs_its_own_pools_alone() -> None:
    """Deleted and registered anew, as by an autoscaler: node-cpu has no Workload."""

    async def happens(stage: FaultStage) -> None:
        before = Photo.of(stage.server)
        for _ in range(50):
            await stage.admin.delete(NODES, "node-cpu")
            await stage.wait(0.7)
            await _play(stage, "node-cpu")
            await stage.wait(0.7)
        assert stage.policy(T4) == stage.policy(A10G) == "None"
        untouched = (f"clusterqueues.kueue.x-k8s.io /{T4}", f"clusterqueues.kueue.x-k8s.io /{A10G}")
        assert not [each for each in differences(before, Photo.of(stage.server)) if each.startswith(untouched)]

    survives(happens, seconds=120)


def test_a_node_that_is_replaced_by_one_of_another_name_leaves_nothing_behind() -> None:
    async def main(stage: FaultStage) -> None:
        stage.start()
        await stage.wait(5)
        await stage.admin.delete(NODES, "node-t4-b")
        await stage.wait(1)
        await _play(stage, "node-t4-b", "node-t4-c")
        await stage.wait(60)
        renamed = [each for each in _unlike(stage) if "node-t4-b" not in each and "node-t4-c" not in each]
        assert renamed == []
        kinds = {str(resource) for resource in (NODES, NODE_FEATURES, DEVICES)}
        gone = [each for each in _unlike(stage) if "node-t4-b" in each and each.endswith("is gone")]
        assert {each.split()[0] for each in gone} == kinds
        assert stage.labels("node-t4-c") == settled().objects["nodes"][("", "node-t4-b")]["metadata"]["labels"] | {
            "kubernetes.io/hostname": "node-t4-c"
        }
        assert stage.capacity("node-t4-c") == settled().objects["nodes"][("", "node-t4-b")]["status"]["capacity"]
        assert (stage.evictions(), stage.admitted()) == ([], list(ADMITTED))
        assert await stage.at_rest() == []

    on(settled(), main)


@pytest.mark.parametrize("order", ["all-at-once", "one-by-one", "backwards"])
def test_with_a_kueue_that_comes_later_all_is_as_with_one_that_was_there(order: str) -> None:
    async def main(stage: FaultStage) -> None:
        kinds = [stage.server.kind(str(each)) for each in KUEUES]
        for each in kinds:
            stage.server.stop_serving(each.resource)
        stage.start()
        await stage.wait(120)
        assert [each for each in stage.writes_of_workers() if "kueue" in each] == []
        for each in reversed(kinds) if order == "backwards" else kinds:
            stage.server.serve(each)
            await stage.wait(0 if order == "all-at-once" else 10)
        await stage.wait(90)
        await stage.admit_all()
        await stage.wait(20)
        assert _unlike(stage) == []
        assert await stage.at_rest() == []

    from_the_start(main)


def _unlike(stage: FaultStage) -> list[str]:
    """Where the cluster differs from the one at rest, Workloads left out: they tell of their evictions for ever."""
    found = differences(settled(), Photo.of(stage.server))
    return [each for each in found if not each.startswith(str(WORKLOADS))]


async def _play(stage: FaultStage, name: str, as_name: str = "") -> None:
    """A machine of the walkthrough comes up, under its own name or another."""
    as_name = as_name or name
    played = next(each for each in objects("walkthrough") if each.name == name)
    node = copy.deepcopy(played.node)
    node["metadata"]["name"] = node["metadata"]["labels"]["kubernetes.io/hostname"] = as_name
    made = await stage.admin.create(NODES, node, manager="kubelet")
    owner = [{"apiVersion": "v1", "kind": "Node", "name": as_name, "uid": made.metadata.uid}]
    for feature in played.features:
        metadata = copy.deepcopy(feature["metadata"]) | {"ownerReferences": owner, "namespace": NAMESPACE}
        metadata["name"] = metadata["name"].replace(name, as_name)
        metadata["labels"] = {key: text.replace(name, as_name) for key, text in metadata["labels"].items()}
        await stage.admin.create(NODE_FEATURES, feature | {"metadata": metadata}, manager="agent")
    if played.devices is not None:
        metadata = copy.deepcopy(played.devices["metadata"]) | {"ownerReferences": owner, "name": as_name}
        await stage.put_devices(played.devices | {"metadata": metadata})
