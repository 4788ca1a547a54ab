"""What one apply looks at: nothing for what is unchanged, and only the way down from what changed."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any

import pytest

from engine.chain.chain import Chain
from engine.chain.changes import InstanceTypeSet, NamespaceSet, NodeSet, SettingsChanged
from engine.chain.contribution import CpuIdentity, FlavorShare, GroupShare, NodeContribution, Profile
from engine.chain.flavors import FlavorIndex, as_quantity
from engine.lang.outcome import Outcome, OutcomeKind
from tests.unit.chain.shipped import Replaced, cluster, node, program, unknown


class Counting:
    """A program that counts what it is asked."""

    def __init__(self) -> None:
        self.asked: Counter[str] = Counter()

    @property
    def makers(self) -> tuple[str, ...]:
        return program().makers

    def block(self, name: str, maker: str | None = None) -> Any:
        return program().block(name, maker)

    def evaluate(self, section: str, inputs: dict[str, Any], maker: str | None = None) -> Outcome:
        self.asked[section] += 1
        return program().evaluate(section, inputs, maker)


@pytest.fixture
def counting() -> Counting:
    return Counting()


def test_an_equal_snapshot_asks_the_program_nothing(counting: Counting) -> None:
    chain = Chain(counting)
    chain.apply(cluster())
    counting.asked.clear()
    assert not chain.apply(NodeSet(replace(each.facts, name=each.facts.name)) for each in cluster())
    assert not counting.asked


def test_a_namespace_asks_the_program_nothing(counting: Counting) -> None:
    chain = Chain(counting)
    chain.apply(cluster())
    counting.asked.clear()
    assert len(chain.apply([NamespaceSet("team")]).objects["LocalQueue"]) == 3
    assert not counting.asked


def test_one_more_node_of_a_known_kind_asks_about_its_flavors_alone(counting: Counting) -> None:
    chain = Chain(counting)
    chain.apply(NodeSet(node(f"n{at}", cores=at + 1, product=f"Card {at}")) for at in range(20))
    counting.asked.clear()
    changed = chain.apply([NodeSet(node("one-more", cores=5, product="Card 4"))])
    assert counting.asked["flavor"] == 2
    assert counting.asked["catalogue"] == 2
    assert not counting.asked.keys() & {"cpu", "topology", "type", "queue", "entrance", "pool"}
    assert len(changed.objects["ResourceFlavor"]) == 2
    assert len(changed.objects["InstanceType"]) == 2


def test_a_setting_asks_everything_again_but_keeps_what_comes_out_equal(counting: Counting) -> None:
    chain = Chain(counting)
    chain.apply(cluster())
    counting.asked.clear()
    assert not chain.apply([SettingsChanged({"workload-fit-affinity": "false"})])
    assert counting.asked["flavor"] == 7
    assert not chain.apply([SettingsChanged({"workload-fit-affinity": False})])


def test_a_node_whose_topology_could_not_be_told_feeds_nothing() -> None:
    chain = Chain(Replaced(topology=unknown))
    chain.apply([NodeSet(node("a"))])
    assert (chain.flavors(), chain.topologies()) == ([], [])
    assert [(each.kind, each.reason) for each in chain.conditions()] == [("Node", "CouldNotTell")]


def test_a_flavor_of_a_card_that_no_label_describes_feeds_nothing() -> None:
    index = FlavorIndex()
    profile = Profile("p", "gpustack-p", "", ("kubernetes.io/hostname",))
    share = FlavorShare("acme-x", 1)
    bare = NodeContribution("linux", "amd64", "true", profile, CpuIdentity("amd", "amd"), 4, True, (share,))
    assert index.add(bare) == set()
    assert (
        index.add(replace(bare, profile=None, groups=(GroupShare("acme-x", "acme", "X", None, None, "0", 1),))) == set()
    )
    assert index.groups == {}


def test_cards_known_by_label_alone_feed_a_flavor_and_no_view() -> None:
    labels = {
        "acceleratable.feature.gpustack.ai/nvidia": "true",
        "acceleratable.feature.gpustack.ai/nvidia-a10g": "true",
        "acceleratable.feature.gpustack.ai/nvidia-a10g.count": "2",
        "acceleratable.feature.gpustack.ai/nvidia-a10g.product": "NVIDIA-A10G",
        "feature.gpustack.ai/acceleratable": "true",
    }
    facts = node("a")
    chain = Chain(program())
    chain.apply([NodeSet(replace(facts, labels=dict(facts.labels) | labels, pci=None))])
    flavor = next(each for each in chain.flavors() if each.accelerator)
    assert (flavor.capacity, flavor.notes["cores"]) == (2, "0")
    made = next(each for each in chain.types() if each.spec["acceleratable"])
    assert made.status.accelerator.exclusive.capacity == 0
    assert made.status.detail["product"] == "NVIDIA-A10G"


def test_a_queue_created_drained_makes_its_type_inactive_for_good() -> None:
    def drained(_: object, outcome: Outcome) -> Outcome:
        made = outcome.value | {"stopPolicy": "HoldAndDrain", "annotations": {}}
        return Outcome(OutcomeKind.VALUE, made)

    spec = {"os": "linux", "arch": "amd64", "unitResources": {"cpu": "1", "ram": "1Gi"}, "localStorage": "1Gi"}
    chain = Chain(Replaced(queue=drained, pool_labels=lambda *_: Outcome(OutcomeKind.VALUE, {})))
    chain.apply([InstanceTypeSet("odd", spec)])
    assert chain.types()[0].spec["inactive"] is True
    assert chain.types()[0].status.phase == "Inactive"


def test_texts_that_are_no_quantities_come_after_those_that_are() -> None:
    assert sorted(["24Gi", "many", "8Gi", "few"], key=as_quantity) == ["8Gi", "24Gi", "few", "many"]
