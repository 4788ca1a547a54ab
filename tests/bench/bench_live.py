"""The worker on the real control plane: 1,000 played Nodes cold, one change, a restart, and what is written at rest.

`python -m tests.bench live` (`python -m tests.bench.bench_live 50` for 200); needs what `python -m tests.cluster` needs,
with built binaries, and takes some five minutes. Figures are beside the targets and fail nothing: the machine is shared by
etcd, the API server, Kueue and the player. What a bare client needs for the same writes is printed beside ours.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections import Counter
from collections.abc import Callable, Sequence
from datetime import datetime
from pathlib import Path
from typing import Final

from engine.api.crd import crd_documents
from tests.bench.account import account
from tests.bench.live_watch import NODES, Did, Watch, cpu_seconds, did
from tests.cluster.api import Api
from tests.cluster.cluster import Cluster
from tests.cluster.errors import MissingError
from tests.cluster.layout import REPOSITORY
from tests.cluster.machines import Machinery, PlayedNode, copies, machine_facts
from tests.cluster.player import NodePlayer
from tests.cluster.world import Process

COPIES: Final = 250
AT_ONCE: Final = (16, 32)
SAMPLES: Final = 40
REST_SECONDS: Final = 20.0
QUIET_SECONDS: Final = 5.0
COLD_SECONDS: Final = 600.0
LABELS: Final = ("gpustack.ai/managed", "topology.gpustack.ai/profile")
_CRDS: Final = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
_DEVICES: Final = "/apis/worker.gpustack.ai/v1/devices"
_WORKER: Final = "engine-worker"


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
        # Before the Nodes: 1,000 device managers that learn of their kind at once would be measured along with the worker.
        for document in crd_documents():
            cluster.api.apply(f"{_CRDS}/{document['metadata']['name']}", dict(document))
        cluster.wait_served("worker.gpustack.ai/v1", "devices")
        begun = time.monotonic()
        machinery = Machinery()
        facts = machine_facts([REPOSITORY / "tests" / "machines" / "walkthrough"])
        nodes = [machinery.objects(each) for each in copies(facts, count)]
        with NodePlayer(cluster.api) as player:
            player.add(nodes)
            show(f"{len(nodes):,} Nodes played (not ours)", time.monotonic() - begun, "s")
            settle(cluster.api, nodes)
            kubeconfig = account(cluster)
            fastest = min(bare(cluster, kubeconfig, len(nodes), at_once) for at_once in AT_ONCE)
            settle(cluster.api, nodes)
            measure(cluster, kubeconfig, [each.name for each in nodes], fastest)


def bare(cluster: Cluster, kubeconfig: Path, nodes: int, at_once: int) -> float:
    """Seconds that writes alone take, by a client that does nothing else: the floor of a cold start."""
    argv = [sys.executable, "-m", "tests.bench.live_floor", str(kubeconfig), str(at_once)]
    process = cluster.spawn(f"floor-{at_once}", argv)
    if process.wait(COLD_SECONDS) != 0:
        raise AssertionError(f"the bare client failed:\n{cluster.log(f'floor-{at_once}')}")
    taken, spent = map(float, cluster.log(f"floor-{at_once}").split())
    show(f"a bare client's {2 * nodes:,} writes, {at_once} at once", taken, "s")
    show("its CPU time", spent, "s")
    return taken


def measure(cluster: Cluster, kubeconfig: Path, names: list[str], bare_seconds: float) -> None:
    """All figures of the worker, in turn; each begins where the last one left the cluster."""
    api = cluster.api
    argv = [sys.executable, "-m", "engine", "worker", "--kubeconfig", str(kubeconfig), "--log-format", "json"]
    with Watch(api) as watch:
        before = cpu_seconds(cluster)
        worker = cluster.spawn(_WORKER, argv)
        led = leads(worker, 1)
        begun = did(cluster)
        labelled = watch.wait_labelled(LABELS, COLD_SECONDS)
        show(f"{len(names):,} Nodes cold, from leading", labelled - led, "s", "<= 10")
        show("the same in times of the bare client", (labelled - led) / bare_seconds, "x")
        show("Node writes until then that changed labels", watch.relabelled, "", f"{len(names)}")
        cold = did(cluster).since(begun)
        show("its CPU time meanwhile, a Node", 1000 * cold.cpu_seconds / len(names), "ms")
        rested = until_rested(cluster, begun)
        show("until it rests, its CPU time a Node", 1000 * rested.cpu_seconds / len(names), "ms")
        show("Node writes that changed labels, fit labels too", watch.relabelled, "")
    tell("until it rests", rested)
    for name, seconds in sorted(cpu_seconds(cluster).items()):
        show(f"CPU time of {name}", seconds - before.get(name, 0.0), "s")
    show("its peak memory", rested.peak_mib, "MiB")

    resting = did(cluster)
    time.sleep(REST_SECONDS)
    wrote = did(cluster).since(resting)
    show(f"writes in {REST_SECONDS:.0f} s of rest, but the Lease", sum(wrote.writes().values()), "", "0")
    tell("at rest", wrote)

    with Watch(api) as watch:
        taken = sorted(watch.change(api, names[len(names) * at // SAMPLES], f"s{at}") for at in range(SAMPLES))
        show("one NodeFeature to its Node's label, p50", 1000 * taken[SAMPLES // 2], "ms", "<= 60")
        show("one NodeFeature to its Node's label, p99", 1000 * taken[-1], "ms", "<= 300")

        time.sleep(5)
        worker.stop()
        began = time.time()
        worker.start_again()
        led = leads(worker, 2)
        # The queue is first in, first out: a change that is made now is served after every Node has been looked at.
        watch.change(api, names[-1], "restarted")
        show("a restart with nothing changed, from leading", time.time() - led, "s", "<= 3")
        show("the same from the start of its process", time.time() - began, "s")
        time.sleep(10)
        wrote = did(cluster)
        show("writes after it", sum(wrote.writes().values()) - 1, "", "0")
        tell("after it", wrote)
    worker.stop()


def tell(when: str, done: Did) -> None:
    """What was written, by kind, and what the controllers' passes came to."""
    for call, count in sorted(done.writes().items()):
        print(f"live:   {when}: {call.verb} {call.resource} {call.code}: {count}", flush=True)
    results: Counter[str] = Counter()
    for (_, result), count in done.passes.items():
        results[result] += count
    if results:
        print(f"live:   {when}: passes {', '.join(f'{name} {count}' for name, count in sorted(results.items()))}")


def settle(api: Api, nodes: Sequence[PlayedNode]) -> None:
    """Until all Devices are there and the controller-manager is done with taints and Events of new Nodes."""
    wanted = sum(each.devices is not None for each in nodes)
    until(lambda: len(api.get(_DEVICES)["items"]) == wanted, COLD_SECONDS)
    last, since = "", time.monotonic()
    while time.monotonic() - since < QUIET_SECONDS:
        time.sleep(2)
        # Heartbeats of 1,000 Nodes come all the time; taints and annotations are spec and metadata.
        now = repr([(each["metadata"].get("annotations"), each.get("spec")) for each in api.get(NODES)["items"]])
        if now != last:
            last, since = now, time.monotonic()


def leads(worker: Process, count: int) -> float:
    """When the worker said for the so manieth time that it leads."""

    def said() -> list[float]:
        lines = [json.loads(line) for line in worker.log.read_text("utf-8").splitlines() if line.startswith("{")]
        return [datetime.fromisoformat(each["time"]).timestamp() for each in lines if each.get("event") == "leads"]

    until(lambda: len(said()) >= count)
    return said()[count - 1]


def until_rested(cluster: Cluster, begun: Did) -> Did:
    """What was done until nothing was written for a while."""
    last, since = did(cluster), time.monotonic()
    while time.monotonic() - since < 2 * QUIET_SECONDS:
        time.sleep(1)
        now = did(cluster)
        if now.writes() != last.writes():
            last, since = now, time.monotonic()
    return last.since(begun)


def until(is_so: Callable[[], bool], seconds: float = 120.0) -> None:
    """Waits for something. Raises: AssertionError: it took too long."""
    deadline = time.monotonic() + seconds
    while not is_so():
        if time.monotonic() > deadline:
            raise AssertionError(f"not so after {seconds:.0f} s")
        time.sleep(0.02)


def show(what: str, figure: float, unit: str, target: str = "") -> None:
    """One line, with the machine's load: figures of a machine that others use say little without it."""
    text = f"{figure:.0f}" if unit in ("", "MiB") else f"{figure:.1f}"
    aimed = f"(target {target})" if target else ""
    print(f"live: {what:<52} {text:>7} {unit:<4}{aimed:<18} load {os.getloadavg()[0]:.1f}", flush=True)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
