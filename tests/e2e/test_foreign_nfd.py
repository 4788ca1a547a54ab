"""A real NFD beside the worker on the real control plane, played by a script that writes as its master does."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime
from http.client import HTTPException
from typing import Any

import pytest

from tests.cluster.api import ApiError
from tests.cluster.cluster import Cluster
from tests.cluster.machines import Machinery, machine_facts
from tests.cluster.player import NodePlayer
from tests.cluster.world import Process
from tests.e2e.test_thin_slice import FEATURES, WALKTHROUGH, flavors
from tests.e2e.waiting import eventually
from tests.fakes.foreign_nfd import CPU_NAME, LABELS, LEASE, MANAGER, nfd_patch

pytestmark = pytest.mark.e2e

LEASES = "/apis/coordination.k8s.io/v1/namespaces/default/leases"
NAMES = ("node-a10g", "node-cpu")
WORKER = "engine-worker-beside-nfd"


class Nfd:
    """The master: a Lease, and writes. Every `turn` it renews and looks at all Nodes."""

    def __init__(self, cluster: Cluster) -> None:
        self._api = cluster.api
        if self._api.find(f"{LEASES}/{LEASE}") is None:
            self._api.post(LEASES, {"metadata": {"name": LEASE}, "spec": {"holderIdentity": "played"}})

    def turn(self) -> None:
        renewed = datetime.now(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")
        self._api.patch(f"{LEASES}/{LEASE}", {"spec": {"renewTime": renewed}})
        features = self._api.get(FEATURES)["items"]
        for name in NAMES:
            mine = [each for each in features if each["metadata"]["labels"].get(f"{MARK}/node-name") == name]
            patch = nfd_patch(self._api.get(f"/api/v1/nodes/{name}"), mine)
            if patch is not None:
                self._api.patch(f"/api/v1/nodes/{name}", patch, fieldManager=MANAGER)


MARK = "nfd.node.kubernetes.io"


class NodeWatch:
    """A Node watch of its own: which labels vanished or became others, in any event."""

    def __init__(self, cluster: Cluster) -> None:
        self.lost: list[str] = []
        self._api = cluster.api.another()
        listed = self._api.get("/api/v1/nodes")
        self._seen = {each["metadata"]["name"]: each["metadata"]["labels"] for each in listed["items"]}
        self._thread = threading.Thread(
            target=self._run, args=(listed["metadata"]["resourceVersion"],), name="node-watch", daemon=True
        )
        self._thread.start()

    def end(self) -> None:
        self._api.close()
        self._thread.join(5)

    def _run(self, version: str) -> None:
        with suppress(OSError, HTTPException, ApiError, ValueError):
            for kind, node in self._api.watch("/api/v1/nodes", resourceVersion=version):
                name, now = node["metadata"]["name"], node["metadata"].get("labels", {})
                if kind == "MODIFIED":
                    before = self._seen.get(name, {})
                    self.lost += [f"{name} {key}: {before[key]} -> {now.get(key)}" for key in before
                                  if now.get(key) != before[key]]  # fmt: skip
                self._seen[name] = now


@pytest.fixture
def worker(cluster: Cluster, machinery: Machinery, request: pytest.FixtureRequest) -> Iterator[Process]:
    """A worker at rest over two machines, with a log of its own."""
    name = f"{WORKER}-{request.node.callspec.id.lower()}"
    process = cluster.spawn(name, [sys.executable, "-m", "engine", "worker", "--kubeconfig", cluster.kubeconfig])
    with NodePlayer(cluster.api) as player:
        player.add(
            [machinery.objects(each) for each in machine_facts([WALKTHROUGH / f"{name}.yaml" for name in NAMES])]
        )
        eventually(lambda: len(flavors(cluster)) == 3, 60, what="the flavors are there")
        yield process
        for name in NAMES:
            player.remove(name)
        eventually(lambda: not flavors(cluster), 30, what="the flavors go with their nodes")
    process.stop()
    cluster.api.delete(f"{LEASES}/{LEASE}")


def metadata(cluster: Cluster, name: str) -> dict[str, Any]:
    found: dict[str, Any] = cluster.api.get(f"/api/v1/nodes/{name}")["metadata"]
    return found


def own_writes(cluster: Cluster) -> dict[str, str]:
    """When the worker last put features onto each Node; what it counts of cards is no NFD's business."""
    entries = {name: metadata(cluster, name)["managedFields"] for name in NAMES}
    return {
        name: max(each["time"] for each in listed if each["manager"] == "engine-node-features")
        for name, listed in entries.items()
    }


@pytest.mark.parametrize(
    "is_waited_for", [False, pytest.param(True, marks=[pytest.mark.faults, pytest.mark.timeout(300)])]
)
def test_an_nfd_that_comes_is_not_fought_and_loses_no_label(
    cluster: Cluster, worker: Process, *, is_waited_for: bool
) -> None:
    watch = NodeWatch(cluster)
    before = own_writes(cluster)
    nfd = Nfd(cluster)
    nfd.turn()
    eventually(lambda: "reason=ForeignNFD" in cluster.log(worker.name, 200), what="the worker has seen it")
    nfd.turn()
    patch = {"spec": {"labels": {"gpustack.ai/managed": "false"}}}
    cluster.api.patch(f"{FEATURES}/node-a10g-gpustack-worker", patch)
    nfd.turn()
    assert metadata(cluster, "node-a10g")["labels"]["gpustack.ai/managed"] == "false", "the NFD serves the switch"
    eventually(lambda: len(flavors(cluster)) == 1, what="flavors follow what the NFD writes")
    told = metadata(cluster, "node-cpu")["annotations"]
    assert LABELS in told
    assert told[CPU_NAME].startswith("@")
    assert own_writes(cluster) == before, "the worker wrote no Node"
    if is_waited_for:
        eventually(lambda: LABELS not in metadata(cluster, "node-cpu")["annotations"], 90, what="it is taken over")
        eventually(lambda: LABELS not in metadata(cluster, "node-a10g")["annotations"], what="and so is the other")
        assert metadata(cluster, "node-cpu")["annotations"][CPU_NAME] == "AMD EPYC 7R13 Processor"
    watch.end()
    # A node out of management tells of no room, by the worker's own will.
    lost = [each for each in watch.lost if ".fit.gpustack.ai/" not in each]
    assert lost == ["node-a10g gpustack.ai/managed: true -> false"]
