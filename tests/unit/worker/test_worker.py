"""The worker against the API server in memory: machines played as nodes become flavors, and what people change acts."""

from __future__ import annotations

import pytest

from engine.cluster.resources import NODE_FEATURES, NODES, RESOURCE_FLAVORS, TOPOLOGIES
from tests.fakes.virtual import run
from tests.golden.objects import read
from tests.unit.worker.stage import A10G, NAMESPACE, SEVEN, Stage, played

pytestmark = pytest.mark.living

TOPOLOGY = "gpustack-fnv64-87bf574bea2a4f23"


def test_the_machines_of_the_walkthrough_give_its_seven_flavors_as_planned_offline() -> None:
    async def test(stage: Stage) -> None:
        assert stage.flavors() == SEVEN
        assert stage.topologies() == [TOPOLOGY]
        for golden in read("resourceflavors.yaml"):
            live = stage.server.get(RESOURCE_FLAVORS, golden["metadata"]["name"])
            assert live["spec"] == golden["spec"]
            assert live["metadata"]["labels"] == golden["metadata"]["labels"]
            assert live["metadata"]["annotations"] == golden["metadata"]["annotations"]
        for golden in read("topologies.yaml"):
            assert stage.server.get(TOPOLOGIES, TOPOLOGY)["spec"] == golden["spec"]

    played(test)


def test_nodes_end_up_with_the_labels_and_objects_that_were_planned_offline() -> None:
    hosts = "feature.node.kubernetes.io/"

    async def test(stage: Stage) -> None:
        for golden in read("nodes.yaml"):
            name = golden["metadata"]["name"]
            found = {key: value for key, value in stage.labels(name).items() if not key.startswith(hosts)}
            assert found == golden["metadata"]["labels"]
        for golden in read("nodefeatures.yaml"):
            if golden["metadata"]["name"].endswith("-gpustack-worker"):
                live = stage.server.get(NODE_FEATURES, golden["metadata"]["name"], NAMESPACE)
                assert live["spec"] == golden["spec"]
                assert live["metadata"]["labels"] == golden["metadata"]["labels"]
                (owner,) = live["metadata"]["ownerReferences"]
                assert (owner["kind"], owner["controller"]) == ("Node", True)
                assert "blockOwnerDeletion" not in owner

    played(test)


def test_a_node_gets_its_features_in_one_write_and_at_rest_nothing_is_written() -> None:
    async def main() -> None:
        stage = Stage()
        await stage.play()
        stage.start()
        await stage.wait(30)
        nodes = [seen.path for seen in stage.server.writes("engine") if seen.manager == "engine-node-features"]
        assert sorted(nodes) == [f"/api/v1/nodes/node-{end}" for end in ("a10g", "cpu", "t4-a", "t4-b")]
        count = len(stage.server.writes("engine"))
        await stage.wait(600)
        assert len(stage.server.writes("engine")) == count
        await stage.stop()
        stage.start("again")
        await stage.wait(120)
        assert [seen for seen in stage.server.seen if seen.sender == "again" and seen.method != "GET"] == []
        await stage.end()

    run(main())


def test_taking_a_node_out_of_management_takes_its_two_flavors_away_and_back_brings_them_back() -> None:
    async def test(stage: Stage) -> None:
        await stage.mark("node-a10g", "false")
        await stage.wait(1)
        assert stage.flavors() == [name for name in SEVEN if name not in A10G], "a first change waits for nothing"
        assert stage.labels("node-a10g")["gpustack.ai/managed"] == "false"
        await stage.wait(600)
        assert stage.feature("node-a10g")["spec"]["labels"]["gpustack.ai/managed"] == "false"
        await stage.mark("node-a10g", "true")
        await stage.wait(5)
        assert stage.flavors() == SEVEN

    played(test)


def test_the_mark_of_an_object_is_not_written_over_from_a_node_that_changes_at_the_same_moment() -> None:
    async def test(stage: Stage) -> None:
        more = {"status": {"capacity": {"cpu": "6"}}}
        await stage.admin.merge_patch(NODES, "node-a10g", more, manager="kubelet", subresource="status")
        await stage.mark("node-a10g", "false")
        await stage.wait(5)
        labels = stage.feature("node-a10g")["spec"]["labels"]
        assert labels["gpustack.ai/managed"] == "false"
        assert labels["general.feature.gpustack.ai/amd-epyc-7r32.count"] == "6"

    played(test)


def test_a_node_labelled_by_hand_is_taken_out_as_well() -> None:
    async def test(stage: Stage) -> None:
        patch = {"metadata": {"labels": {"gpustack.ai/managed": "false"}}}
        await stage.admin.merge_patch(NODES, "node-a10g", patch, manager="kubectl")
        await stage.wait(5)
        assert stage.feature("node-a10g")["spec"]["labels"]["gpustack.ai/managed"] == "false"
        assert stage.flavors() == [name for name in SEVEN if name not in A10G]

    played(test)


def test_a_node_that_is_gone_takes_its_flavors_and_the_last_one_the_topology() -> None:
    async def test(stage: Stage) -> None:
        await stage.admin.delete(NODES, "node-a10g")
        await stage.wait()
        assert stage.flavors() == [name for name in SEVEN if name not in A10G]
        assert stage.topologies() == [TOPOLOGY]
        for end in ("cpu", "t4-a", "t4-b"):
            await stage.admin.delete(NODES, f"node-{end}")
        await stage.wait()
        assert (stage.flavors(), stage.topologies()) == ([], [])

    played(test)


def test_flavors_and_topologies_that_somebody_deletes_come_back() -> None:
    async def test(stage: Stage) -> None:
        await stage.admin.delete(RESOURCE_FLAVORS, SEVEN[0])
        await stage.admin.delete(TOPOLOGIES, TOPOLOGY)
        await stage.wait()
        assert (stage.flavors(), stage.topologies()) == (SEVEN, [TOPOLOGY])

    played(test)


def test_a_flavor_of_a_person_is_left_alone() -> None:
    async def test(stage: Stage) -> None:
        await stage.admin.create(RESOURCE_FLAVORS, RESOURCE_FLAVORS.body("mine", spec={}), manager="kubectl")
        await stage.wait(60)
        assert "mine" in stage.flavors()

    played(test)


def test_a_flavor_whose_spec_somebody_made_otherwise_is_told_and_not_written_over() -> None:
    async def test(stage: Stage) -> None:
        spec = {"spec": {"topologyName": "gpustack-other"}}
        await stage.admin.merge_patch(RESOURCE_FLAVORS, SEVEN[0], spec, manager="kubectl")
        await stage.wait()
        (event,) = stage.events("FlavorDrift")
        assert event["note"] == (
            f'managed ResourceFlavor "{SEVEN[0]}" has immutable topology drift; create fresh scheduling objects'
        )
        assert stage.server.get(RESOURCE_FLAVORS, SEVEN[0])["spec"]["topologyName"] == "gpustack-other"

    played(test)


def test_a_node_whose_host_says_nothing_is_marked_and_gets_the_keys_of_an_unknown_cpu_a_minute_later() -> None:
    async def main() -> None:
        stage = Stage()
        stage.start()
        labels = {"kubernetes.io/os": "linux", "kubernetes.io/arch": "amd64"}
        body = NODES.body("mute", metadata={"labels": labels}, status={"capacity": {"cpu": "8"}})
        await stage.admin.create(NODES, body, manager="kubelet")
        await stage.wait(30)
        assert stage.feature("mute")["spec"]["labels"] == {"gpustack.ai/managed": "true"}
        assert stage.flavors() == []
        await stage.wait(40)
        assert stage.flavors() == ["gpustack--generic-linux-amd64-8c"]
        await stage.end()

    run(main())


def test_without_kueue_nodes_get_their_labels_and_with_it_the_flavors_follow() -> None:
    async def main() -> None:
        stage = Stage()
        kinds = [stage.server.kind(str(each)) for each in (RESOURCE_FLAVORS, TOPOLOGIES)]
        for each in kinds:
            stage.server.stop_serving(each.resource)
        stage.start()
        await stage.play()
        await stage.wait(20)
        assert stage.labels("node-a10g")["general.feature.gpustack.ai/amd-epyc-7r32.count"] == "4"
        assert "topology.gpustack.ai/profile" not in stage.labels("node-a10g")
        told = [line for line in stage.lines if "resource=topologies" in line]
        assert len(told) == 1, "the same trouble is told once"
        for each in kinds:
            stage.server.serve(each)
        await stage.wait(20)
        assert stage.flavors() == SEVEN
        await stage.end()

    run(main())
