"""The node half on recorded machines and the shipped rules: the walkthrough's golden facts, and hardware partitions."""

from __future__ import annotations

from dataclasses import replace

import pytest

from engine.chain.contribution import FlavorShare
from engine.chain.node import NodePlan, NodePlanner, plan_node
from engine.domain.facts import NodeFacts, Placement
from engine.domain.ledger import Mode, charge, charge_partition, free_state
from engine.domain.units import Credits
from tests.unit.chain.linked_rules import SETTINGS, machine, program

HOSTNAME_PROFILE = "fnv64-87bf574bea2a4f23"
# The recorded Node of step 1; every other label the plan has is in BESIDE.
RECORDED = {
    "kubernetes.io/os": "linux",
    "kubernetes.io/arch": "amd64",
    "gpustack.ai/managed": "true",
    "general.feature.gpustack.ai/amd": "true",
    "general.feature.gpustack.ai/amd-epyc-7r32": "true",
    "general.feature.gpustack.ai/amd-epyc-7r32.count": "4",
    "acceleratable.feature.gpustack.ai/nvidia": "true",
    "acceleratable.feature.gpustack.ai/nvidia-a10g": "true",
    "acceleratable.feature.gpustack.ai/nvidia-a10g.count": "1",
    "acceleratable.feature.gpustack.ai/nvidia-a10g.memory": "24Gi",
    "acceleratable.feature.gpustack.ai/nvidia-a10g.cores": "10240",
    "acceleratable.feature.gpustack.ai/nvidia-a10g.family": "Ampere",
    "acceleratable.feature.gpustack.ai/nvidia-a10g.product": "NVIDIA-A10G",
    "acceleratable.feature.gpustack.ai/nvidia-a10g.comcap": "8.6",
    "acceleratable.feature.gpustack.ai/nvidia.driver-version": "580.159.03",
    "acceleratable.feature.gpustack.ai/nvidia.runtime-version": "13.0",
}
BESIDE = {
    "kubernetes.io/hostname": "node-a10g",
    "feature.gpustack.ai/acceleratable": "true",
    "topology.gpustack.ai/profile": HOSTNAME_PROFILE,
    "sliced-max-free-units.fit.gpustack.ai/nvidia-a10g": "1600000",
    "shared-free-cards.fit.gpustack.ai/nvidia-a10g": "1",
}


def _plan(path: str, **settings: bool) -> NodePlan:
    return plan_node(machine(path), program(), {**SETTINGS, **settings})


def test_the_recorded_node_has_its_labels_and_what_is_known_to_come_beside_them() -> None:
    assert dict(_plan("walkthrough/node-a10g.yaml").labels) == RECORDED | BESIDE


def test_the_workers_part_is_what_its_recorded_node_feature_holds() -> None:
    recorded = {key: value for key, value in RECORDED.items() if key.startswith(("gpustack.ai/", "general."))}
    assert dict(_plan("walkthrough/node-a10g.yaml").worker_feature_labels) == recorded


def test_the_recorded_devices_object_has_its_labels() -> None:
    assert dict(_plan("walkthrough/node-a10g.yaml").devices_labels) == {
        "kubernetes.io/os": "linux",
        "kubernetes.io/arch": "amd64",
        "gpustack.ai/managed": "true",
        "topology.gpustack.ai/profile": HOSTNAME_PROFILE,
        "general.feature.gpustack.ai/amd-epyc-7r32": "true",
        "acceleratable.feature.gpustack.ai/nvidia-a10g": "true",
    }


def test_the_recorded_capacity_is_counted_from_one_card() -> None:
    capacity = _plan("walkthrough/node-a10g.yaml").capacity
    base = "nvidia.com/gpu"
    assert {key: value for key, value in capacity.items() if base in key or "visibility" in key} == {
        base: "1",
        f"{base}.shared": "10",
        f"{base}.sliced": "128",
        f"{base}.sliced.units": "1600k",
        f"{base}.sliced.cores-percentage": "12800",
        f"{base}.sliced.memory-percentage": "100",
        f"{base}.sliced.memory-mib": "24576",
        "device.gpustack.ai/nvidia.visibility": "512",
    }
    assert capacity["cpu"] == "4"


def test_cpu_facts_are_annotations() -> None:
    annotations = _plan("walkthrough/node-a10g.yaml").annotations
    assert annotations["feature.gpustack.ai/cpu-name"] == "AMD EPYC 7R32"
    assert annotations["feature.gpustack.ai/cpu-logical-cores"] == "4"


@pytest.mark.parametrize(
    ("path", "shares"),
    [
        ("walkthrough/node-cpu.yaml", [(None, 16)]),
        ("walkthrough/node-a10g.yaml", [(None, 4), ("nvidia-a10g", 1)]),
        ("walkthrough/node-t4-a.yaml", [(None, 4), ("nvidia-tesla-t4", 1)]),
        ("walkthrough/node-t4-b.yaml", [(None, 48), ("nvidia-tesla-t4", 4)]),
    ],
)
def test_a_node_feeds_its_cpu_flavor_and_one_for_each_key(path: str, shares: list[tuple[str | None, int]]) -> None:
    plan = _plan(path)
    assert plan.contribution.shares == tuple(FlavorShare(*share) for share in shares)
    assert plan.conditions == ()


def test_an_accelerated_node_feeds_no_cpu_flavor_when_nodes_are_not_mixed() -> None:
    assert _plan("walkthrough/node-a10g.yaml", instanceTypeMixedOnNode=False).contribution.shares == (
        FlavorShare("nvidia-a10g", 1),
    )
    cpu_only = _plan("walkthrough/node-cpu.yaml", instanceTypeMixedOnNode=False)
    assert cpu_only.labels["feature.gpustack.ai/cpu-only"] == "true"


def test_a_node_without_cards_is_labelled_so_and_has_no_devices_object() -> None:
    plan = _plan("walkthrough/node-cpu.yaml")
    assert plan.labels["feature.gpustack.ai/acceleratable"] == "false"
    assert (plan.groups, dict(plan.devices_labels)) == ((), {})


def test_the_contribution_says_what_flavors_and_views_need_and_no_more() -> None:
    facts = machine("walkthrough/node-a10g.yaml")
    contribution = _plan("walkthrough/node-a10g.yaml").contribution
    (group,) = contribution.groups
    assert (group.product, group.family, group.memory, group.cores) == ("NVIDIA-A10G", "Ampere", "24Gi", "10240")
    assert (group.sliceable, group.logical_slices, group.cores_overcommit) == (True, 128, True)
    assert group.summary is not None
    assert (group.summary.whole_cards, group.summary.free_shares, group.summary.free_percent) == (1, 10, 100)
    text = repr(contribution)
    for secret in (facts.name, facts.libraries[0].cards[0].uuid, facts.libraries[0].cards[0].pci or "-"):
        assert secret not in text


def test_two_nodes_of_one_kind_contribute_one_value() -> None:
    facts = machine("walkthrough/node-t4-b.yaml")
    planner = NodePlanner(program(), SETTINGS)
    other = _renamed(facts, "node-t4-c")
    first, second = planner.plan(facts).contribution, planner.plan(other).contribution
    assert first == second
    assert hash(first) == hash(second)


def test_a_second_node_of_a_kind_asks_the_rules_nothing() -> None:
    asked: list[str] = []

    class Counting:
        makers = program().makers

        def block(self, name: str, maker: str | None = None) -> object:
            return program().block(name, maker)

        def evaluate(self, section: str, inputs: dict[str, object], maker: str | None = None) -> object:
            asked.append(section)
            return program().evaluate(section, inputs, maker)

    planner = NodePlanner(Counting(), SETTINGS)  # type: ignore[arg-type]
    facts = machine("walkthrough/node-t4-b.yaml")
    planner.plan(facts)
    assert {"model", "features", "group", "resources", "capacity", "contributes"} <= set(asked)
    assert asked.count("features") == 1, "four equal cards are one question"
    asked.clear()
    planner.plan(_renamed(facts, "node-t4-c"))
    assert asked == []


@pytest.mark.parametrize("label", ["false", "no"])
def test_an_unmanaged_node_keeps_its_label_and_counts_nothing(label: str) -> None:
    plan = plan_node(machine("walkthrough/node-a10g.yaml"), program(), SETTINGS, managed_label=label)
    assert plan.labels["gpustack.ai/managed"] == label
    assert plan.contribution.shares == ()
    assert not [key for key in plan.labels if ".fit." in key]
    assert "nvidia.com/gpu.sliced" in plan.capacity, "the plugin's own tokens stay"
    assert not [key for key in plan.capacity if key.startswith("nvidia.com/gpu.sliced.")]


def test_the_label_a_node_already_has_is_seen() -> None:
    facts = machine("walkthrough/node-a10g.yaml")
    plan = plan_node(replace(facts, labels={**facts.labels, "gpustack.ai/managed": "false"}), program(), SETTINGS)
    assert plan.contribution.managed == "false"


def test_under_manual_management_a_new_node_is_not_labelled() -> None:
    plan = _plan("walkthrough/node-a10g.yaml", nodeManagementManual=True)
    assert "gpustack.ai/managed" not in plan.labels
    assert plan.contribution.managed is None
    assert plan.contribution.shares == ()


def test_a_slice_that_is_taken_shows_in_fit_labels_and_not_in_capacity() -> None:
    facts = machine("walkthrough/node-a10g.yaml")
    before = plan_node(facts, program(), SETTINGS)
    (card,) = before.groups[0].cards
    ledger = {card.uuid: charge(free_state(card), Mode.SLICED, Credits(320_000))}
    after = plan_node(facts, program(), SETTINGS, ledger=ledger)
    assert after.labels["sliced-max-free-units.fit.gpustack.ai/nvidia-a10g"] == "1280000"
    assert after.labels["shared-free-cards.fit.gpustack.ai/nvidia-a10g"] == "0"
    assert after.capacity == before.capacity
    summary = after.contribution.groups[0].summary
    assert summary is not None
    assert summary.free_percent == 80


def test_a_node_whose_cards_are_all_in_partitions_publishes_only_partitions() -> None:
    plan = _plan("mig/node-h100-mig.yaml")
    base = "nvidia.com/gpu.partitioned"
    assert {key: value for key, value in plan.capacity.items() if key.startswith("nvidia.com/gpu")} == {
        base: "56",
        f"{base}.units": "12800k",
        f"{base}.mig-1g.10gb": "56",
        f"{base}.mig-1g.20gb": "32",
        f"{base}.mig-2g.20gb": "24",
        f"{base}.mig-3g.40gb": "16",
        f"{base}.mig-4g.40gb": "8",
        f"{base}.mig-7g.80gb": "8",
    }
    assert not [key for key in plan.labels if ".fit." in key]
    (group,) = plan.contribution.groups
    assert [name for name, _, _ in group.partition_ceilings][:2] == ["1g.10gb", "1g.20gb"]
    assert {name: count for name, count, _ in group.partition_ceilings}["3g.40gb"] == 16


def test_one_partition_that_is_taken_leaves_the_totals_of_the_worked_example() -> None:
    facts = machine("mig/node-h100-mig.yaml")
    groups = plan_node(facts, program(), SETTINGS).groups
    cards = groups[0].cards
    ledger = {card.uuid: free_state(card) for card in cards}
    first = cards[0]
    ledger[first.uuid] = charge_partition(ledger[first.uuid], first, "3g.40gb", Placement(0, 4), Credits(800_000))
    plan = plan_node(facts, program(), SETTINGS, ledger=ledger)
    base = "nvidia.com/gpu.partitioned"
    assert [plan.capacity[f"{base}.mig-{name}"] for name in ("1g.10gb", "1g.20gb", "2g.20gb", "3g.40gb")] == [
        "52", "30", "22", "16",
    ]  # fmt: skip
    assert plan.capacity[base] == "53"
    summary = plan.contribution.groups[0].summary
    assert summary is not None
    assert summary.free_partitions == 52


def test_a_profile_with_attributes_is_left_out_and_told_once() -> None:
    plan = _plan("mig/node-h100-mig.yaml")
    assert [(each.section, each.reason) for each in plan.conditions] == [("profile", "ProfileNotOffered")]


def test_a_card_that_cannot_be_read_stays_in_the_count_and_serves_nothing() -> None:
    plan = _plan("mig/node-h100-unreadable.yaml")
    key = "acceleratable.feature.gpustack.ai/nvidia-h100-80gb-hbm3"
    assert plan.labels[f"{key}.count"] == "8"
    assert plan.capacity["nvidia.com/gpu"] == "4"
    assert plan.capacity["nvidia.com/gpu.partitioned"] == "21"
    assert FlavorShare("nvidia-h100-80gb-hbm3", 8) in plan.contribution.shares
    assert ("features", "CouldNotTell") in [(each.section, each.reason) for each in plan.conditions]


def test_a_card_without_a_memory_figure_is_whole_or_shared_and_has_no_memory_label() -> None:
    plan = _plan("nodes/node-gb10.yaml")
    assert plan.capacity["nvidia.com/gpu.shared"] == "10"
    assert not [key for key in plan.capacity if "sliced" in key]
    assert not [key for key in plan.labels if key.endswith(".memory") or "sliced-max" in key]
    assert plan.labels["shared-free-cards.fit.gpustack.ai/nvidia-gb10"] == "1"


def test_two_models_add_up_and_the_least_memory_is_the_groups() -> None:
    plan = _plan("nodes/node-two-models.yaml")
    assert plan.capacity["nvidia.com/gpu.sliced.memory-mib"] == str(24 * 1024 + 2 * 15 * 1024)
    assert ("group", "CardsDiffer") in [(each.section, each.reason) for each in plan.conditions]


def test_a_display_card_is_left_out_and_the_next_card_is_index_0() -> None:
    plan = _plan("nodes/node-display.yaml")
    (card,) = plan.groups[0].cards
    assert (card.index, card.driver_index) == (0, 1)
    assert [each.reason for each in plan.conditions] == ["CardExcluded"]


def test_a_network_card_of_a_makers_vendor_is_no_accelerator() -> None:
    assert _plan("nodes/node-no-cpu.yaml").labels["feature.gpustack.ai/acceleratable"] == "false"


def test_a_cpu_without_identity_is_told_only_while_types_tell_cpus_apart() -> None:
    assert _plan("nodes/node-no-cpu.yaml").conditions == ()
    aware = _plan("nodes/node-no-cpu.yaml", instanceTypeAwareCpuManufacturer=True)
    assert [(each.section, each.reason) for each in aware.conditions] == [("cpu", "CpuUnidentified")]


def _renamed(facts: NodeFacts, name: str) -> NodeFacts:
    libraries = tuple(
        replace(library, cards=tuple(replace(card, uuid=f"{card.uuid}-{name}") for card in library.cards))
        for library in facts.libraries
    )
    return replace(facts, name=name, labels={"kubernetes.io/hostname": name}, libraries=libraries)
