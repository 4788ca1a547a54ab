"""The worker as a process against the real control plane: machines to flavors, and what people and accidents change."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator

import pytest

from tests.cluster.cluster import Cluster
from tests.cluster.layout import REPOSITORY
from tests.cluster.machines import Machinery, machine_facts
from tests.cluster.player import NodePlayer
from tests.cluster.world import Process
from tests.e2e.tidying import tidy
from tests.e2e.waiting import eventually
from tests.golden.objects import read

pytestmark = pytest.mark.e2e

WALKTHROUGH = REPOSITORY / "tests" / "machines" / "walkthrough"
FLAVORS = "/apis/kueue.x-k8s.io/v1beta2/resourceflavors"
TOPOLOGIES = "/apis/kueue.x-k8s.io/v1beta2/topologies"
FEATURES = "/apis/nfd.k8s-sigs.io/v1alpha1/namespaces/gpustack-system/nodefeatures"
CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
SECRET = "/api/v1/namespaces/gpustack-system/secrets/gpustack-settings"
LEASE = "/apis/coordination.k8s.io/v1/namespaces/gpustack-system/leases/worker.gpustack.ai"

SEVEN = {each["metadata"]["name"] for each in read("resourceflavors.yaml")}
A10G = {name for name in SEVEN if "7r32" in name}


@pytest.fixture(scope="module")
def worker(cluster: Cluster, machinery: Machinery) -> Iterator[Process]:
    """A worker over the walkthrough's machines; at the end the machines go, and with them what was made of them."""
    tidy(cluster.api)
    argv = [sys.executable, "-m", "engine", "worker", "--kubeconfig", cluster.kubeconfig]
    process = cluster.spawn("engine-worker", argv)
    with NodePlayer(cluster.api) as player:
        player.add([machinery.objects(each) for each in machine_facts([WALKTHROUGH])])
        eventually(lambda: flavors(cluster) == SEVEN, 60, what="the seven flavors are there")
        yield process
        for name in player.names:
            player.remove(name)
        if process.is_running:
            eventually(lambda: not flavors(cluster), 30, what="the flavors go with their nodes")
            eventually(lambda: not names(cluster, TOPOLOGIES), 30, what="the topology goes with the last flavor")
            process.stop()


def names(cluster: Cluster, path: str) -> set[str]:
    return {each["metadata"]["name"] for each in cluster.api.get(path)["items"]}


def flavors(cluster: Cluster) -> set[str]:
    return names(cluster, FLAVORS)


def mark(cluster: Cluster, value: str) -> None:
    patch = {"spec": {"labels": {"gpustack.ai/managed": value}}}
    cluster.api.patch(f"{FEATURES}/node-a10g-gpustack-worker", patch)


def test_the_flavors_are_those_that_were_planned_offline(cluster: Cluster, worker: Process) -> None:
    for golden in read("resourceflavors.yaml"):
        live = cluster.api.get(f"{FLAVORS}/{golden['metadata']['name']}")
        assert live["spec"] == golden["spec"]
        assert live["metadata"]["labels"] == golden["metadata"]["labels"]
        assert golden["metadata"]["annotations"].items() <= live["metadata"]["annotations"].items()
    for golden in read("topologies.yaml"):
        assert cluster.api.get(f"{TOPOLOGIES}/{golden['metadata']['name']}")["spec"] == golden["spec"]


def test_an_unmanaged_node_takes_its_two_flavors_along_and_brings_them_back(cluster: Cluster, worker: Process) -> None:
    mark(cluster, "false")
    eventually(lambda: flavors(cluster) == SEVEN - A10G, what="two flavors are gone")
    assert cluster.api.get("/api/v1/nodes/node-a10g")["metadata"]["labels"]["gpustack.ai/managed"] == "false"
    mark(cluster, "true")
    eventually(lambda: flavors(cluster) == SEVEN, what="they are back")


def test_a_definition_that_is_deleted_comes_back_and_is_served(cluster: Cluster, worker: Process) -> None:
    path = f"{CRDS}/instancetypeflavors.worker.gpustack.ai"
    before = cluster.api.get(path)["metadata"]["uid"]
    cluster.api.delete(path)
    eventually(lambda: (cluster.api.find(path) or {"metadata": {"uid": before}})["metadata"]["uid"] != before)
    cluster.wait_served("worker.gpustack.ai/v1", "instancetypeflavors")


def test_a_setting_acts_without_a_restart(cluster: Cluster, worker: Process) -> None:
    def note() -> str | None:
        (name,) = (each for each in A10G if each.endswith("1d"))
        return cluster.api.get(f"{FLAVORS}/{name}")["metadata"]["annotations"].get("note.gpustack.ai/cpuDetail")

    cluster.api.patch(SECRET, {"stringData": {"instance-type-aware-cpu-manufacturer": "true", "unheard-of": "1"}})
    assert "AMD EPYC 7R32" in str(json.loads(eventually(note, what="the flavor tells of the CPU"))["product"])
    cluster.api.patch(SECRET, {"stringData": {"instance-type-aware-cpu-manufacturer": "false"}})
    eventually(lambda: note() is None, what="it no longer does")
    assert "unheard-of" in cluster.api.get(SECRET)["data"]
    cluster.api.patch(SECRET, {"data": {"unheard-of": None}})


def test_it_stops_when_told_gives_the_lease_up_and_writes_nothing_when_it_comes_back(
    cluster: Cluster, worker: Process
) -> None:
    assert cluster.api.get(LEASE)["spec"]["holderIdentity"]
    assert worker.stop() == 0
    assert not cluster.api.get(LEASE)["spec"].get("holderIdentity")
    paths = [f"{FLAVORS}/{name}" for name in SEVEN] + [f"{FEATURES}/{each}" for each in names(cluster, FEATURES)]
    before = {path: cluster.api.get(path)["metadata"]["resourceVersion"] for path in paths}
    worker.start_again()
    eventually(lambda: cluster.api.get(LEASE)["spec"].get("holderIdentity"), 40, what="it leads again")
    mark(cluster, "false")
    eventually(lambda: flavors(cluster) == SEVEN - A10G, what="it works again")
    mark(cluster, "true")
    eventually(lambda: flavors(cluster) == SEVEN, what="it works again")
    kept = [path for path in paths if "7r32" not in path and "a10g" not in path]
    assert {path: cluster.api.get(path)["metadata"]["resourceVersion"] for path in kept} == {
        path: before[path] for path in kept
    }
