"""The worker on the real control plane: 1,000 played Nodes cold, one change, a restart, and what is written at rest.

`python -m tests.bench live` (`python -m tests.bench.bench_live 50` for 200); needs what `python -m tests.cluster` needs, with built binaries, and takes some three minutes.
Figures are beside the targets and fail nothing: the machine is shared by etcd, the API server, Kueue and the player.
"""

from __future__ import annotations

import json
import os
import re
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from datetime import datetime
from http.client import HTTPException
from pathlib import Path
from typing import Final, Self

from tests.cluster.api import Api, ApiError
from tests.cluster.cluster import Cluster
from tests.cluster.errors import MissingError
from tests.cluster.layout import REPOSITORY
from tests.cluster.machines import Machinery, copies, machine_facts
from tests.cluster.player import NodePlayer
from tests.cluster.world import Process

COPIES: Final = 250
SAMPLES: Final = 40
REST_SECONDS: Final = 20.0
QUIET_SECONDS: Final = 5.0
NODES: Final = "/api/v1/nodes"
FEATURES: Final = "/apis/nfd.k8s-sigs.io/v1alpha1/namespaces/gpustack-system/nodefeatures"
LABEL: Final = "bench.example/sample"
_WORKER: Final = "engine-worker"
_WRITTEN: Final = ("customresourcedefinitions", "events", "nodefeaturerules", "nodefeatures", "nodes", "resourceflavors",
                   "secrets", "topologies")  # fmt: skip
_TOTAL: Final = re.compile(r"^apiserver_request_total\{(.*)\} (\S+)$", re.MULTILINE)


def main(count: int = COPIES) -> None:
    """Prints the figures."""
    begun = time.monotonic()
    try:
        cluster = Cluster.start()
    except MissingError as error:
        print(f"live: left out: {error}")
        return
    with cluster:
        show("tests.cluster up, binaries cached", time.monotonic() - begun, "s", "<= 15")
        begun = time.monotonic()
        machinery = Machinery()
        facts = machine_facts([REPOSITORY / "tests" / "machines" / "walkthrough"])
        nodes = [machinery.objects(each) for each in copies(facts, count)]
        with NodePlayer(cluster.api) as player:
            player.add(nodes)
            show(f"{len(nodes):,} Nodes played (not ours)", time.monotonic() - begun, "s")
            measure(cluster, [each.name for each in nodes])


def measure(cluster: Cluster, names: list[str]) -> None:
    """All figures of the worker, in turn; each begins where the last one left the cluster."""
    api = cluster.api
    quiet(api)
    argv = [sys.executable, "-m", "engine", "worker", "--kubeconfig", str(cluster.kubeconfig), "--log-format", "json"]
    with Watch(api) as watch:
        worker = cluster.spawn(_WORKER, argv)
        led = leads(worker, 1)
        until(
            lambda: not any(labelled_not(api, key) for key in ("gpustack.ai/managed", "topology.gpustack.ai/profile"))
        )
        show(f"{len(names):,} Nodes cold, from leading", time.time() - led, "s", "<= 10")
        time.sleep(10)
        show("Node writes that changed labels", watch.relabelled, "", f"{len(names)}")
    peak, spent = process()
    show("its CPU time so far, start included", spent, "s")
    show("its peak memory", peak, "MiB")

    before = writes(api)
    time.sleep(REST_SECONDS)
    show(
        f"writes in {REST_SECONDS:.0f} s of rest, but the Lease", sum(difference(before, writes(api)).values()), "", "0"
    )

    with Watch(api) as watch:
        taken = sorted(watch.change(api, names[len(names) * at // SAMPLES], f"s{at}") for at in range(SAMPLES))
        show("one NodeFeature to its Node's label, p50", 1000 * taken[SAMPLES // 2], "ms", "<= 60")
        show("one NodeFeature to its Node's label, p99", 1000 * taken[-1], "ms", "<= 300")

        time.sleep(5)
        worker.stop()
        before = writes(api)
        began = time.time()
        worker.start_again()
        led = leads(worker, 2)
        # The queue is first in, first out: a change that is made now is served after every Node has been looked at.
        watch.change(api, names[-1], "restarted")
        show("a restart with nothing changed, from leading", time.time() - led, "s", "<= 3")
        show("the same from the start of its process", time.time() - began, "s")
        time.sleep(10)
        change = {"nodes": 1, "nodefeatures": 1}
        wrote = {name: count - change.get(name, 0) for name, count in difference(before, writes(api)).items()}
        show("writes after it", sum(wrote.values()), "", "0")
    worker.stop()


class Watch:
    """A Node watch that notes when a label was first seen, and counts changes of labels: nobody but the worker makes any.

    The controller-manager writes annotations onto Nodes as their number grows, so that writes alone say little.
    """

    def __init__(self, api: Api) -> None:
        self._api = api.another()
        self.relabelled = 0
        listed = self._api.get(NODES)
        self._version = listed["metadata"]["resourceVersion"]
        self._labels = {each["metadata"]["name"]: each["metadata"].get("labels", {}) for each in listed["items"]}
        self._seen: dict[tuple[str, str], float] = {}
        self._news = threading.Condition()
        self._thread = threading.Thread(target=self._run, name="node-watch", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        time.sleep(1)
        return self

    def __exit__(self, *_: object) -> None:
        self._api.close()
        self._thread.join(5)

    def change(self, api: Api, node: str, value: str) -> float:
        """Seconds from before a NodeFeature is changed until the Node's label is seen."""
        begun = time.monotonic()
        api.patch(f"{FEATURES}/{node}-gpustack-host", {"spec": {"labels": {LABEL: value}}})
        with self._news:
            if not self._news.wait_for(lambda: (node, value) in self._seen, 60):
                raise AssertionError(f"{node} did not get {LABEL}={value} within 60 s")
            return self._seen[node, value] - begun

    def _run(self) -> None:
        with suppress(OSError, HTTPException, ApiError, ValueError):
            for _, node in self._api.watch(NODES, resourceVersion=self._version):
                name, labels = node["metadata"]["name"], node["metadata"].get("labels", {})
                self.relabelled += labels != self._labels.get(name)
                self._labels[name] = labels
                value = labels.get(LABEL)
                if value:
                    with self._news:
                        self._seen.setdefault((name, value), time.monotonic())
                        self._news.notify_all()


def labelled_not(api: Api, key: str) -> bool:
    """Whether some Node lacks a label."""
    return bool(api.get(NODES, labelSelector=f"!{key}", limit=1)["items"])


def leads(worker: Process, count: int) -> float:
    """When the worker said for the so manieth time that it leads."""

    def said() -> list[float]:
        lines = [json.loads(line) for line in worker.log.read_text("utf-8").splitlines() if line.startswith("{")]
        return [datetime.fromisoformat(each["time"]).timestamp() for each in lines if each.get("event") == "leads"]

    until(lambda: len(said()) >= count)
    return said()[count - 1]


def until(is_so: Callable[[], bool], seconds: float = 120.0) -> None:
    """Waits for something. Raises: AssertionError: it took too long."""
    deadline = time.monotonic() + seconds
    while not is_so():
        if time.monotonic() > deadline:
            raise AssertionError(f"not so after {seconds:.0f} s")
        time.sleep(0.02)


def writes(api: Api) -> dict[str, float]:
    """Writes that the API server has counted, of what only the worker writes at rest; status and Leases are left out."""
    found = dict.fromkeys(_WRITTEN, 0.0)
    for labels, value in _TOTAL.findall(api.text("/metrics")):
        told = dict(re.findall(r'(\w+)="([^"]*)"', labels))
        is_write = told["verb"] in ("APPLY", "DELETE", "PATCH", "POST", "PUT") and told["code"].startswith("2")
        if is_write and told["resource"] in found and not told["subresource"]:
            found[told["resource"]] += float(value)
    return found


def difference(before: dict[str, float], after: dict[str, float]) -> dict[str, float]:
    """What was written in between."""
    return {name: after[name] - before[name] for name in after}


def quiet(api: Api) -> None:
    """Waits until the controller-manager is done with taints and Events of new Nodes: its writes are no Engine's."""
    last, since = writes(api), time.monotonic()
    while time.monotonic() - since < QUIET_SECONDS:
        time.sleep(1)
        now = writes(api)
        if now != last:
            last, since = now, time.monotonic()


def process() -> tuple[float, float]:
    """Peak resident memory in MiB and seconds of CPU time of the worker's process; zeros where it cannot be seen."""
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if b"engine\0worker\0--kubeconfig" in (folder / "cmdline").read_bytes():
                (peak,) = re.findall(r"VmHWM:\s+(\d+) kB", (folder / "status").read_text("utf-8"))
                spent = (folder / "stat").read_text("utf-8").rpartition(") ")[2].split()[11:13]
                return int(peak) / 1024, sum(map(int, spent)) / os.sysconf("SC_CLK_TCK")
    return 0.0, 0.0


def show(what: str, figure: float, unit: str, target: str = "") -> None:
    """One line."""
    text = f"{figure:.0f}" if unit in ("", "ms", "MiB") else f"{figure:.1f}"
    print(f"live: {what:<52} {text:>7} {unit:<4}{f'(target {target})' if target else ''}".rstrip(), flush=True)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
