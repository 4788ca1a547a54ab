"""Flavors, pools and queues at their edges: clashes, limits, disagreements, what could not be told."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from engine.chain.chain import Chain
from engine.chain.changes import NodeRemoved, NodeSet, SettingsChanged
from engine.lang.outcome import Outcome, OutcomeKind
from tests.unit.chain.shipped import Replaced, cluster, machines, node, program, unknown

A10G = "gpustack--nvidia-a10g-linux-amd64"
GENERIC = "gpustack--generic-linux-amd64"
T4 = "gpustack--nvidia-tesla-t4-linux-amd64"


def conditions(chain: Chain) -> list[tuple[str, str, str]]:
    return [(each.kind, each.name, each.reason) for each in chain.conditions()]


def with_value(**fields: Any) -> Any:
    def rule(_: Mapping[str, Any], outcome: Outcome) -> Outcome:
        return Outcome(OutcomeKind.VALUE, {**outcome.value, **fields}, outcome.fired)

    return rule


def test_two_kinds_of_node_under_one_flavor_name_are_a_condition_and_never_merged() -> None:
    chain = Chain(Replaced(flavor=with_value(name="the-one")))
    chain.apply([NodeSet(node("a", cores=4)), NodeSet(node("b", cores=16))])
    (flavor,) = chain.flavors()
    assert (flavor.name, flavor.key.count, flavor.capacity) == ("the-one", 4, 4)
    assert conditions(chain) == [("ResourceFlavor", "the-one", "NameClash")]
    chain.apply([NodeRemoved("a")])
    assert [each.key.count for each in chain.flavors()] == [16]
    assert conditions(chain) == []


def test_a_queue_takes_64_flavors_and_the_65th_is_refused_without_touching_others() -> None:
    chain = Chain(program())
    chain.apply(cluster())
    chain.apply(NodeSet(node(f"n{cores}", cores=cores)) for cores in range(100, 160))
    assert [each.reason for each in chain.conditions()] == ["FlavorsNearLimit"]
    queue = next(each for each in chain.queues() if each.name == GENERIC)
    assert len(queue.state.groups) == 64
    changed = chain.apply([NodeSet(node("straw", cores=200))])
    assert conditions(chain) == [("ClusterQueue", GENERIC, "TooManyFlavors")]
    assert "at most 64" in chain.conditions()[0].message
    assert next(each for each in chain.queues() if each.name == GENERIC).state.groups == queue.state.groups
    assert set(changed.objects["ClusterQueue"]) == {GENERIC}
    chain.apply([NodeRemoved("straw")])
    assert conditions(chain) == [("ClusterQueue", GENERIC, "FlavorsNearLimit")]


def test_47_flavors_are_no_news_and_48_are() -> None:
    chain = Chain(program())
    chain.apply(NodeSet(node(f"n{cores}", cores=cores)) for cores in range(1, 48))
    assert chain.conditions() == []
    chain.apply([NodeSet(node("n48", cores=48))])
    assert [each.reason for each in chain.conditions()] == ["FlavorsNearLimit"]


def test_a_fresh_queue_with_too_many_flavors_stays_held() -> None:
    chain = Chain(program())
    chain.apply(NodeSet(node(f"n{cores}", cores=cores)) for cores in range(1, 66))
    (queue,) = chain.queues()
    assert (queue.state.groups, queue.state.stop_policy, queue.state.has_empty_plan_hold) == ((), "Hold", True)
    assert chain.types()[0].status.phase == "Inactive"


def test_a_flavor_that_could_not_be_told_stays_as_it_was() -> None:
    told = {"flavor": True}
    chain = Chain(Replaced(flavor=lambda _, outcome: outcome if told["flavor"] else unknown()))
    chain.apply(cluster())
    before = chain.flavors()
    told["flavor"] = False
    chain.apply([NodeSet(node("n", cores=16))])
    assert chain.flavors() == before
    (condition,) = chain.conditions()
    assert (condition.kind, condition.reason) == ("ResourceFlavor", "CouldNotTell")
    assert "a test said so" in condition.message
    told["flavor"] = True
    chain.apply([NodeSet(node("n2", cores=16))])
    assert next(each.nodes for each in chain.flavors() if each.name.endswith("16c")) == 3
    assert chain.conditions() == []


def test_a_flavor_nobody_feeds_any_more_goes_with_its_condition() -> None:
    chain = Chain(Replaced(flavor=unknown))
    chain.apply([NodeSet(node("n", cores=16))])
    assert (chain.flavors(), [each.reason for each in chain.conditions()]) == ([], ["CouldNotTell"])
    chain.apply([NodeRemoved("n")])
    assert chain.conditions() == []


@pytest.mark.parametrize("section", ["quota", "checks"])
def test_a_queue_whose_rules_could_not_tell_keeps_what_it_had(section: str) -> None:
    told = {"it": True}
    chain = Chain(Replaced(**{section: lambda _, outcome: outcome if told["it"] else unknown()}))
    chain.apply(cluster())
    before = {each.name: each.state for each in chain.queues()}
    told["it"] = False
    chain.apply([SettingsChanged({"instance-type-mixed-on-node": "false"})])
    assert {each.name: each.state for each in chain.queues()} == before
    assert {each.reason for each in chain.conditions() if each.kind == "ClusterQueue"} == {"CouldNotTell"}


def test_flavors_of_one_queue_that_name_two_resources_are_refused() -> None:
    def by_capacity(inputs: Mapping[str, Any], outcome: Outcome) -> Outcome:
        resource = "odd" if inputs["flavor"]["capacity"] == 16 else "cpu"
        return Outcome(OutcomeKind.VALUE, outcome.value | {"resource": resource})

    chain = Chain(Replaced(quota=by_capacity))
    chain.apply([NodeSet(node("a", cores=4)), NodeSet(node("b", cores=16))])
    assert conditions(chain) == [("ClusterQueue", GENERIC, "CouldNotTell")]
    assert "cpu, odd" in chain.conditions()[0].message


def test_a_stop_policy_no_queue_has_makes_no_type() -> None:
    chain = Chain(Replaced(queue=with_value(stopPolicy="Never")))
    chain.apply([NodeSet(node("a"))])
    assert chain.types() == []
    assert "stop policy 'Never'" in chain.conditions()[0].message


def test_cards_of_a_maker_without_a_pack_feed_no_flavor_and_are_a_condition_of_their_node() -> None:
    facts = node("a", product="Thing")
    stranger = facts.libraries[0].__class__("acme", cards=facts.libraries[0].cards)
    chain = Chain(program())
    chain.apply([NodeSet(facts.__class__("a", "linux", "amd64", facts.capacity, cpu=facts.cpu, libraries=(stranger,)))])
    assert [each.accelerator for each in chain.flavors()] == [None]
    assert conditions(chain) == [("Node", "a", "NoPack")]


def test_unmixed_accelerated_nodes_feed_no_cpu_flavor() -> None:
    chain = Chain(program(), {"instance-type-mixed-on-node": "false"})
    chain.apply(cluster())
    assert [each.name for each in chain.flavors() if each.accelerator is None] == [
        "gpustack--amd-epyc-7r13-linux-amd64-16c"
    ]
    assert chain.flavors()[0].node_labels["feature.gpustack.ai/cpu-only"] == "true"


def test_nodes_of_another_topology_make_flavors_and_a_topology_of_their_own() -> None:
    chain = Chain(program())
    chain.apply([NodeSet(node("a")), NodeSet(node("b", levels=(("topology.kubernetes.io/zone", "z1"),)))])
    assert [each.name for each in chain.flavors()] == [
        "gpustack--amd-epyc-7r13-linux-amd64-16c",
        "gpustack--amd-epyc-7r13-linux-amd64-16c-fnv64-f7b1861ac0399767",
    ]
    assert [each.levels for each in chain.topologies()] == [
        ("kubernetes.io/hostname",),
        ("topology.kubernetes.io/zone", "kubernetes.io/hostname"),
    ]
    changed = chain.apply([NodeRemoved("b")])
    assert changed.removed["Topology"] == ("gpustack-fnv64-f7b1861ac0399767",)


def test_one_topology_name_for_two_hierarchies_is_a_condition() -> None:
    def one_name(_: Mapping[str, Any], outcome: Outcome) -> Outcome:
        return Outcome(OutcomeKind.VALUE, outcome.value | {"name": "gpustack-all"})

    chain = Chain(Replaced(topology=one_name))
    chain.apply([NodeSet(node("a")), NodeSet(node("b", levels=(("topology.kubernetes.io/zone", "z1"),)))])
    assert conditions(chain) == [("Topology", "gpustack-all", "LevelsDiffer")]
    assert len(chain.topologies()) == 1


def test_nodes_that_differ_in_a_fact_show_the_least_whatever_their_order() -> None:
    one = node("a", product="NVIDIA A10G", memory_mib=24563)
    other = node("b", product="NVIDIA A10G", memory_mib=8192)
    shown = []
    for order in ([one, other], [other, one]):
        chain = Chain(program())
        for facts in order:
            chain.apply([NodeSet(facts)])
        shown.append(next(each for each in chain.flavors() if each.accelerator))
    assert shown[0] == shown[1]
    assert shown[0].notes["memory"] == "8Gi", "as a quantity: 24Gi comes first as text"
    assert shown[0].capacity == 2


def test_cpus_that_differ_in_a_fact_show_the_least_text() -> None:
    chain = Chain(program())
    chain.apply([NodeSet(node("a", cpu="AMD EPYC 7R13 Processor")), NodeSet(node("b", cpu="AMD EPYC 7R13"))])
    (flavor,) = chain.flavors()
    assert (flavor.nodes, flavor.notes["product"]) == (2, "AMD EPYC 7R13")


def test_rows_of_one_name_that_differ_are_a_condition_that_names_both_flavors() -> None:
    chain = Chain(program())
    chain.apply(
        [
            NodeSet(node("a", product="NVIDIA A10G", memory_mib=24563)),
            NodeSet(node("b", product="NVIDIA A10G", memory_mib=49152, cards=2)),
        ]
    )
    row = next(each for each in chain.catalogue() if each.spec["acceleratable"])
    assert row.spec["memory"] == "24Gi"
    (condition,) = chain.conditions()
    assert (condition.kind, condition.name, condition.reason) == (
        "InstanceTypeFlavor",
        "gpustack--nvidia-a10g",
        "RowsDiffer",
    )
    assert "-1d" in condition.message
    assert "-2d" in condition.message
    chain.apply([NodeRemoved("b")])
    assert chain.conditions() == []


def test_a_key_is_sliceable_in_every_flavor_while_one_managed_card_of_it_is() -> None:
    plain = node("a", product="NVIDIA A10G", memory_mib=None)
    sliced = node("b", product="NVIDIA A10G", cards=2)

    def rows(chain: Chain) -> list[bool]:
        return [each.spec["sliceable"] for each in chain.catalogue() if each.spec["acceleratable"]]

    chain = Chain(program())
    chain.apply([NodeSet(plain)])
    assert rows(chain) == [False]
    chain.apply([NodeSet(sliced, "false")])
    assert rows(chain) == [False], "an unmanaged card does not count"
    chain.apply([NodeSet(sliced)])
    assert rows(chain) == [True]
    chain.apply([NodeRemoved("b")])
    assert rows(chain) == [False]


def test_one_pool_name_for_two_pools_is_a_condition() -> None:
    chain = Chain(Replaced(pool=with_value(name="pool")))
    chain.apply([NodeSet(node("a", product="NVIDIA A10G"))])
    assert [(each.name, each.reason) for each in chain.conditions()] == [("pool", "PoolsDiffer")]
    assert [each.name for each in chain.types()] == ["pool"]


def test_partitioned_cards_fill_the_fourth_view_and_list_their_profiles() -> None:
    facts = machines("mig")["node-h100-mixed"]
    chain = Chain(program())
    chain.apply([NodeSet(facts)])
    made = next(each for each in chain.types() if each.spec["acceleratable"])
    cards = facts.libraries[0].cards
    partitioned = sum(card.partitioning == "enabled" for card in cards)
    views = made.status.accelerator
    assert views.exclusive.capacity == len(cards) - partitioned
    assert (views.partitioned.once_max, views.partitioned.remaining) == (1, 7 * partitioned)
    assert ("7g.80gb", partitioned) in views.partitioned.remaining_profiles
    physical = made.status.detail["slicedDetail"]["physical"]
    assert {"name": "7g.80gb", "count": partitioned, "memoryMib": 81152} in physical["profiles"]
    chain.apply([NodeRemoved(facts.name)])
    gone = next(each for each in chain.types() if each.name == made.name)
    assert gone.status.accelerator.partitioned.remaining_profiles == ()
    assert gone.status.detail == {}


def test_runtime_versions_are_the_distinct_numeric_ones_ascending() -> None:
    chain = Chain(program())
    chain.apply(
        NodeSet(node(f"n{at}", product="NVIDIA A10G", runtime_version=version))
        for at, version in enumerate(["13.0", "9", "9.0", "12.10", "12.4.1", "dev", None])
    )
    detail = next(each.status.detail for each in chain.types() if each.name == A10G)
    assert detail["runtimeVersions"] == ["9.0", "12.4", "12.10", "13.0"]
    assert detail["runtimeVersion"] == "9.0"
    chain.apply([NodeRemoved("n0")])
    detail = next(each.status.detail for each in chain.types() if each.name == A10G)
    assert detail["runtimeVersions"] == ["9.0", "12.4", "12.10"]


def test_one_kind_of_node_is_one_value_however_many_there_are() -> None:
    chain = Chain(program())
    chain.apply(NodeSet(node(f"n{at}", product="NVIDIA A10G")) for at in range(50))
    contributions = {id(plan.contribution) for plan in (chain._nodes.plan(f"n{at}") for at in range(50)) if plan}
    kept = {id(known.contribution) for known in chain._nodes._known.values()}
    assert (len(contributions), len(kept)) == (50, 1)
