"""The whole worker on the in-memory API server: what 1,000, 3,000 and 10,000 Nodes cost it, cold, at rest, and for one change.

`python -m tests.bench fleet`. Time is virtual, so figures are CPU time of this process alone; the in-memory server's own part
is measured at its door and shown beside the worker's. Growth is a ratio within one run; nothing here fails.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import resource
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final

import msgspec

from engine.cluster.client import Client
from engine.cluster.resources import DEVICES, NODE_FEATURES, NODES
from engine.cluster.transport import Request
from engine.worker.app import Worker
from engine.worker.log import Log
from engine.worker.options import Options
from tests.cluster.layout import REPOSITORY
from tests.cluster.machines import Machinery, PlayedNode, copies, machine_facts
from tests.fakes import verbs
from tests.fakes.apiserver import ApiServer, FakeTransport
from tests.fakes.kueue import FakeKueue
from tests.fakes.streams import FakeResponse
from tests.fakes.virtual import VirtualClock, half, run
from tests.unit.features.world import program

SIZES: Final = (1_000, 3_000, 10_000)
NAMESPACE: Final = "gpustack-system"
MACHINES: Final = REPOSITORY / "tests" / "machines" / "walkthrough"
SETTLED_SECONDS: Final = 30.0
"""Virtual: longer than any window, so that a cluster without writes for so long is at rest."""
MAX_GROWTH: Final = 1.5
CHANGES: Final = 20


@dataclass(frozen=True, slots=True)
class Figures:
    """What one size took. Shape: CPU seconds; `server` ones are the in-memory server's part of those before them."""

    nodes: int
    cold: float
    cold_server: float
    virtual: float
    writes: int
    heartbeats: float
    heartbeats_server: float
    heartbeat_writes: int
    change: float
    change_server: float
    peak_mib: float


class Door(FakeTransport):
    """A way to the server on which its own CPU time is counted."""

    def __init__(self, server: ApiServer, sender: str) -> None:
        super().__init__(server, sender)
        self.spent = 0.0

    async def request(self, request: Request) -> FakeResponse:
        began = time.process_time()
        try:
            return await super().request(request)
        finally:
            self.spent += time.process_time() - began


class Site:
    """A cluster of so many Nodes in memory, with a Kueue and one worker."""

    def __init__(self, nodes: Sequence[PlayedNode]) -> None:
        self.clock = VirtualClock()
        self.server = ApiServer(self.clock)
        self.server.watch_buffer = 1_000_000
        self.door = Door(self.server, "engine")
        self._kueue = FakeKueue(self.server)
        self._nodes = nodes
        self._tasks: list[asyncio.Task[None]] = []

    def play(self) -> None:
        """What kubelets, hosts and device managers have written before the worker comes."""
        at = {each: self.server.kind(str(each)) for each in (NODES, NODE_FEATURES, DEVICES)}
        for each in self._nodes:
            node = verbs.create(self.server, at[NODES], "", each.node, "kubelet")
            owner = [{"apiVersion": "v1", "kind": "Node", "name": each.name, "uid": node["metadata"]["uid"]}]
            for feature in each.features:
                metadata = feature["metadata"] | {"ownerReferences": owner, "namespace": NAMESPACE}
                verbs.create(self.server, at[NODE_FEATURES], NAMESPACE, feature | {"metadata": metadata}, "agent")
            if each.devices is not None:
                metadata = each.devices["metadata"] | {"ownerReferences": owner}
                verbs.create(self.server, at[DEVICES], "", each.devices | {"metadata": metadata}, "device-manager")
                self.take(each.devices)
        self.server.store.compact()

    def take(self, devices: dict[str, Any]) -> None:
        """A device manager publishes its ledger."""
        kind, key = self.server.kind(str(DEVICES)), ("", devices["metadata"]["name"])
        verbs.merge_patch(self.server, kind, key, {"status": devices["status"]}, "device-manager", "status")

    def beat(self, at: int) -> None:
        """Every kubelet repeats its status."""
        kind = self.server.kind(str(NODES))
        ready = [{"type": "Ready", "status": "True", "lastHeartbeatTime": f"2026-11-29T12:{at:02d}:00Z"}]
        for each in self._nodes:
            patch = {"status": {"conditions": ready}}
            verbs.merge_patch(self.server, kind, ("", each.name), patch, "kubelet", "status")

    def start(self) -> None:
        client = Client(self.door, clock=self.clock, chance=half)
        options = Options(identity="engine", is_elected=False)
        worker = Worker(client, program(), options, Log(lambda _line: None, clock=self.clock))
        self._tasks = [asyncio.create_task(self._kueue.run()), asyncio.create_task(worker.run())]

    async def settle(self) -> float:
        """Until nothing has been written for a while; when the last write was."""
        while True:
            last = max((each.at for each in self.server.writes("engine")), default=self.clock.monotonic())
            if self.clock.monotonic() - last > SETTLED_SECONDS:
                return last
            await asyncio.sleep(SETTLED_SECONDS / 4)

    async def stop(self) -> None:
        for each in self._tasks:
            each.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)


async def measure(nodes: Sequence[PlayedNode]) -> Figures:
    """All figures of one size."""
    site = Site(nodes)
    site.play()
    gc.collect()
    began, spent, virtual = time.process_time(), site.door.spent, site.clock.monotonic()
    site.start()
    settled = await site.settle()
    cold, cold_server = time.process_time() - began, site.door.spent - spent
    writes = len(site.server.writes("engine"))

    await asyncio.sleep(120)
    at_rest = len(site.server.writes("engine"))
    site.server.store.compact()
    began = time.process_time()
    site.beat(1)
    beaten = time.process_time()
    await asyncio.sleep(SETTLED_SECONDS)
    heartbeats, made = time.process_time() - beaten, beaten - began
    heartbeat_writes = len(site.server.writes("engine")) - at_rest

    # One ledger after the other, each given the time in which all that follows from it is written.
    with_cards = [each.devices for each in nodes if each.devices is not None]
    began, spent = time.process_time(), site.door.spent
    for at in range(CHANGES):
        devices = with_cards[at * len(with_cards) // CHANGES]
        site.take(taken(devices))
        await asyncio.sleep(SETTLED_SECONDS / 2)
    change, change_server = time.process_time() - began, site.door.spent - spent
    await site.stop()
    return Figures(
        nodes=len(nodes),
        cold=cold,
        cold_server=cold_server,
        virtual=settled - virtual,
        writes=writes,
        heartbeats=heartbeats,
        heartbeats_server=made,
        heartbeat_writes=heartbeat_writes,
        change=change / CHANGES,
        change_server=change_server / CHANGES,
        peak_mib=resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    )


def taken(devices: dict[str, Any]) -> dict[str, Any]:
    """The same cards, each used whole."""
    groups = [
        group | {"accelerators": [card | {"mode": 1, "remaining": 0} for card in group["accelerators"]]}
        for group in devices["status"]["groups"]
    ]
    return devices | {"status": devices["status"] | {"groups": groups}}


def played(count: int) -> list[PlayedNode]:
    """So many Nodes: the machines of the walkthrough, over and over."""
    facts = machine_facts([MACHINES])
    machinery = Machinery()
    return [machinery.objects(each) for each in copies(facts, count // len(facts))]


def figures_of(count: int) -> Figures:
    """In a process of its own, so that no size sees the memory of another."""
    command = [sys.executable, "-m", "tests.bench.bench_fleet", "--only", str(count)]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    return msgspec.json.decode(done.stdout, type=Figures)


def main(argv: list[str] | None = None) -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", type=int, default=0, help="measure so many Nodes here, and print JSON")
    parser.add_argument("--largest", type=int, default=SIZES[-1], help="leave out sizes above this")
    options = parser.parse_args(argv)
    if options.only:
        print(msgspec.json.encode(asdict(run(measure(played(options.only))))).decode())
        return
    print("fleet: CPU time of the worker, the in-memory server's own part after the +; time to converge is virtual")
    print(
        f"{'NODES':>7}  {'COLD':>16}  {'A NODE':>18}  {'CONVERGED':>9}  {'WRITES':>7}  "
        f"{'A HEARTBEAT':>11}  {'WRITES':>6}  {'ONE LEDGER':>19}  {'PEAK':>9}"
    )
    found: list[Figures] = []
    for size in SIZES:
        if size <= options.largest:
            found.append(figures_of(size))
            print(row(found[-1]), flush=True)
    first, last = found[0], found[-1]
    for what, growth in (
        ("cold, a node", own(last) / own(first)),
        ("a heartbeat", beat(last) / beat(first)),
        ("one ledger", (last.change - last.change_server) / (first.change - first.change_server)),
    ):
        print(f"fleet: {what}, {last.nodes:,} against {first.nodes:,} Nodes: {growth:.2f}x (target <= {MAX_GROWTH}x)")


def own(each: Figures) -> float:
    """The worker's own CPU seconds for one Node of a cold start."""
    return (each.cold - each.cold_server) / each.nodes


def beat(each: Figures) -> float:
    """CPU seconds for one heartbeat."""
    return each.heartbeats / each.nodes


def row(each: Figures) -> str:
    """One line of the table."""
    return (
        f"{each.nodes:>7,}  {each.cold - each.cold_server:6.2f} + {each.cold_server:5.2f} s  "
        f"{own(each) * 1e3:6.2f} + {each.cold_server / each.nodes * 1e3:5.2f} ms  {each.virtual:7.1f} s  "
        f"{each.writes:>7,}  {beat(each) * 1e6:8.0f} us  {each.heartbeat_writes:>6}  "
        f"{(each.change - each.change_server) * 1e3:7.2f} + {each.change_server * 1e3:5.2f} ms  {each.peak_mib:5.0f} MiB"
    )


if __name__ == "__main__":
    main()
