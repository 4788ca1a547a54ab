"""Machines played as nodes: what a cluster sees of them."""

from __future__ import annotations

import time
from contextlib import suppress
from dataclasses import replace

import pytest

from tests.cluster.cluster import Cluster
from tests.cluster.layout import REPOSITORY
from tests.cluster.machines import Machinery, copies, machine_facts
from tests.cluster.played_pods import FINISH_AFTER
from tests.cluster.player import NodePlayer
from tests.e2e.waiting import condition, eventually

pytestmark = pytest.mark.e2e

WALKTHROUGH = REPOSITORY / "tests" / "machines" / "walkthrough"
FEATURES = "/apis/nfd.k8s-sigs.io/v1alpha1/namespaces/gpustack-system/nodefeatures"
LEASES = "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases"
PODS = "/api/v1/namespaces/default/pods"


def pod(name: str, resources: dict[str, str], **annotations: str) -> dict:
    container = {"name": "main", "image": "played", "resources": {"limits": resources}}
    spec = {"containers": [container], "restartPolicy": "Never", "terminationGracePeriodSeconds": 30}
    return {"metadata": {"name": name, "annotations": annotations}, "spec": spec}


def test_the_walkthroughs_machines_are_ready_with_tokens_features_and_a_lease(
    cluster: Cluster, player: NodePlayer, machinery: Machinery
) -> None:
    player.add([machinery.objects(each) for each in machine_facts([WALKTHROUGH])])
    api = cluster.api
    for name in ("node-a10g", "node-cpu", "node-t4-a", "node-t4-b"):
        found = api.get(f"/api/v1/nodes/{name}")
        assert condition(found, "Ready")["status"] == "True"
        assert api.get(f"{LEASES}/{name}")["metadata"]["ownerReferences"][0]["uid"] == found["metadata"]["uid"]
        eventually(
            lambda name=name: not api.get(f"/api/v1/nodes/{name}")["spec"].get("taints"), what="no taint is left"
        )
    four = api.get("/api/v1/nodes/node-t4-b")["status"]
    assert four["capacity"]["nvidia.com/gpu"] == "4"
    assert four["allocatable"]["nvidia.com/gpu.sliced"] == "512"
    assert "nvidia.com/gpu.sliced.units" not in four["capacity"], "counted amounts are the worker's"
    published = {each["metadata"]["name"] for each in api.get(FEATURES)["items"]}
    assert published == {
        *(f"node-{end}-gpustack-host" for end in ("a10g", "cpu", "t4-a", "t4-b")),
        *(f"node-{end}-gpustack-device-manager" for end in ("a10g", "t4-a", "t4-b")),
    }


def test_a_pod_runs_on_a_played_node_and_goes_when_it_is_deleted(
    cluster: Cluster, player: NodePlayer, machinery: Machinery
) -> None:
    player.add([machinery.objects(each) for each in machine_facts([WALKTHROUGH / "node-t4-a.yaml"])])
    api = cluster.api
    api.post(PODS, pod("whole", {"nvidia.com/gpu": "1"}))
    running = eventually(lambda: _in_phase(cluster, "whole", "Running"), what="the Pod runs")
    assert running["spec"]["nodeName"] == "node-t4-a"
    api.post(PODS, pod("one-too-many", {"nvidia.com/gpu": "1"}))
    api.post(PODS, pod("brief", {"cpu": "1"}, **{FINISH_AFTER: "0.2"}))
    eventually(lambda: _in_phase(cluster, "brief", "Succeeded"), what="the Pod ends by itself")
    assert api.get(f"{PODS}/one-too-many")["status"]["phase"] == "Pending"
    api.delete(f"{PODS}/whole")
    eventually(lambda: api.find(f"{PODS}/whole") is None, what="the Pod is gone at once")
    eventually(lambda: _in_phase(cluster, "one-too-many", "Running"), what="the next one has the card")
    for name in ("one-too-many", "brief"):
        api.delete(f"{PODS}/{name}")


def test_what_others_add_to_capacity_becomes_allocatable(
    cluster: Cluster, player: NodePlayer, machinery: Machinery
) -> None:
    player.add([machinery.objects(each) for each in machine_facts([WALKTHROUGH / "node-a10g.yaml"])])
    path = "/api/v1/nodes/node-a10g/status"
    cluster.api.patch(path, {"status": {"capacity": {"nvidia.com/gpu.sliced.units": "1600k"}}})
    name = "nvidia.com/gpu.sliced.units"
    eventually(lambda: cluster.api.get("/api/v1/nodes/node-a10g")["status"]["allocatable"].get(name) == "1600k")
    cluster.api.patch(path, {"status": {"capacity": {name: None}}})
    eventually(lambda: name not in cluster.api.get("/api/v1/nodes/node-a10g")["status"]["allocatable"])


def test_what_a_node_owns_goes_with_it(cluster: Cluster, player: NodePlayer, machinery: Machinery) -> None:
    player.add([machinery.objects(each) for each in machine_facts([WALKTHROUGH / "node-cpu.yaml"])])
    player.remove("node-cpu")
    eventually(lambda: cluster.api.find(f"{FEATURES}/node-cpu-gpustack-host") is None, what="its NodeFeature is gone")
    eventually(lambda: cluster.api.find(f"{LEASES}/node-cpu") is None, what="its lease is gone")


def test_unhealthy_cards_count_in_capacity_alone(machinery: Machinery) -> None:
    facts = machine_facts([WALKTHROUGH / "node-t4-b.yaml"])[0]
    library = facts.libraries[0]
    ill = replace(library, cards=(replace(library.cards[0], unhealthy=True), *library.cards[1:]))
    status = machinery.objects(replace(facts, libraries=(ill,))).node["status"]
    assert (status["capacity"]["nvidia.com/gpu"], status["allocatable"]["nvidia.com/gpu"]) == ("4", "3")


def test_copies_of_a_machine_share_no_card(machinery: Machinery) -> None:
    made = [machinery.objects(each) for each in copies(machine_facts([WALKTHROUGH / "node-t4-b.yaml"]), 3)]
    assert [each.name for each in made] == ["node-t4-b-0001", "node-t4-b-0002", "node-t4-b-0003"]
    assert (
        len({card["id"] for each in made for group in each.devices["spec"]["groups"] for card in group["accelerators"]})
        == 12
    )


@pytest.mark.faults
def test_a_silent_node_is_unknown_within_a_minute_and_ready_when_it_speaks(
    cluster: Cluster, player: NodePlayer, machinery: Machinery
) -> None:
    player.add([machinery.objects(each) for each in machine_facts([WALKTHROUGH / "node-cpu.yaml"])])
    player.silence("node-cpu")

    def ready() -> str:
        return condition(cluster.api.get("/api/v1/nodes/node-cpu"), "Ready")["status"]

    eventually(lambda: ready() == "Unknown", timeout_seconds=75, what="the node is Unknown")
    player.speak("node-cpu")
    eventually(lambda: ready() == "True", what="the node is Ready again")


@pytest.mark.faults
@pytest.mark.timeout(600)
def test_a_thousand_nodes_stay_ready(cluster: Cluster, machinery: Machinery) -> None:
    nodes = [machinery.objects(each) for each in copies(machine_facts([WALKTHROUGH]), 250)]
    with NodePlayer(cluster.api) as player:
        begun = time.monotonic()
        player.add(nodes)
        print(f"1,000 nodes after {time.monotonic() - begun:.1f} s")
        time.sleep(60)
        listed = cluster.api.get("/api/v1/nodes")["items"]
        mine = {each.name for each in nodes}
        states = [condition(each, "Ready")["status"] for each in listed if each["metadata"]["name"] in mine]
        assert len(states) == 1000
        assert set(states) == {"True"}
    while cluster.api.get("/api/v1/nodes", limit=1)["items"]:
        # On a busy machine one request does not live long enough for a thousand; what it has done stays done.
        with suppress(TimeoutError):
            cluster.api.delete("/api/v1/nodes")


def _in_phase(cluster: Cluster, name: str, phase: str) -> dict | None:
    found = cluster.api.find(f"{PODS}/{name}")
    return found if found and found["status"].get("phase") == phase else None
