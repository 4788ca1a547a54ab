"""What a verdict on a Workload costs in a cluster of 1,000 `Devices`, network left out, when nothing has changed since the caches.

`python -m tests.bench verdict`. The bound for all of it, from quota reserved to the answer, is 20 ms (p50) and 100 ms (p99).
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Mapping
from statistics import quantiles
from typing import Any, Final

import msgspec

from engine.api.devices import Devices
from engine.cluster.cache import Cache
from engine.cluster.objects import Node, Owned
from engine.cluster.resources import ObjectKey
from engine.domain.credits import UNITS_PER_CARD
from engine.domain.demand import Demand, Family, read_demands
from engine.domain.gate import Question, Verdict, judge
from engine.domain.holdings import Holding, held, taken_since
from engine.domain.room import Load, Scope
from engine.domain.units import Credits
from engine.worker.admission.pools import Pools
from engine.worker.admission.promises import Promises, nodes_of
from engine.worker.admission.vocabulary import Vocabulary
from engine.worker.admission.workload import Workload, pod_sets
from engine.worker.cards import NodeCards
from tests.cluster.rules import shipped_program

NODES: Final = 1000
CARDS: Final = 8
SAMPLES: Final = 300
FLAVOR: Final = "f"
KEY: Final = "acceleratable.feature.gpustack.ai/nvidia-a10g"
LABELS: Final = {KEY: "true", "gpustack.ai/managed": "true", "kubernetes.io/os": "linux", "kubernetes.io/arch": "amd64"}
ME: Final = ObjectKey("default", "me")


class World:
    """Caches as informers fill them, every second card in use, and Workloads that wait for their cards."""

    def __init__(self) -> None:
        words = Vocabulary(shipped_program())
        self.words = words
        self.bodies = {name: devices(name) for name in (f"node-{at:04d}" for at in range(NODES))}
        known: Cache[Devices] = Cache()
        nodes: Cache[Node] = Cache()
        flavors: Cache[Owned] = Cache()
        self.pools = Pools(known, nodes, flavors, lambda: words)
        for name, body in self.bodies.items():
            read = msgspec.json.decode(body, type=Devices)
            known.put(read)
            nodes.put(msgspec.convert({"metadata": {"name": name, "labels": {"kubernetes.io/hostname": name}}}, Node))
            self.pools.take(name, read)
        selector = LABELS | {f"{KEY}.count": str(CARDS)}
        flavors.put(msgspec.convert({"metadata": {"name": FLAVOR}, "spec": {"nodeLabels": selector}}, Owned))
        self.promises = Promises(self.pools.reach)

    def promise(self, count: int) -> None:
        for at in range(count):
            load = Load(
                FLAVOR, Scope("nvidia-a10g", CARDS), f"node-{at % NODES:04d}", Family.EXCLUSIVE, Credits(0), "", 1
            )
            self.promises.make(ObjectKey("default", f"other-{at}"), f"{at:06d}", [load])

    def ask(self, body: bytes) -> Verdict:
        """As the part does: from caches, then with the ledger of the nodes concerned, which has come as bytes."""
        workload = msgspec.json.decode(body, type=Workload)
        sets = pod_sets(workload, self.words.keys.hostname, {})
        demands = read_demands(sets, self.words.table)
        verdict = judge(self.question(demands, {}))
        named = {ask.node for each in demands for ask in each.asks if ask.node is not None}
        if not verdict.is_ready:
            return verdict
        fresh = {node: msgspec.json.decode(self.bodies[node], type=Devices) for node in named.union(verdict.nodes)}
        newer = {node: read for node, read in fresh.items() if read.metadata.resource_version != "1"}
        return judge(self.question(demands, {node: self.pools.read(read) for node, read in newer.items()}))

    def question(self, demands: tuple[Demand, ...], fresh: Mapping[str, NodeCards]) -> Question:
        reach = {FLAVOR: self.pools.reach(FLAVOR)}
        ahead = {node: taken_since(self.pools.cards(node), cards) for node, cards in fresh.items()}

        def stocks(node: str) -> NodeCards:
            return fresh.get(node) or self.pools.cards(node)

        promised = self.promises.outstanding(ME, nodes_of(demands, reach), ahead)
        return Question(demands, {FLAVOR: self.pools.scope(FLAVOR)}, reach, stocks, promised)


def devices(name: str) -> bytes:
    """A node's object; every second card is taken whole."""
    cards: list[dict[str, Any]] = [
        {"id": f"{name}-{at}", "index": at, "status": {"logicalSliced": {"count": 128}}} for at in range(CARDS)
    ]
    rows = [
        {"id": f"{name}-{at}", "index": at, "mode": at % 2, "remaining": 0 if at % 2 else UNITS_PER_CARD}
        for at in range(CARDS)
    ]
    group = {"id": "a10g", "manufacturer": "nvidia"}
    body = {
        "metadata": {"name": name, "resourceVersion": "1", "labels": LABELS},
        "spec": {"groups": [group | {"memory": 24_563, "accelerators": cards}]},
        "status": {"groups": [group | {"accelerators": rows}]},
    }
    return msgspec.json.encode(body)


def workload(requests: dict[str, str], pods: int, nodes: list[str]) -> bytes:
    """One pod set, on these nodes alike, or anywhere."""
    assignment: dict[str, Any] = {"flavors": {"credits.gpustack.ai/nvidia": FLAVOR}, "count": pods}
    if nodes:
        part = {
            "domainCount": len(nodes),
            "valuesPerLevel": [{"individual": {"roots": nodes}}],
            "podCounts": {"universal": pods // len(nodes)},
        }
        assignment["topologyAssignment"] = {"levels": ["kubernetes.io/hostname"], "slices": [part]}
    container = {"resources": {"requests": requests}}
    body = {
        "metadata": {"name": "me", "namespace": "default"},
        "spec": {"podSets": [{"count": pods, "template": {"spec": {"containers": [container]}}}]},
        "status": {"admission": {"podSetAssignments": [assignment]}},
    }
    return msgspec.json.encode(body)


def main() -> None:
    """Prints the figures."""
    world = World()
    whole = {"nvidia.com/gpu": "1"}
    sliced = {"nvidia.com/gpu.sliced": "1", "nvidia.com/gpu.sliced.units": "320k"}
    names = list(world.bodies)
    print(f"a verdict with {NODES:,} Devices of {CARDS} cards; bound with the network: p50 20 ms, p99 100 ms")
    show("the first, nothing read yet, anywhere", lambda: world.ask(workload(sliced, 1, [])), samples=1)
    show("one whole card, on its node", lambda: world.ask(workload(whole, 1, names[:1])))
    show("400 Pods on 100 nodes", lambda: world.ask(workload(whole, 400, names[:100])), samples=50)
    show("one whole card, anywhere", lambda: world.ask(workload(whole, 1, [])))
    show("one slice, anywhere", lambda: world.ask(workload(sliced, 1, [])), samples=50)
    show(
        "eight cards for which no node has room",
        lambda: world.ask(workload({"nvidia.com/gpu": "8"}, 1, [])),
        samples=50,
    )
    world.promise(NODES)
    show(f"one whole card, on its node, {NODES:,} promised", lambda: world.ask(workload(whole, 1, names[:1])))
    show("what is held of a node, once told", lambda: held(world.pools.cards(names[0])))
    taken: Counter[Holding] = Counter({Holding("nvidia-a10g", Family.SHARED): 1})
    show("a change of a node's ledger, promises open", lambda: world.promises.take(names[0], taken))


def show(what: str, work: Callable[[], object], *, samples: int = SAMPLES) -> None:
    """Median and the worst of a hundred, in CPU time: what else runs on the machine is no cost of a verdict."""
    seconds: list[float] = []
    for _ in range(samples):
        began = time.process_time()
        work()
        seconds.append(time.process_time() - began)
    cuts = quantiles(seconds, n=100) if samples > 1 else seconds * 99
    print(f"  {what:<50} p50 {cuts[49] * 1000:8.3f} ms   p99 {cuts[98] * 1000:8.3f} ms")


if __name__ == "__main__":
    main()
