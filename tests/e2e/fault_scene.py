"""The walkthrough at rest on a real control plane, Jobs running in its queues: what it looks like, and that it looks so again.

No assertions here but those of `comes_back`, which are what every fault has in common.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any, Final

from tests.cluster.api import ApiError
from tests.cluster.cluster import Cluster
from tests.cluster.components import KUEUE as KUEUE_PROCESS
from tests.cluster.components import MANAGER, SCHEDULER
from tests.cluster.errands import LOST
from tests.cluster.machines import Machinery, machine_facts
from tests.e2e.live import A10G, GENERIC, KUEUE, T4, WALKTHROUGH, WORKER, Live, walkthrough
from tests.e2e.waiting import eventually
from tests.unit.worker.photos import Photo, differences

Object = dict[str, Any]

NODES: Final = "/api/v1/nodes"
FEATURES: Final = "/apis/nfd.k8s-sigs.io/v1alpha1/nodefeatures"
LISTED: Final = (
    *(f"{KUEUE}/{plural}" for plural in ("resourceflavors", "topologies", "clusterqueues", "localqueues")),
    f"{KUEUE}/admissionchecks",
    *(f"{WORKER}/{plural}" for plural in ("devices", "instancetypes", "instancetypeflavors")),
    FEATURES,
    NODES,
)
OURS: Final = frozenset(path.rpartition("/")[2] for path in LISTED if path != NODES)
"""Kinds that nobody else writes while nothing happens: Kueue's status of them follows Workloads."""

JOBS: Final = {"on-cpu": (GENERIC, {"cpu": "2"}), "on-t4": (T4, {"nvidia.com/gpu": "1"})}
GPU_JOB: Final = {"on-a10g": (A10G, {"nvidia.com/gpu": "1"})}
"""Apart, because some faults are for the queue that it is in."""

_WRITES: Final = re.compile(
    r'^apiserver_request_total\{(?=[^}]*verb="(?:POST|PUT|PATCH|APPLY|DELETE)")(?=[^}]*resource="([a-z]+)")[^}]*\} (\d+)'
)


class Scene:
    """A worker at rest, and its photograph. What ends by a fault is started again, as a kubelet would."""

    def __init__(self, live: Live) -> None:
        self.live = live
        self.cluster = live.cluster
        self.api = live.api
        self.workers = [live.worker]
        self.at_rest = self.photo()
        self.uids: dict[str, str] = {}

    def photo(self) -> Photo:
        """What is there now. Of Nodes only what the worker writes: a kubelet writes them all the time."""
        found: dict[str, dict[tuple[str, str], Object]] = {}
        for path in LISTED:
            kind = path.rpartition("/")[2]
            for each in self.api.get(path)["items"]:
                metadata = each["metadata"]
                body = _of_node(each) if path == NODES else each
                found.setdefault(kind, {})[metadata.get("namespace", ""), metadata["name"]] = body
        return Photo(time.monotonic(), 0, found)

    def submit(self, jobs: dict[str, tuple[str, dict[str, str]]]) -> None:
        """Jobs through their queues, admitted."""
        for name, (queue, requests) in jobs.items():
            self.live.submit(name, queue, **requests)
        for name in jobs:
            eventually(lambda name=name: self.live.is_admitted(name), 90, what=f"{name} is admitted")
            self.uids[name] = self.live.workload(name)["metadata"]["uid"]  # type: ignore[index]

    def drop(self, name: str) -> None:
        """A Job is taken away."""
        del self.uids[name]
        self.live.finish(name)

    def evicted(self, but: Iterable[str] = ()) -> list[str]:
        """Jobs whose Workload was ever evicted, or is another one, or is not admitted."""
        found = []
        for name, uid in self.uids.items():
            workload = self.live.workload(name) or {"metadata": {"uid": ""}}
            conditions = (workload.get("status") or {}).get("conditions") or ()
            was = any(each["type"] == "Evicted" for each in conditions)
            if name not in but and (workload["metadata"]["uid"] != uid or was or not self.live.is_admitted(name)):
                found.append(name)
        return found

    def keep(self) -> None:
        """Whatever has ended begins again: a worker that lost its lease, components that lost theirs."""
        for each in self.workers:
            if not each.is_running:
                each.start_again()
        for name in (MANAGER, SCHEDULER, KUEUE_PROCESS):
            if not self.cluster.process(name).is_running:
                self.cluster.process(name).start_again()

    def comes_back(self, *, seconds: float = 180, to: Photo | None = None, evicts: Iterable[str] = ()) -> None:
        """All becomes as it was, nobody was evicted but these, and then nothing is written any more."""
        wanted = to or self.at_rest
        seen: list[str] = []

        def is_back() -> bool:
            self.keep()
            try:
                found = differences(wanted, self.photo())
            except (ApiError, *LOST) as error:
                found = [str(error)]
            # Who was evicted may be admitted in another flavor.
            seen[:] = [each for each in found if not (evicts and " status.flavors" in each)]
            return not seen

        try:
            eventually(is_back, seconds)
        except AssertionError:
            raise AssertionError("\n".join(["not as before:", *seen])) from None
        evicted = self.evicted(evicts)
        assert evicted == [], f"evicted by mistake: {evicted}"
        self.is_quiet()
        assert is_back(), seen
        for name in evicts:
            # It says for ever that it was evicted once: whoever comes next submits another.
            if name in self.uids:
                self.drop(name)

    def is_quiet(self, seconds: float = 10) -> None:
        """Nobody writes anything of our kinds."""
        eventually(lambda: self._writes_within(5) == {}, 60, what="nothing is written for five seconds")
        assert self._writes_within(seconds) == {}

    def _writes_within(self, seconds: float) -> dict[str, int]:
        before = self._written()
        time.sleep(seconds)
        after = self._written()
        return {kind: after[kind] - before.get(kind, 0) for kind in after if after[kind] != before.get(kind, 0)}

    def _written(self) -> dict[str, int]:
        """Writes that the API server has counted since its start, by kind, whatever came of them."""
        counted: dict[str, int] = {}
        for line in self.api.text("/metrics").splitlines():
            found = _WRITES.match(line)
            if found and found[1] in OURS:
                counted[found[1]] = counted.get(found[1], 0) + int(float(found[2]))
        return counted

    def cold(self) -> None:
        """Without Jobs, machines and what was made of them; the worker is stopped."""
        for name in list(self.uids):
            self.drop(name)
        self.keep()
        live = self.live
        for name in live.player.names:
            live.player.remove(name)
        eventually(lambda: not live.names(f"{KUEUE}/resourceflavors"), 90, what="the flavors go with their nodes")
        for name in live.names(f"{WORKER}/instancetypes"):
            self.api.delete(f"{WORKER}/instancetypes/{name}")
        eventually(lambda: not live.names(f"{WORKER}/instancetypes"), 90, what="the types go")
        eventually(lambda: not live.names(f"{KUEUE}/topologies"), 60, what="the topology goes")
        live.worker.stop()

    def play(self, machinery: Machinery) -> None:
        """The machines come up."""
        self.live.player.add([machinery.objects(each) for each in machine_facts([WALKTHROUGH])])

    def kill_when(self, look: Callable[[], object], what: str) -> None:
        """SIGKILL as soon as something is seen."""
        eventually(look, 90, what=what)
        self.live.worker.kill()


@contextmanager
def scene(cluster: Cluster, machinery: Machinery) -> Iterator[Scene]:
    """A worker over the four machines at rest."""
    with walkthrough(cluster, machinery) as live:

        def is_active() -> bool:
            types = live.types()
            return set(types) == {GENERIC, A10G, T4} and {row[-1] for row in types.values()} == {"Active"}

        eventually(is_active, 120, what="the three types are there and active")
        eventually(lambda: _has_capacity(live), 60, what="nodes have their counted capacity")
        time.sleep(6)  # the longest window of a controller
        made = Scene(live)
        made.is_quiet()
        made.at_rest = made.photo()
        yield made
        made.keep()
        for name in list(made.uids):
            made.drop(name)


def _has_capacity(live: Live) -> bool:
    nodes = [each for each in live.api.get(NODES)["items"] if each["metadata"]["name"] != "node-cpu"]
    return all("nvidia.com/gpu.sliced.units" in each["status"]["allocatable"] for each in nodes)


def _of_node(body: Object) -> Object:
    metadata = {key: value for key, value in body["metadata"].items() if key in ("name", "labels", "uid")}
    annotations = body["metadata"].get("annotations") or {}
    metadata["annotations"] = {key: text for key, text in annotations.items() if "gpustack" in key}
    return {"metadata": metadata, "status": {key: body["status"][key] for key in ("capacity", "allocatable")}}
