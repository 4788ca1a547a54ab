"""What `bench_live` sees of a cluster: labels as they appear on Nodes, and what a worker says that it did.

Writes nothing but what `Watch.change` is asked to.
"""

from __future__ import annotations

import http.client
import os
import re
import threading
import time
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final, NamedTuple, Self

from tests.cluster.api import Api, ApiError
from tests.cluster.cluster import Cluster

NODES: Final = "/api/v1/nodes"
FEATURES: Final = "/apis/nfd.k8s-sigs.io/v1alpha1/namespaces/gpustack-system/nodefeatures"
LABEL: Final = "bench.example/sample"
METRICS_PORT: Final = 31443
_WRITES: Final = ("apply", "create", "delete", "patch", "update")
_SAMPLE: Final = re.compile(r"^(\w+)(?:\{(.*)\})? (\S+)$", re.MULTILINE)


class Call(NamedTuple):
    """A kind of request that a worker makes."""

    verb: str
    resource: str
    code: str


@dataclass(frozen=True, slots=True)
class Did:
    """What a worker's process has done since it began. Shape: `passes` by controller and result."""

    calls: Counter[Call]
    passes: Counter[tuple[str, str]]
    cpu_seconds: float
    peak_mib: float

    def since(self, before: Did) -> Did:
        """What was done after `before`."""
        return Did(
            self.calls - before.calls,
            self.passes - before.passes,
            self.cpu_seconds - before.cpu_seconds,
            self.peak_mib,
        )

    def writes(self, *resources: str) -> Counter[Call]:
        """What was written, and what was refused because somebody else was quicker; the Lease is left out."""
        return Counter(
            {
                call: count
                for call, count in self.calls.items()
                if call.verb in _WRITES and not call.resource.startswith("leases") and call.code[0] in "24"
                if not resources or call.resource in resources
            }
        )


def did(cluster: Cluster) -> Did:
    """From the worker's metrics, and from what the system says of its process."""
    with cluster.entered():
        connection = http.client.HTTPConnection("127.0.0.1", METRICS_PORT, timeout=10)
        connection.request("GET", "/metrics")
        text = connection.getresponse().read().decode()
        connection.close()
    calls: Counter[Call] = Counter()
    passes: Counter[tuple[str, str]] = Counter()
    cpu_seconds = 0.0
    for name, labels, value in _SAMPLE.findall(text):
        told = dict(re.findall(r'(\w+)="([^"]*)"', labels))
        if name == "engine_api_requests_total":
            calls[Call(told["verb"], told["resource"], told["code"])] += int(float(value))
        elif name == "engine_reconcile_total":
            passes[told["controller"], told["result"]] += int(float(value))
        elif name == "process_cpu_seconds_total":
            cpu_seconds = float(value)
    return Did(calls, passes, cpu_seconds, _peak_mib(cluster))


def cpu_seconds(cluster: Cluster) -> dict[str, float]:
    """Seconds of processor time of each component so far, by name."""
    found: dict[str, float] = {}
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            command = (folder / "cmdline").read_bytes()
            name = Path(command.split(b"\0")[0].decode()).name
            if str(cluster.folder.path).encode() in command and not name.startswith(("python", "unshare")):
                spent = (folder / "stat").read_text("utf-8").rpartition(") ")[2].split()[11:13]
                found[name] = sum(map(int, spent)) / os.sysconf("SC_CLK_TCK")
    return found


def _peak_mib(cluster: Cluster) -> float:
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            command = (folder / "cmdline").read_bytes()
            if b"engine\0worker\0" in command and str(cluster.folder.path).encode() in command:
                (peak,) = re.findall(r"VmHWM:\s+(\d+) kB", (folder / "status").read_text("utf-8"))
                return int(peak) / 1024
    return 0.0


class Watch:
    """A Node watch that notes when a label was first seen, and counts changes of labels: nobody but the worker makes any.

    The controller-manager writes annotations onto Nodes as their number grows, so that writes alone say little.
    """

    def __init__(self, api: Api) -> None:
        self._api = api.another()
        self.relabelled = 0
        self._last = time.time()
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

    def wait_labelled(self, keys: tuple[str, ...], seconds: float) -> float:
        """The time (of `time.time`) when all Nodes had all keys. Asks nothing of the API server, which would be measured.

        Raises: AssertionError: it took too long.
        """
        with self._news:
            if not self._news.wait_for(
                lambda: all(set(keys) <= each.keys() for each in self._labels.values()), seconds
            ):
                lacking = sum(not set(keys) <= each.keys() for each in self._labels.values())
                raise AssertionError(f"{lacking} Nodes lack labels after {seconds:.0f} s")
            return self._last

    def _run(self) -> None:
        with suppress(OSError, http.client.HTTPException, ApiError, ValueError):
            for _, node in self._api.watch(NODES, resourceVersion=self._version):
                name, labels = node["metadata"]["name"], node["metadata"].get("labels", {})
                if labels == self._labels.get(name):
                    continue
                with self._news:
                    self.relabelled += 1
                    self._labels[name] = labels
                    self._last = time.time()
                    if LABEL in labels:
                        self._seen.setdefault((name, labels[LABEL]), time.monotonic())
                    self._news.notify_all()
