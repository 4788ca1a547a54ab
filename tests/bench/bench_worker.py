"""The whole worker on the real control plane, beside a real Kueue: Nodes come up, stay, and what Workloads and cards wait for.

`python -m tests.bench worker` (`python -m tests.bench.bench_worker 60` for some 60 Nodes); needs what `python -m
tests.cluster` needs, with built binaries, and takes some ten minutes with 1,000. Figures stand beside their targets and fail
nothing: the machine is shared by etcd, the API server, Kueue and the player.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections import Counter
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any, Final

from tests.bench.account import account
from tests.bench.worker_answers import admissions
from tests.bench.worker_watch import Changes, Cost, Kubelets, at_percent, cost, say, show, until, writes
from tests.cluster.cluster import Cluster
from tests.cluster.errors import MissingError
from tests.cluster.layout import REPOSITORY
from tests.cluster.machines import Machinery, PlayedNode, copies, machine_facts
from tests.cluster.player import NodePlayer
from tests.cluster.world import Process

NODES: Final = 1_000
"""With cards each; a fiftieth more has none."""
LEDGERS: Final = 40
HEARTBEAT_SECONDS: Final = 10.0
REST_SECONDS: Final = 20.0
STEADY_SECONDS: Final = 40.0
NEVER_SECONDS: Final = 86_400.0
QUIET_SECONDS: Final = 8.0
"""Longer than every window: a worker that has written nothing for so long has converged."""
WINDOW_SECONDS: Final = 3.0
_WORKER: Final = "engine-worker"
_GROUP: Final = "/apis/worker.gpustack.ai/v1"
_A10G: Final = "gpustack--nvidia-a10g-linux-amd64"
_T4: Final = "gpustack--nvidia-tesla-t4-linux-amd64"

Object = dict[str, Any]


def main(argv: list[str] | None = None) -> None:
    """Prints the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("nodes", type=int, nargs="?", default=NODES, help="Nodes with cards")
    parser.add_argument("--profile", default="", help="write a profile of the worker to this file (it costs double)")
    options = parser.parse_args(argv)
    try:
        cluster = Cluster.start()
    except MissingError as error:
        print(f"worker: left out: {error}")
        return
    # Heartbeats are played apart, so that there are none while others are counted.
    with cluster, NodePlayer(cluster.api, status_seconds=NEVER_SECONDS) as player:
        measure(cluster, player, machines(options.nodes), options.profile)


def machines(count: int) -> list[PlayedNode]:
    """So many of the walkthrough's machines with cards, and a few without."""
    machinery = Machinery()
    facts = machine_facts([REPOSITORY / "tests" / "machines" / "walkthrough"])
    with_cards, without = [each for each in facts if each.libraries], [each for each in facts if not each.libraries]
    made = (*copies(with_cards, -(-count // len(with_cards))), *copies(without, max(1, count // 50)))
    return [machinery.objects(each) for each in made]


def measure(cluster: Cluster, player: NodePlayer, nodes: Sequence[PlayedNode], profile: str) -> None:
    """All figures in turn; each begins where the last one left the cluster."""
    kubeconfig = account(cluster)
    profiling = ["-m", "cProfile", "-o", profile] if profile else []
    argv = [sys.executable, *profiling, "-m", "engine", "worker", "--kubeconfig", str(kubeconfig)]
    worker = cluster.spawn(_WORKER, [*argv, "--log-format", "json"])
    for event in ("serves", "leads"):
        until(partial(says, worker, event), 120, what=f"the worker {event}")
    converge(cluster)
    empty = cost(cluster)
    say("machine", f"load average {os.getloadavg()[0]:.1f} of {os.cpu_count()} cores before Nodes come")
    wrote = cold(cluster, player, nodes, empty)
    steady(cluster, [each.name for each in nodes])
    full = cost(cluster)
    per_node = (full.resident_kib - empty.resident_kib) / len(nodes)
    show("resident memory, a Node", per_node, "kB", "<= 60")
    show("resident memory, all of it", full.resident_kib / 1024, "MiB")
    admissions(cluster.api)
    ledgers(cluster, [each for each in nodes if each.devices is not None])
    end(worker)
    floor(cluster, kubeconfig, wrote)


def cold(cluster: Cluster, player: NodePlayer, nodes: Sequence[PlayedNode], empty: Cost) -> float:
    """Machines come up while the worker leads; the seconds that it needed after the last of them."""
    before, begun = writes(cluster), time.monotonic()
    player.add(nodes)
    last = time.monotonic()
    show(f"{len(nodes):,} Nodes played (not ours)", last - begun, "s")
    ended = converge(cluster)
    show("from the last Node to the chain converged", max(0.0, ended - last), "s")
    show("from the first Node to the chain converged", ended - begun, "s")
    made = writes(cluster) - before
    show(
        "its writes, refused ones too", made.total(), "", f"some {sum(2 + 3 * bool(each.devices) for each in nodes):,}"
    )
    say("its writes, by kind", told(made))
    show("its CPU time meanwhile", cost(cluster).cpu_seconds - empty.cpu_seconds, "s")
    say("machine", f"load average {os.getloadavg()[0]:.1f}")
    return ended - begun


def converge(cluster: Cluster) -> float:
    """Waits until the worker has written nothing for a while; when it last did, to a quarter of a second."""
    seen, at = Counter[str](), time.monotonic()
    while time.monotonic() - at < QUIET_SECONDS:
        made = writes(cluster)
        if made != seen:
            seen, at = made, time.monotonic()
        time.sleep(0.25)
    return at


def steady(cluster: Cluster, names: Sequence[str]) -> None:
    """Nothing at all happens; then every kubelet repeats its status every ten seconds."""
    begun, spent = time.monotonic(), cost(cluster)
    time.sleep(REST_SECONDS)
    rest = (cost(cluster).cpu_seconds - spent.cpu_seconds) / (time.monotonic() - begun)
    show("CPU of one core at rest, the Lease renewed", 100 * rest, "%")
    with Kubelets(cluster.api, names, HEARTBEAT_SECONDS) as kubelets:
        time.sleep(5)
        before, beats, begun, spent = writes(cluster), kubelets.beats, time.monotonic(), cost(cluster)
        time.sleep(STEADY_SECONDS)
        spent_seconds, seconds = cost(cluster).cpu_seconds - spent.cpu_seconds, time.monotonic() - begun
        beats = kubelets.beats - beats
        made = writes(cluster) - before
    wanted = len(names) / HEARTBEAT_SECONDS
    show("heartbeats a second", beats / seconds, "", f"{wanted:.0f}")
    show("CPU of one core with them", 100 * spent_seconds / seconds, "%")
    beat = (spent_seconds - rest * seconds) / beats
    show("CPU time of one heartbeat", 1e6 * beat, "us")
    show("CPU of one core at the rate wanted", 100 * (rest + beat * wanted), "%", "<= 5")
    show("writes meanwhile, but the Lease", made.total(), "", "0")
    if made:
        say("writes meanwhile, by kind", told(made))


def ledgers(cluster: Cluster, nodes: Sequence[PlayedNode]) -> None:
    """All cards of one node are taken, or free again: from before the write to the type's status, as a watch sees it."""
    api = cluster.api
    converge(cluster)
    taken, trips = [], []
    with Changes(api, f"{_GROUP}/instancetypes", lambda seen: [seen["metadata"]["resourceVersion"]]) as changes:
        for at in range(LEDGERS):
            node = nodes[len(nodes) * at // LEDGERS]
            name = _A10G if "a10g" in node.name else _T4
            path = f"{_GROUP}/devices/{node.name}/status"
            status = api.get(path.removesuffix("/status"))["status"]
            for group in status["groups"]:
                for card in group["accelerators"]:
                    card |= {"mode": 1, "remaining": 0}
            known, begun = changes.known(name), time.monotonic()
            api.patch(path, {"status": status})
            trips.append(time.monotonic() - begun)
            taken.append(changes.next_of(name, known) - begun)
            # The first change of a type goes out at once only when its window is over.
            time.sleep(WINDOW_SECONDS + 0.5)
    trip = at_percent(trips, 50)
    for percent in (50, 99):
        show(f"one write of a ledger, p{percent} (not ours)", 1000 * at_percent(trips, percent), "ms")
    for percent in (50, 99):
        figure = at_percent(taken, percent)
        show(f"one ledger to the type's status, p{percent}", 1000 * figure, "ms")
        show(f"the same in write round trips, p{percent}", figure / trip, "x", "<= 5" if percent == 99 else "")


def end(worker: Process) -> None:
    """The worker ends, and its profile is written."""
    worker.stop(60)


def floor(cluster: Cluster, kubeconfig: Path, ours: float) -> None:
    """What a bare client needs, now that nobody else reacts."""
    argv = [sys.executable, "-m", "tests.bench.worker_floor", str(kubeconfig)]
    done = cluster.run(argv)
    if done.returncode:
        raise AssertionError(done.stderr)
    writes, wall, spent = done.stdout.split()
    show("a bare client writes as much: writes", float(writes), "")
    show("a bare client writes as much: time", float(wall), "s")
    show("a bare client writes as much: its CPU time", float(spent), "s")
    show("first Node to converged, in times of a bare client", ours / float(wall), "x")


def says(worker: Process, event: str) -> bool:
    """Whether the worker has said so."""
    return f'"event": "{event}"' in worker.log.read_text("utf-8")


def told(made: Counter[str]) -> str:
    """Writes by verb, kind and answer."""
    return ", ".join(f"{count} {call}" for call, count in sorted(made.items()))


if __name__ == "__main__":
    main()
