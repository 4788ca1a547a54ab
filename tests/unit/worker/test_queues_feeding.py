"""What feeds a queue: flavors read back by their own labels, and nodes that no flavor can select."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import msgspec

from engine.chain.queues import QueueRules
from engine.cluster.objects import Owned
from engine.domain.queue_plan import Overlap
from engine.worker.asking import SeenNode
from engine.worker.fleet import Fleet
from engine.worker.reading.feeding import Suffixes, is_orphan, live_flavor, overlapping, unfed, waiting_flavor
from engine.worker.settings import SettingsReader
from tests.golden.objects import read
from tests.unit.features.world import program

ACCELERATORS = "acceleratable.feature.gpustack.ai/"
CPUS = "general.feature.gpustack.ai/"
T4 = f"{ACCELERATORS}nvidia-tesla-t4"
CPU = f"{CPUS}amd-epyc-7r13"
PLACE = {"kubernetes.io/os": "linux", "kubernetes.io/arch": "amd64"}
NODE = PLACE | {"gpustack.ai/managed": "true", "topology.gpustack.ai/profile": "p"}
POOL = PLACE | {"feature.gpustack.ai/acceleratable": "true", T4: "true"}
CPU_POOL = PLACE | {"feature.gpustack.ai/acceleratable": "false"}
SETTINGS = SettingsReader(program().block("settings"), {}).first().values
SUFFIXES = Suffixes.of(program().block("constants"))


def fleet(*nodes: SeenNode) -> Fleet:
    made = Fleet(program(), SETTINGS)
    for each in nodes:
        made.put(each)
    return made


KEYS = fleet().asker.keys


def golden(name: str, **spec: Any) -> Owned:
    body = next(each for each in read("resourceflavors.yaml") if each["metadata"]["name"].endswith(name))
    return msgspec.convert({**body, "spec": body["spec"] | spec}, Owned)


def node(name: str = "n", **labels: str | None) -> SeenNode:
    keys = {"count": f"{T4}.count", "card": T4, "cpu": CPU, "cores": f"{CPU}.count"}
    given = NODE | {
        "feature.gpustack.ai/acceleratable": "true",
        T4: "true",
        f"{T4}.count": "1",
        CPU: "true",
        f"{CPU}.count": "4",
    }
    given |= {keys.get(key, key): value for key, value in labels.items()}  # type: ignore[misc]
    return SeenNode(
        name, "u", "linux", "amd64", "4", {key: text for key, text in given.items() if text is not None}, {}
    )


def is_in(selector: dict[str, str], each: SeenNode, *, mixes: bool = True) -> bool:
    found = unfed(each, KEYS, SUFFIXES)
    return found is not None and is_orphan(found, selector, KEYS, SUFFIXES, mixes=mixes)


def test_a_flavor_without_a_node_counts_as_its_labels_say() -> None:
    rules = QueueRules(program(), SETTINGS, ())
    cards = waiting_flavor(golden("t4-linux-amd64-4d"), rules, KEYS, SUFFIXES, acceleratable=True, has_topology=True)
    assert (cards.resource, cards.nominal) == ("credits.gpustack.ai/nvidia", 6_400_000)
    assert (cards.count, cards.capacity, cards.selected_nodes) == (4, 4, 1)
    assert cards.topology == cards.profile_topology == "gpustack-fnv64-87bf574bea2a4f23"
    cores = waiting_flavor(
        golden("7r13-linux-amd64-16c"), rules, KEYS, SUFFIXES, acceleratable=False, has_topology=True
    )
    assert (cores.resource, cores.nominal, cores.count) == ("cpu", 16, 16)
    bound = golden("t4-linux-amd64-4d", topologyName=None)
    unbound = waiting_flavor(
        msgspec.structs.replace(bound, spec={}), rules, KEYS, SUFFIXES, acceleratable=True, has_topology=False
    )
    assert (unbound.profile_topology, unbound.count) == (None, 0)


def seen(name: str, count: int, key: str = CPU) -> SeenNode:
    labels = NODE | {
        "topology.gpustack.ai/profile": "fnv64-87bf574bea2a4f23",
        "feature.node.kubernetes.io/cpu-model.vendor_id": "AMD",
        CPU: "true",
        f"{key}.count": str(count),
    }
    return SeenNode(
        name, "u", "linux", "amd64", str(count), labels, {"feature.gpustack.ai/cpu-name": "AMD EPYC 7R13 Processor"}
    )


def test_a_flavor_that_selects_others_than_it_should_is_held_against_the_nodes_there_are() -> None:
    nodes = fleet(seen("a", 16), seen("b", 16), seen("c", 8))
    entry = nodes.entry("gpustack--amd-epyc-7r13-linux-amd64-16c")
    assert entry is not None
    rules = QueueRules(program(), SETTINGS, ())
    right = live_flavor(golden("7r13-linux-amd64-16c"), entry, rules, nodes, acceleratable=False, has_topology=True)
    assert (right.capacity, right.selected_nodes) == (32, 2)
    wide = golden("7r13-linux-amd64-16c", nodeLabels={CPU: "true"})
    assert live_flavor(wide, entry, rules, nodes, acceleratable=False, has_topology=True).selected_nodes == 3


def test_flavors_of_one_key_never_overlap_and_those_of_several_are_looked_through() -> None:
    def card(key: str) -> dict[str, str]:
        own = f"{ACCELERATORS}{key}"
        return {own: "true", f"{own}.count": "1", f"{own}.product": key, "feature.gpustack.ai/acceleratable": "true"}

    both = seen("both", 16)
    mixed = replace(both, labels={**both.labels, **card("nvidia-a10g"), **card("nvidia-tesla-t4")})
    nodes = fleet(mixed)
    entries = {name: entry for name in nodes.flavor_names() if (entry := nodes.entry(name))}
    cards = {name: entry for name, entry in entries.items() if entry.fields.accelerator}
    a10g, t4 = sorted(cards)
    assert overlapping(cards, nodes) == (Overlap("both", a10g, t4),)
    assert overlapping({a10g: cards[a10g]}, nodes) == ()


def test_a_node_with_a_count_for_each_key_is_nobodys_orphan() -> None:
    assert unfed(node(), KEYS, SUFFIXES) is None
    assert unfed(node(count="x", **{"gpustack.ai/managed": "false"}), KEYS, SUFFIXES) is None
    assert unfed(node(count="x", **{"topology.gpustack.ai/profile": None}), KEYS, SUFFIXES) is None


def test_a_node_whose_card_count_is_missing_or_no_number_is_an_orphan_of_that_pool_alone() -> None:
    for count in (None, "0", "many"):
        assert is_in(POOL, node(count=count))
        assert not is_in(CPU_POOL, node(count=count))
        assert not is_in(
            PLACE | {"feature.gpustack.ai/acceleratable": "true", f"{ACCELERATORS}nvidia-a10g": "true"},
            node(count=count),
        )


def test_a_node_without_cores_is_an_orphan_of_cpu_pools_unless_cards_are_kept_apart() -> None:
    broken = node(cores="0")
    assert is_in(CPU_POOL, broken)
    assert is_in(CPU_POOL | {CPU: "true"}, broken)
    assert not is_in(CPU_POOL | {f"{CPUS}intel": "true"}, broken)
    assert not is_in(CPU_POOL, broken, mixes=False)
    assert is_in(CPU_POOL, node(cores="0", **{"feature.gpustack.ai/acceleratable": None}), mixes=False)


def test_a_node_whose_host_has_said_nothing_yet_is_no_orphan() -> None:
    assert not is_in(CPU_POOL, node(cpu=None, cores=None))
