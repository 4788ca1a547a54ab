"""What is wanted of one Node, or of one `Devices` object, because of its cards: a neighbourhood in, actions out."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import msgspec
import pytest

from engine.api.devices import Devices
from engine.chain.conditions import Condition
from engine.cluster.actions import Delete, EmitEvent, MergePatch
from engine.cluster.objects import Node
from engine.cluster.resources import DEVICES, NODES, ObjectKey
from engine.domain.facts import CpuFacts
from engine.lang.outcome import Outcome, OutcomeKind
from engine.worker.asking import NodeAsker, SeenNode, seen_node
from engine.worker.cards import READ_DEVICES, NodeCards, read_cards
from engine.worker.controllers import devices, nodecapacity, nodefit
from engine.worker.controllers.devices import DevicesNeighbourhood
from engine.worker.controllers.nodecapacity import CapacityNeighbourhood
from engine.worker.controllers.nodefit import FitNeighbourhood
from tests.unit.features.world import program
from tests.unit.worker.replaced import Replaced, unknown

MANAGED = "gpustack.ai/managed"
A10G = "acceleratable.feature.gpustack.ai/nvidia-a10g"
UNITS = "sliced-max-free-units.fit.gpustack.ai/nvidia-a10g"
SHARES = "shared-free-cards.fit.gpustack.ai/nvidia-a10g"
LABELS = {MANAGED: "true", A10G: "true", f"{A10G}.count": "2", f"{A10G}.memory": "24Gi"}
TOKENS = {"cpu": "4", "nvidia.com/gpu": "2", "nvidia.com/gpu.shared": "20", "nvidia.com/gpu.sliced": "256"}
COUNTED = {
    "nvidia.com/gpu.sliced.cores-percentage": "25600",
    "nvidia.com/gpu.sliced.memory-mib": "49152",
    "nvidia.com/gpu.sliced.memory-percentage": "200",
    "nvidia.com/gpu.sliced.units": "3200k",
}
PROFILED = {
    "nvidia.com/gpu.partitioned": "7",
    "nvidia.com/gpu.partitioned.units": "1600k",
    "nvidia.com/gpu.partitioned.mig-1g.10gb": "7",
}


def asker(**sections: Any) -> NodeAsker:
    return NodeAsker(Replaced(**sections) if sections else program(), {})


ASKER = asker()


def node(labels: dict[str, str] | None = None, capacity: dict[str, str] | None = None, **metadata: Any) -> Node:
    return msgspec.convert(
        {
            "metadata": {
                "name": "n1",
                "uid": "u",
                "resourceVersion": "7",
                "labels": LABELS if labels is None else labels,
                **metadata,
            },
            "status": {"capacity": TOKENS if capacity is None else capacity},
        },
        Node,
    )


def card(number: int, slices: int = 128, **ability: Any) -> dict[str, Any]:
    status = {"logicalSliced": {"count": slices, "coresPercentageOvercommit": True}, **ability}
    return {"id": f"GPU-{number}", "index": number, "status": status}


def partitioned(number: int, *profiles: str) -> dict[str, Any]:
    offered = [
        {"name": name, "memoryMib": 9856, "count": 7, "placements": [{"start": at, "length": 1} for at in range(7)]}
        for name in profiles
    ]
    return card(number, 0, physicalSliced={"count": 7, "profiles": offered})


def row(number: int, remaining: int = 1_600_000, mode: int = 0, **more: Any) -> dict[str, Any]:
    return {"id": f"GPU-{number}", "index": number, "mode": mode, "remaining": remaining, **more}


def group(*cards: dict[str, Any], **parts: Any) -> dict[str, Any]:
    return {
        "id": "a10g",
        "manufacturer": "nvidia",
        "name": "NVIDIA A10G",
        "memory": 24563,
        "accelerators": cards,
    } | parts


def stated(*groups: dict[str, Any], taken: list[dict[str, Any]] | None = None, **metadata: Any) -> Devices:
    rows = [row(each["index"]) for one in groups for each in one["accelerators"]] if taken is None else taken
    status = [{"id": one["id"], "manufacturer": one["manufacturer"], "accelerators": rows} for one in groups]
    return msgspec.convert(
        {
            "metadata": {"name": "n1", "uid": "d", **metadata},
            "spec": {"groups": groups},
            "status": {"groups": status if rows else []},
        },
        Devices,
    )


def cards(*groups: dict[str, Any], taken: list[dict[str, Any]] | None = None) -> NodeCards:
    return read_cards(stated(*(groups or (group(card(0), card(1)),)), taken=taken))


def capacity_patch(seen: Node, found: NodeCards | None, ask: NodeAsker = ASKER) -> dict[str, Any]:
    actions = nodecapacity.plan(CapacityNeighbourhood(seen, found), ask)
    return {key: value for each in actions for key, value in each.patch["status"]["capacity"].items()}


def fit_patch(seen: Node, found: NodeCards | None, ask: NodeAsker = ASKER) -> dict[str, Any]:
    actions = nodefit.plan(FitNeighbourhood(seen, found), ask)
    return {key: value for each in actions for key, value in each.patch["metadata"]["labels"].items()}


# Capacity


def test_slices_are_counted_in_one_guarded_write_to_the_status_of_the_node() -> None:
    assert nodecapacity.plan(CapacityNeighbourhood(node(), cards()), ASKER) == [
        MergePatch(
            NODES,
            ObjectKey("", "n1"),
            {"status": {"capacity": COUNTED}},
            "engine-node-capacity",
            resource_version="7",
            subresource="status",
        )
    ]


def test_amounts_that_are_there_in_another_spelling_need_no_write() -> None:
    spelt = COUNTED | {"nvidia.com/gpu.sliced.units": "3200000", "nvidia.com/gpu.sliced.memory-mib": "49152.0"}
    assert capacity_patch(node(capacity=TOKENS | spelt), cards()) == {}


def test_only_what_differs_is_written() -> None:
    there = TOKENS | COUNTED | {"nvidia.com/gpu.sliced.units": "1600k", "nvidia.com/gpu.sliced.memory-mib": "junk"}
    assert capacity_patch(node(capacity=there), cards()) == {
        "nvidia.com/gpu.sliced.units": "3200k",
        "nvidia.com/gpu.sliced.memory-mib": "49152",
    }


@pytest.mark.parametrize("pool", [{}, {"nvidia.com/gpu.sliced": "0"}])
def test_a_family_goes_with_its_tokens_and_the_tokens_are_never_written(pool: dict[str, str]) -> None:
    there = {key: value for key, value in TOKENS.items() if key != "nvidia.com/gpu.sliced"} | COUNTED | pool
    assert capacity_patch(node(capacity=there), cards()) == dict.fromkeys(COUNTED)


def test_a_family_stays_while_it_is_merely_saturated() -> None:
    full = [row(0, 0, 3, allocatedSlices=128), row(1, 0, 1)]
    assert capacity_patch(node(capacity=TOKENS | COUNTED), cards(taken=full)) == {}


@pytest.mark.parametrize("labels", [{**LABELS, MANAGED: "false"}, {A10G: "true"}, {MANAGED: "true"}])
def test_an_unmanaged_node_and_one_whose_model_is_not_labelled_have_nothing_counted(labels: dict[str, str]) -> None:
    there = TOKENS | COUNTED | {"nvidia.com/gpu.partitioned.units": "1", "nvidia.com/gpu.partitioned.mig-old": "1"}
    gone = [*COUNTED, "nvidia.com/gpu.partitioned.units", "nvidia.com/gpu.partitioned.mig-old"]
    assert capacity_patch(node(labels, there), cards()) == dict.fromkeys(gone)
    assert capacity_patch(node(labels), cards()) == {}


def test_without_an_object_nothing_counts_and_with_one_that_cannot_be_read_nothing_changes() -> None:
    there = node(capacity=TOKENS | COUNTED)
    assert capacity_patch(there, None) == dict.fromkeys(COUNTED)
    assert nodecapacity.plan(CapacityNeighbourhood(there, None, is_told=False), ASKER) == []


def test_memory_is_counted_by_the_label_and_cards_by_the_object() -> None:
    # 2 × 24564 MiB of the driver would be 49126; the label's count is of another day
    labels = LABELS | {f"{A10G}.count": "9", f"{A10G}.memory": "20Gi"}
    assert capacity_patch(node(labels, TOKENS | COUNTED), cards()) == {
        "nvidia.com/gpu.sliced.memory-mib": str(2 * 20 * 1024)
    }


def test_every_profile_that_is_offered_is_counted_also_at_none_and_one_that_no_card_offers_goes() -> None:
    mig = group(partitioned(0, "1g.10gb", "7g.80gb"))
    taken = [
        row(
            0,
            0,
            4,
            allocatedProfiles=[{"name": "1g.10gb", "count": 3}],
            remainingProfiles=[{"name": "1g.10gb", "count": 2}, {"name": "7g.80gb", "count": 0}],
        )
    ]
    there = {"nvidia.com/gpu.partitioned": "5", "nvidia.com/gpu.partitioned.mig-2g.20gb": "1"}
    assert capacity_patch(node(capacity=there), cards(mig, taken=taken)) == {
        "nvidia.com/gpu.partitioned.mig-1g.10gb": "5",
        "nvidia.com/gpu.partitioned.mig-2g.20gb": None,
        "nvidia.com/gpu.partitioned.mig-7g.80gb": "0",
        "nvidia.com/gpu.partitioned.units": "1600k",
    }


def test_a_card_without_a_row_counts_its_ceiling() -> None:
    found = capacity_patch(
        node(capacity={"nvidia.com/gpu.partitioned": "7"}), cards(group(partitioned(0, "1g.10gb")), taken=[])
    )
    assert found == {key: value for key, value in PROFILED.items() if key != "nvidia.com/gpu.partitioned"}


def test_a_base_without_partitions_owns_no_partitioned_name() -> None:
    there = {"amd.com/gpu.partitioned.units": "1", "amd.com/gpu.sliced.units": "1", "example.com/gpu.sliced.units": "1"}
    assert capacity_patch(node(capacity=there), cards()) == {"amd.com/gpu.sliced.units": None}


def test_what_rules_cannot_tell_leaves_the_capacity_as_it_is() -> None:
    there = node(capacity={**TOKENS, "nvidia.com/gpu.sliced.units": "1"})
    for ask in (asker(capacity=unknown), asker(resources=unknown)):
        assert capacity_patch(there, cards(), ask) == {}
        (told,) = nodecapacity.count(CapacityNeighbourhood(there, cards()), ask).conditions
        assert told.reason == "CouldNotTell"


def test_a_node_that_is_being_deleted_is_left_alone() -> None:
    leaving = node(deletionTimestamp="2026-11-29T12:00:00Z")
    assert capacity_patch(leaving, cards()) == {}
    assert fit_patch(leaving, cards()) == {}


def test_cards_of_a_maker_without_a_pack_count_for_nothing_are_told_and_harm_no_other() -> None:
    other = group(card(7), id="x1", manufacturer="acme")
    found = cards(group(card(0), card(1)), other)
    assert capacity_patch(node(), found) == COUNTED
    assert fit_patch(node(), found) == {UNITS: "1600000", SHARES: "2"}
    (told,) = nodecapacity.count(CapacityNeighbourhood(node(), found), ASKER).conditions
    assert told.reason == "NoPack"
    assert "1 cards of acme count for nothing: no pack of that name is in force; add the pack" in told.message


def test_a_memory_label_that_is_no_quantity_is_told_with_the_one_that_is_wanted() -> None:
    labels = LABELS | {f"{A10G}.memory": "a-lot"}
    assert capacity_patch(node(labels), cards())["nvidia.com/gpu.sliced.memory-mib"] == "0"
    (told,) = nodecapacity.count(CapacityNeighbourhood(node(labels), cards()), ASKER).conditions
    assert (told.reason, f"label {A10G}.memory of the node is 'a-lot'" in told.message) == ("NotAQuantity", True)


def test_an_amount_beyond_what_can_be_counted_leaves_the_capacity_as_it_is_and_is_told() -> None:
    seen = node(LABELS | {f"{A10G}.memory": "99999Ei"}, TOKENS | {"nvidia.com/gpu.sliced.units": "1"})
    assert capacity_patch(seen, cards()) == {}
    (told,) = nodecapacity.count(CapacityNeighbourhood(seen, cards()), ASKER).conditions
    assert (told.reason, "nvidia" in told.message) == ("CouldNotTell", True)


def test_a_rule_that_counts_below_none_or_under_another_name_is_not_followed_there_but_told() -> None:
    amounts = {"nvidia.com/gpu": 9, "nvidia.com/gpu.sliced.units": -1, "nvidia.com/gpu.sliced.memory-percentage": 5}
    ask = asker(capacity=lambda: Outcome(OutcomeKind.VALUE, amounts))
    seen = node(capacity=TOKENS | {"nvidia.com/gpu.sliced.units": "1"})
    assert capacity_patch(seen, cards(), ask) == {"nvidia.com/gpu.sliced.memory-percentage": "5"}
    told = nodecapacity.count(CapacityNeighbourhood(seen, cards()), ask).conditions
    assert [each.reason for each in told] == ["NotWritten", "NotWritten"]


@pytest.mark.parametrize("name", ["1g.10gb+me", "9" * 60, "", "a/b"])
def test_a_profile_whose_name_makes_no_resource_is_left_out_and_told(name: str) -> None:
    found = cards(group(partitioned(0, "1g.10gb", name)))
    pool = {"nvidia.com/gpu.partitioned": "7"}
    assert capacity_patch(node(capacity=pool), found) == {
        key: value for key, value in PROFILED.items() if key not in pool
    }
    told = nodecapacity.count(CapacityNeighbourhood(node(capacity=pool), found), ASKER).conditions
    assert [each.reason for each in told] == ["NotWritten"]


# Fit labels


def test_fit_labels_say_the_largest_slice_and_the_cards_with_a_share_in_one_guarded_write() -> None:
    taken = [row(0, 1_200_000, 3, allocatedSlices=1), row(1, 0, 1)]
    assert nodefit.plan(FitNeighbourhood(node(), cards(taken=taken)), ASKER) == [
        MergePatch(
            NODES,
            ObjectKey("", "n1"),
            {"metadata": {"labels": {SHARES: "0", UNITS: "1200000"}}},
            "engine-node-fit",
            resource_version="7",
        )
    ]


@pytest.mark.parametrize(
    ("taken", "units", "shares"),
    [
        ([row(0), row(1)], "1600000", "2"),
        ([row(0, 0, 1), row(1, 0, 1)], "0", "0"),
        ([row(0, 160_000, 2), row(1, 0, 2)], "0", "1"),
        ([row(0, 800_000, 3, allocatedSlices=128), row(1, 16_000, 3, allocatedSlices=2)], "16000", "0"),
        ([row(0, 1_599_999, 2), row(1, 0, 3, allocatedSlices=4)], "0", "1"),
        ([row(0)], "1600000", "1"),
    ],
)
def test_fit_labels_follow_the_ledger(taken: list[dict[str, Any]], units: str, shares: str) -> None:
    assert fit_patch(node(), cards(taken=taken)) == {UNITS: units, SHARES: shares}


def test_labels_that_are_right_need_no_write_and_stale_ones_go() -> None:
    right = LABELS | {UNITS: "1600000", SHARES: "2"}
    assert fit_patch(node(right), cards()) == {}
    stale = {"shared-free-cards.fit.gpustack.ai/nvidia-gone": "1", "sliced-max-free-units.fit.gpustack.ai/x": "1"}
    assert fit_patch(node(right | stale), cards()) == dict.fromkeys(stale)


def test_a_node_out_of_management_or_without_a_ledger_has_none() -> None:
    right = {UNITS: "1600000", SHARES: "2"}
    for seen, found in (
        (node({**LABELS, **right, MANAGED: "false"}), cards()),
        (node({**right, A10G: "true"}), cards()),
        (node(LABELS | right), None),
        (node(LABELS | right), cards(taken=[])),
    ):
        assert fit_patch(seen, found) == dict.fromkeys(right)
    assert nodefit.plan(FitNeighbourhood(node(LABELS | right), None, is_told=False), ASKER) == []


def test_a_population_without_a_card_has_no_label() -> None:
    assert fit_patch(node(), cards(group(card(0, 0)))) == {SHARES: "1"}
    assert fit_patch(node(LABELS | {UNITS: "1"}), cards(group(partitioned(0, "1g.10gb")))) == {UNITS: None}


def test_fit_labels_that_cannot_be_told_stay() -> None:
    assert fit_patch(node(LABELS | {UNITS: "5"}), cards(), asker(fit_labels=unknown)) == {}
    (told,) = nodefit.find_room(FitNeighbourhood(node(), cards()), asker(fit_labels=unknown)).conditions
    assert told.reason == "CouldNotTell"


@pytest.mark.parametrize("name", ["x" * 57, "ends-", "sp ace"])
def test_a_key_that_is_no_label_is_left_out_told_and_harms_no_other(name: str) -> None:
    odd = group(card(7), id=name)
    found = read_cards(stated(group(card(0), card(1)), odd, taken=[row(0), row(1), row(7)]))
    assert fit_patch(node(), found) == {UNITS: "1600000", SHARES: "2"}
    told = nodefit.find_room(FitNeighbourhood(node(), found), ASKER).conditions
    assert {each.reason for each in told} == {"NotWritten"}
    assert all("give the group a shorter or plainer id" in each.message for each in told)


def test_a_key_of_63_bytes_is_a_label() -> None:
    name = "x" * (63 - len("nvidia-"))
    found = read_cards(stated(group(card(0), id=name), taken=[row(0)]))
    assert f"shared-free-cards.fit.gpustack.ai/nvidia-{name}" in fit_patch(node(), found)


# Devices

CPU = CpuFacts(vendor_id="AMD", family="23", model_id="49", name="AMD EPYC 7R32")
GENERAL = "general.feature.gpustack.ai/amd-epyc-7r32"
PROFILE = "topology.gpustack.ai/profile"
NODE_LABELS = {MANAGED: "true", GENERAL: "true", f"{GENERAL}.count": "4", PROFILE: "fnv64-1", "mine": "x"}


def seen(labels: dict[str, str]) -> SeenNode:
    return seen_node(node(labels), ASKER.keys, CPU)


def relabelled(now: dict[str, str], wanted: dict[str, str], ask: NodeAsker = ASKER) -> dict[str, Any]:
    actions = devices.plan(DevicesNeighbourhood("n1", stated(labels=now), seen(wanted)), ask)
    return {key: value for each in actions for key, value in each.patch["metadata"]["labels"].items()}


def test_mark_profile_and_the_key_of_the_cpu_are_mirrored_and_nothing_else() -> None:
    assert devices.plan(DevicesNeighbourhood("n1", stated(), seen(NODE_LABELS)), ASKER) == [
        MergePatch(
            READ_DEVICES,
            ObjectKey("", "n1"),
            {"metadata": {"labels": {GENERAL: "true", MANAGED: "true", PROFILE: "fnv64-1"}}},
            "engine-devices",
        )
    ]


def test_other_general_labels_and_stale_values_go_and_the_device_managers_stay() -> None:
    now = {
        MANAGED: "false",
        PROFILE: "old",
        GENERAL: "true",
        "general.feature.gpustack.ai/other": "true",
        f"{GENERAL}.count": "4",
        A10G: "true",
        "kubernetes.io/os": "plan9",
        "mine": "1",
    }
    assert relabelled(now, NODE_LABELS) == {
        MANAGED: "true",
        PROFILE: "fnv64-1",
        "general.feature.gpustack.ai/other": None,
        f"{GENERAL}.count": None,
    }
    assert relabelled({MANAGED: "true", PROFILE: "fnv64-1", GENERAL: "true"}, {}) == {
        MANAGED: None,
        PROFILE: None,
        GENERAL: None,
    }


def test_an_object_that_mirrors_its_node_needs_nothing_and_one_that_goes_neither() -> None:
    right = {MANAGED: "true", PROFILE: "fnv64-1", GENERAL: "true", "kubernetes.io/os": "linux"}
    assert relabelled(right, NODE_LABELS) == {}
    leaving = stated(deletionTimestamp="2026-11-29T12:00:00Z")
    assert devices.plan(DevicesNeighbourhood("n1", leaving, seen(NODE_LABELS)), ASKER) == []
    assert devices.plan(DevicesNeighbourhood("n1", leaving, is_node_gone=True), ASKER) == []


@pytest.mark.parametrize("section", ["devices_labels", "cpu"])
def test_labels_of_devices_that_cannot_be_told_stay(section: str) -> None:
    assert relabelled({MANAGED: "false", GENERAL: "true"}, NODE_LABELS, asker(**{section: unknown})) == {}


def test_an_object_is_deleted_only_when_the_api_server_itself_says_that_its_node_is_gone() -> None:
    assert devices.plan(DevicesNeighbourhood("n1", stated()), ASKER) == []
    (made,) = devices.plan(DevicesNeighbourhood("n1", stated(), is_node_gone=True), ASKER)
    assert made == Delete(READ_DEVICES, ObjectKey("", "n1"), uid="d")
    assert str(made.resource) == str(DEVICES)
    there = DevicesNeighbourhood("n1", stated(labels=dict(NODE_LABELS)), seen(NODE_LABELS), is_node_gone=True)
    assert all(isinstance(each, MergePatch) for each in devices.plan(there, ASKER)), "a Node that is back wins"


def test_what_is_wrong_with_an_object_is_told_on_it() -> None:
    right = {MANAGED: "true", PROFILE: "fnv64-1", GENERAL: "true"}
    around = DevicesNeighbourhood("n1", stated(labels=right), seen(NODE_LABELS))
    told = replace(around, conditions=(Condition("capacity", "NoPack", "add the pack"),))
    (event,) = devices.plan(told, ASKER)
    assert isinstance(event, EmitEvent)
    assert (event.reason, event.note, event.kind) == ("NoPack", "add the pack", "Warning")
    assert (event.regarding.kind, event.regarding.key.name) == ("Devices", "n1")


def test_an_object_that_never_could_be_read_is_told_of_by_its_name() -> None:
    around = DevicesNeighbourhood("n1", None, conditions=(Condition("cards", "Unreadable", "cores: -1"),))
    (event,) = devices.plan(around, ASKER)
    assert (event.regarding.kind, event.regarding.key.name, event.reason) == ("Devices", "n1", "Unreadable")
