"""Rules delivered to a worker process on the real control plane: taken over, held, approved, and there after a restart."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.cluster.cluster import Cluster
from tests.cluster.layout import REPOSITORY
from tests.cluster.machines import Machinery, machine_facts
from tests.cluster.player import NodePlayer
from tests.cluster.world import Process
from tests.e2e.tidying import tidy
from tests.e2e.waiting import eventually
from tests.unit.delivery.mounts import Kubelet, base, contents, version
from tests.unit.worker.test_rules_live import other_flavors

pytestmark = pytest.mark.e2e

WALKTHROUGH = REPOSITORY / "tests" / "machines" / "walkthrough"
FLAVORS = "/apis/kueue.x-k8s.io/v1beta2/resourceflavors"
PACKS = "/apis/worker.gpustack.ai/v1/rulepacks"
HEAD = "/api/v1/namespaces/gpustack-system/configmaps/engine-program"


def spawn(cluster: Cluster, name: str, mount: Path) -> Process:
    argv = [sys.executable, "-m", "engine", "worker", "--kubeconfig", cluster.kubeconfig, "--rules-dir", str(mount)]
    return cluster.spawn(name, [*argv, "--secure-port", "0"])


@pytest.fixture
def nodes(cluster: Cluster, machinery: Machinery) -> Iterator[NodePlayer]:
    tidy(cluster.api)
    with NodePlayer(cluster.api) as player:
        player.add([machinery.objects(each) for each in machine_facts([WALKTHROUGH])])
        yield player
        for name in player.names:
            player.remove(name)
    for each in cluster.world.processes():
        if each["name"].startswith("rules-") and each["state"] == "running":
            cluster.process(each["name"]).kill()
    # What it has published would be in force for whoever comes next.
    tidy(cluster.api)


def verdicts(cluster: Cluster) -> dict[str, str]:
    found = cluster.api.get(PACKS)["items"]
    return {each["metadata"]["name"]: each.get("status", {}).get("verdict", "") for each in found}


def head(cluster: Cluster) -> dict[str, Any]:
    found: dict[str, Any] = cluster.api.get(HEAD)["data"]
    return found


def flavors(cluster: Cluster) -> set[str]:
    return {each["metadata"]["name"] for each in cluster.api.get(FLAVORS)["items"]}


def test_a_delivery_is_taken_over_held_and_approved_and_outlives_the_process(
    cluster: Cluster, nodes: NodePlayer, tmp_path: Path
) -> None:
    assert nodes.names
    kubelet = Kubelet(tmp_path)
    kubelet.swap(contents("base"))
    worker = spawn(cluster, "rules-one", tmp_path)
    eventually(lambda: len(flavors(cluster)) == 7, 120, what="the seven flavors are there")
    eventually(lambda: set(verdicts(cluster).values()) == {"Loaded"}, 60, what="all packs are in force")
    first, old = head(cluster)["program"], flavors(cluster)
    kubelet.swap(version(base(), "1.1.0"))
    eventually(lambda: head(cluster)["program"] != first, 60, what="a newer pack is in force")
    served = head(cluster)["program"]
    kubelet.swap(contents("broken"))
    eventually(lambda: verdicts(cluster).get("manufacturer-nvidia") == "Failed", 60, what="a broken pack is refused")
    kubelet.swap(other_flavors())
    eventually(lambda: verdicts(cluster).get("derivation-flavor") == "Held", 60, what="a rename is held")
    waits = head(cluster)["waiting"]
    worker.stop()
    worker = spawn(cluster, "rules-two", tmp_path)
    eventually(lambda: "begins with rules" in worker.log.read_text("utf-8"), 60, what="the next process has rules")
    assert f"rules={served} origin=engine-program" in worker.log.read_text("utf-8")
    eventually(lambda: "rules held" in worker.log.read_text("utf-8"), 60, what="it holds them too")
    assert flavors(cluster) == old
    argv = ["-m", "engine", "rules", "approve", waits[:12], "--wait", "60", "--kubeconfig", cluster.kubeconfig]
    done = cluster.run([sys.executable, *map(str, argv)])
    assert "is in force" in done.stdout
    assert head(cluster)["program"] == waits
    new = {name.replace("gpustack--", "site--") for name in old}
    eventually(lambda: flavors(cluster) == new, 60, what="the flavors have their new names")
    assert set(verdicts(cluster).values()) == {"Loaded"}
    worker.stop()
