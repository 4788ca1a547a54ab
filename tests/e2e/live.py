"""A worker over the walkthrough's machines on a real control plane: what people would type, and what they would see.

No assertions here.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

from engine.worker.recording import read_recording
from tests.cluster.cluster import Cluster
from tests.cluster.layout import REPOSITORY
from tests.cluster.machines import Machinery, machine_facts
from tests.cluster.player import NodePlayer
from tests.cluster.rules import shipped_program
from tests.cluster.world import Process
from tests.e2e.tidying import tidy
from tests.e2e.waiting import eventually
from tests.offline import differences, planned

Object = dict[str, Any]
Row = tuple[str, ...]

WALKTHROUGH: Final = REPOSITORY / "tests" / "machines" / "walkthrough"
KUEUE: Final = "/apis/kueue.x-k8s.io/v1beta2"
WORKER: Final = "/apis/worker.gpustack.ai/v1"
FEATURES: Final = "/apis/nfd.k8s-sigs.io/v1alpha1/namespaces/gpustack-system/nodefeatures"
SECRET: Final = "/api/v1/namespaces/gpustack-system/secrets/gpustack-settings"
JOBS: Final = "/apis/batch/v1/namespaces/default/jobs"
WORKLOADS: Final = f"{KUEUE}/namespaces/default/workloads"

GENERIC: Final = "gpustack--generic-linux-amd64"
A10G: Final = "gpustack--nvidia-a10g-linux-amd64"
T4: Final = "gpustack--nvidia-tesla-t4-linux-amd64"
CUSTOM: Final = "a10g-12c128g"

CUSTOM_TYPE: Final[Object] = {
    "apiVersion": "worker.gpustack.ai/v1",
    "kind": "InstanceType",
    "metadata": {"name": CUSTOM},
    "spec": {
        "acceleratable": True,
        "acceleratorGroup": "nvidia-a10g",
        "os": "linux",
        "arch": "amd64",
        "unitResources": {"cpu": "12", "ram": "128Gi"},
        "localStorage": "200Gi",
    },
}


class Live:
    """The cluster, its player, and the worker as a process."""

    def __init__(self, cluster: Cluster, player: NodePlayer, worker: Process) -> None:
        self.cluster = cluster
        self.api = cluster.api
        self.player = player
        self.worker = worker

    def differences(self) -> list[str]:
        """Where the cluster differs from the plan of its recording, as `engine record` takes it."""
        argv = [sys.executable, "-m", "engine", "record", "--kubeconfig", str(self.cluster.kubeconfig)]
        done = self.cluster.run(argv)
        assert done.returncode == 0, done.stderr
        recorded = read_recording(done.stdout.splitlines(), "recording")
        return differences(recorded, planned(recorded, shipped_program()))

    def names(self, path: str) -> set[str]:
        return {each["metadata"]["name"] for each in self.api.get(path)["items"]}

    def types(self) -> dict[str, Row]:
        """Entrance hash, unit, EX, SH, SL, PT, CPU and phase of each type, as kubectl prints them."""
        rows = {}
        for line in self.cluster.kubectl("get", "instancetypes", "--no-headers", check=False).splitlines():
            name, *cells = re.split(r"\s+", line.strip())
            if len(cells) >= 8:
                rows[name] = (cells[0].removeprefix("gpustack-fnv64-"), *cells[1:8])
        return rows

    def catalogue(self) -> list[Row]:
        listed = self.cluster.kubectl("get", "instancetypeflavors", "--no-headers").splitlines()
        return [tuple(re.split(r"\s{2,}", line.strip())) for line in listed]

    def mark(self, value: str, node: str = "node-a10g") -> None:
        self.api.patch(f"{FEATURES}/{node}-gpustack-worker", {"spec": {"labels": {"gpustack.ai/managed": value}}})

    def set(self, **values: str) -> None:
        self.api.patch(SECRET, {"stringData": {key.replace("_", "-"): text for key, text in values.items()}})

    def inactive(self, name: str, *, value: bool) -> None:
        self.api.patch(f"{WORKER}/instancetypes/{name}", {"spec": {"inactive": value}})

    def policy(self, name: str) -> str:
        """The stop policy of a queue; empty when it is not there."""
        found = self.api.find(f"{KUEUE}/clusterqueues/{name}")
        return str(found["spec"].get("stopPolicy", "None")) if found else ""

    def submit(self, name: str, queue: str, **requests: str) -> None:
        """A Job of one Pod, through the entrance of a queue."""
        entrance = self.api.get(f"{WORKER}/instancetypes/{queue}")["status"]["entrance"]
        container = {"name": "main", "image": "none", "resources": {"requests": requests, "limits": requests}}
        template = {"spec": {"restartPolicy": "Never", "containers": [container]}}
        metadata = {"name": name, "labels": {"kueue.x-k8s.io/queue-name": entrance}}
        self.api.post(
            JOBS, {"apiVersion": "batch/v1", "kind": "Job", "metadata": metadata, "spec": {"template": template}}
        )

    def workload(self, job: str) -> Object | None:
        """The Workload of a Job."""
        for each in self.api.get(WORKLOADS)["items"]:
            if any(owner["name"] == job for owner in each["metadata"].get("ownerReferences", ())):
                found: Object = each
                return found
        return None

    def is_admitted(self, job: str) -> bool:
        return self._says(job, "Admitted")

    def check(self, job: str) -> Object:
        """What our check says of a Job's Workload."""
        listed = ((self.workload(job) or {}).get("status") or {}).get("admissionChecks") or [{}]
        found: Object = listed[0]
        return found

    def is_suspended(self, job: str) -> bool:
        return bool(self.api.get(f"{JOBS}/{job}")["spec"].get("suspend"))

    def finish(self, job: str) -> None:
        """The Job is taken away, with its Pods."""
        self.api.delete(f"{JOBS}/{job}", {"propagationPolicy": "Background"})
        eventually(lambda: self.workload(job) is None, 30, what="the Job's Workload is gone")

    def take_cards(self, node: str, mode: int, remaining: int) -> None:
        """The device manager publishes that every card of a node is used so."""
        path = f"{WORKER}/devices/{node}/status"
        status = self.api.get(f"{WORKER}/devices/{node}")["status"]
        for group in status["groups"]:
            for card in group["accelerators"]:
                card |= {"mode": mode, "remaining": remaining}
        self.api.patch(path, {"status": status})

    def _says(self, job: str, kind: str) -> bool:
        listed = ((self.workload(job) or {}).get("status") or {}).get("conditions") or ()
        return any(each["type"] == kind and each["status"] == "True" for each in listed)


@contextmanager
def walkthrough(cluster: Cluster, machinery: Machinery, *arguments: str) -> Iterator[Live]:
    """A worker over the four machines, in a tidy cluster; at the end they go, and with them what was made of them."""
    tidy(cluster.api)
    argv = [sys.executable, "-m", "engine", "worker", "--kubeconfig", str(cluster.kubeconfig), *arguments]
    process = cluster.spawn("engine-worker", argv)
    try:
        with NodePlayer(cluster.api) as player:
            player.add([machinery.objects(each) for each in machine_facts([WALKTHROUGH])])
            live = Live(cluster, player, process)
            yield live
            clean(live)
    finally:
        if process.is_running:
            process.kill()


def clean(live: Live) -> None:
    """Nodes, types and queues go; the worker ends last, for it lets go of what it holds."""
    for name in live.player.names:
        live.player.remove(name)
    if not live.worker.is_running:
        return
    eventually(lambda: not live.names(f"{KUEUE}/resourceflavors"), 60, what="the flavors go with their nodes")
    for name in live.names(f"{WORKER}/instancetypes"):
        live.api.delete(f"{WORKER}/instancetypes/{name}")
    eventually(lambda: not live.names(f"{WORKER}/instancetypes"), 60, what="the types go")
    eventually(lambda: not live.names(f"{KUEUE}/topologies"), 60, what="the topology goes with the last flavor")
    live.worker.stop()
