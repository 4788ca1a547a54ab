"""What the node half does when a section could not tell, facts are missing, or answers disagree: nothing else is lost."""

from __future__ import annotations

from typing import Any

import pytest

from engine.chain.conditions import Condition, Findings
from engine.chain.known_devices import has_known_device, pci_matches
from engine.chain.node import NodePlan, NodePlanner
from engine.chain.node_memo import MAX_ANSWERS, Answers
from engine.chain.readback import Constants, read_count, read_groups
from engine.domain.facts import CardFacts, CpuFacts, DriverProfile, LibraryFacts, NodeFacts, PciFunction
from engine.domain.inventory import Card
from engine.domain.units import DriverIndex, Mib
from engine.errors import ContractError
from tests.unit.sections.typed_program import Rule, TypedProgram, could_not_tell

CONSTANTS = {
    "acceleratable": "acc/",
    "isAcceleratable": "is-acc",
    "note": "note/",
    "checkNodeDevices": "node-devices",
    "managed": "managed",
    "os": "os",
    "arch": "arch",
    "count": ".count",
    "memory": ".memory",
    "product": ".product",
    "family": ".family",
    "cores": ".cores",
}
BLOCKS = {
    ("constants", None): CONSTANTS,
    ("identity", "acme"): {
        "resource": "acme.com/gpu",
        "partitionKind": "mig",
        "pci": [{"vendor": "1a2b", "classPrefixes": ["03"]}],
    },
}
NAMES = {
    "exclusive": "x",
    "shared": "x.shared",
    "visibility": "v",
    "credits": "c",
    "sliced": {"token": "s", "units": "s.u", "cores": "s.c", "memory": "s.m", "mib": "s.i"},
    "partitioned": {"token": "p", "units": "p.u", "profilePrefix": "p."},
    "transformations": [],
}


def _group_labels(inputs: dict[str, Any]) -> dict[str, str]:
    group = inputs["group"]
    key = f"acc/{group['key']}"
    labels = {"is-acc": "true", key: "true", f"{key}.count": str(group["count"]), f"{key}.product": group["product"]}
    if "memoryMib" in group:
        labels[f"{key}.memory"] = f"{group['memoryMib']}Mi"
    return labels


def _shares(inputs: dict[str, Any]) -> list[dict[str, Any]]:
    return [
        {"count": inputs["node"]["cores"]},
        *({"accelerator": g["key"], "count": g["count"]} for g in inputs["groups"]),
    ]


RULES: dict[str, Rule] = {
    "cpu": lambda _: {"manufacturer": "generic", "key": "generic"},
    "managed": lambda _: {"value": "true"},
    "worker-labels": lambda _: {"general/generic": "true"},
    "group": lambda inputs: {"id": inputs["card"]["product"].lower(), "key": f"acme-{inputs['card']['product'].lower()}"},
    "device-labels": _group_labels,
    "topology": lambda _: {
        "profile": "f", "name": "n", "suffix": "", "levels": ["h"], "nodeLabels": {"profile": "f"}, "labels": {},
    },
    "resources": lambda _: NAMES,
    "capacity": lambda inputs: {"s.i": sum(each.get("labelMib", 0) for each in inputs["models"])},
    "devices-labels": lambda _: {"devices": "true"},
    "fit-labels": lambda inputs: {f"fit/{inputs['fit']['key']}": "1"},
    "contributes": _shares,
    "features": lambda _: _features(logicalSlices=4),
}  # fmt: skip


def _features(**fields: Any) -> dict[str, Any]:
    return {
        "logicalSlices": 0,
        "coresOvercommit": False,
        "partitions": False,
        "isolation": "none",
        "sliceReleasedOnTermination": True,
        "reserveMib": 0,
        "grantUnit": 1,
        **fields,
    }


def _card(number: int, **fields: Any) -> CardFacts:
    made: dict[str, Any] = {"name": "X1", "memory_mib": Mib(1024), **fields}
    return CardFacts(f"A-{number}", DriverIndex(number), **made)


def _facts(*cards: CardFacts, maker: str = "acme", **fields: Any) -> NodeFacts:
    made: dict[str, Any] = {"capacity": {"cpu": "3920m"}, "libraries": (LibraryFacts(maker, cards=cards),), **fields}
    return NodeFacts("node-1", "linux", "amd64", **made)


def _plan(facts: NodeFacts, **rules: Rule) -> NodePlan:
    changed = {name.replace("_", "-"): rule for name, rule in rules.items()}
    return NodePlanner(TypedProgram({**RULES, **changed}, BLOCKS), {}).plan(facts)  # type: ignore[arg-type]


def _reasons(plan: NodePlan) -> list[tuple[str, str]]:
    return [(each.section, each.reason) for each in plan.conditions]


def test_the_stand_in_plans_a_node_without_a_condition() -> None:
    plan = _plan(_facts(_card(0), _card(1)))
    assert plan.conditions == ()
    assert plan.labels["acc/acme-x1.count"] == "2"
    assert plan.contribution.cores == 4, "a part of a core is rounded up"
    assert plan.capacity["s.i"] == "1024"


@pytest.mark.parametrize(
    ("section", "lost", "kept"),
    [
        ("host-labels", "host", "acc/acme-x1"),
        ("managed", "managed", "acc/acme-x1"),
        ("topology", "profile", "general/generic"),
        ("worker-labels", "general/generic", "acc/acme-x1"),
        ("device-labels", "acc/acme-x1", "general/generic"),
        ("fit-labels", "fit/acme-x1", "acc/acme-x1"),
    ],
)
def test_a_section_that_could_not_tell_loses_only_its_own_labels(section: str, lost: str, kept: str) -> None:
    plan = _plan(_facts(_card(0)), **{section.replace("-", "_"): lambda _: could_not_tell("no idea")})
    assert lost not in plan.labels
    assert plan.labels[kept]
    assert (section, "CouldNotTell") in _reasons(plan)
    assert any("no idea" in each.message for each in plan.conditions)


def test_a_cpu_that_could_not_be_told_feeds_no_flavor() -> None:
    plan = _plan(_facts(_card(0)), cpu=lambda _: could_not_tell("cpu"))
    assert plan.contribution.shares == ()
    assert "general/generic" not in plan.labels
    assert dict(plan.devices_labels) == {"devices": "true"}
    assert _reasons(plan) == [("cpu", "CouldNotTell")]


def test_contributions_that_could_not_be_told_are_none() -> None:
    plan = _plan(_facts(_card(0)), contributes=lambda _: could_not_tell("x"))
    assert plan.contribution.shares == ()
    assert plan.contribution.groups[0].key == "acme-x1"


@pytest.mark.parametrize("section", ["resources", "capacity"])
def test_capacity_that_could_not_be_told_leaves_the_kubelets(section: str) -> None:
    plan = _plan(_facts(_card(0)), **{section: lambda _: could_not_tell("x")})
    assert plan.capacity["cpu"] == "3920m"
    assert "s.i" not in plan.capacity
    assert ("s" in plan.capacity) is (section == "capacity")


def test_devices_labels_that_could_not_be_told_are_none() -> None:
    assert dict(_plan(_facts(_card(0)), devices_labels=lambda _: could_not_tell("x")).devices_labels) == {}


def test_a_model_that_could_not_be_told_drops_that_card_alone() -> None:
    def model(inputs: dict[str, Any]) -> Any:
        return could_not_tell("odd") if inputs["card"]["name"] == "odd" else {"product": "X1"}

    plan = _plan(_facts(_card(0, name="odd"), _card(1)), model=model)
    (card,) = plan.groups[0].cards
    assert (card.uuid, card.index) == ("A-1", 0)
    assert ("model", "CouldNotTell") in _reasons(plan)


def test_a_card_that_nobody_names_is_dropped() -> None:
    plan = _plan(_facts(_card(0, name=None), _card(1)))
    assert [card.uuid for card in plan.groups[0].cards] == ["A-1"]
    assert _reasons(plan) == [("model", "CardDropped")]


def test_a_card_whose_group_has_no_name_is_dropped() -> None:
    plan = _plan(_facts(_card(0)), group=lambda _: could_not_tell("nothing left"))
    assert plan.groups == ()
    assert _reasons(plan) == [("group", "CouldNotTell")]


def test_cards_of_a_maker_without_a_pack_are_left_out_and_told() -> None:
    assert _reasons(_plan(_facts(_card(0), maker="unheard"))) == [("model", "NoPack")]
    assert _reasons(_plan(_facts(maker="unheard"))) == []


def test_a_makers_own_label_that_contradicts_the_common_one_is_not_written() -> None:
    plan = _plan(_facts(_card(0)), labels=lambda _: {"acc/acme-x1.product": "other", "own": "1", "is-acc": "true"})
    assert "acc/acme-x1.product" not in plan.labels
    assert plan.labels["own"] == "1"
    assert plan.labels["is-acc"] == "true", "equal pairs unify"
    assert _reasons(plan) == [("device-labels", "Disagreement")]


def test_a_cpu_quantity_that_is_none_is_told_and_kept() -> None:
    plan = _plan(_facts(capacity={"cpu": "four"}))
    assert plan.contribution.cores == 0
    assert plan.capacity["cpu"] == "four"
    assert _reasons(plan) == [("worker-labels", "NotAQuantity")]


def test_a_node_without_a_cpu_capacity_has_no_cores() -> None:
    assert _plan(_facts(capacity={})).contribution.cores == 0


@pytest.mark.parametrize("memory", [None, "much"])
def test_a_memory_label_that_says_nothing_counts_nothing(memory: str | None) -> None:
    def device_labels(inputs: dict[str, Any]) -> dict[str, str]:
        labels = _group_labels(inputs)
        del labels["acc/acme-x1.memory"]
        return labels | ({"acc/acme-x1.memory": memory} if memory else {})

    assert _plan(_facts(_card(0)), device_labels=device_labels).capacity["s.i"] == "0"


def test_labels_of_a_driver_that_is_silent_now_are_read_back_without_cards() -> None:
    labels = {"acc/acme-x1": "true", "acc/acme-x1.count": "2"}
    (group,) = _plan(_facts(labels=labels, libraries=())).contribution.groups
    assert (group.key, group.count, group.summary, group.sliceable) == ("acme-x1", 2, None, False)
    assert group.partition_ceilings == ()


def test_topology_levels_are_labels_of_the_node() -> None:
    asked: list[Any] = []

    def topology(inputs: dict[str, Any]) -> Any:
        asked.append(inputs["node"]["levels"])
        return RULES["topology"](inputs)

    plan = _plan(_facts(topology_levels=(("zone", "z1"), ("rack", "r1"))), topology=topology)
    assert asked == [["zone", "rack"]]
    assert (plan.labels["zone"], plan.labels["rack"]) == ("z1", "r1")


@pytest.mark.parametrize(
    ("pci", "cpu", "known"),
    [
        (None, None, None),
        (None, CpuFacts(vendor_id="AMD"), False),
        ((), None, False),
        ((PciFunction("0000:01:00.0", "030200", "1a2b", "0001"),), None, True),
        ((PciFunction("0000:01:00.0", "020000", "1a2b", "0001"),), None, False),
    ],
)
def test_a_device_is_denied_only_by_a_host_that_looked(pci: Any, cpu: CpuFacts | None, known: bool | None) -> None:
    seen: list[Any] = []

    def host_labels(inputs: dict[str, Any]) -> Any:
        seen.append(inputs["node"].get("knownDevice"))
        return {"labels": {"host": "1"}, "annotations": {"note": "2"}}

    plan = _plan(_facts(pci=pci, cpu=cpu), host_labels=host_labels)
    assert seen == [known]
    assert (plan.labels["host"], plan.annotations["note"]) == ("1", "2")


@pytest.mark.parametrize(
    ("row", "matches"),
    [
        ({"vendor": "1a2b", "classPrefixes": ["03"]}, True),
        ({"vendor": "1a2b", "classPrefixes": ["02", "0302"]}, True),
        ({"vendor": "1a2b", "classPrefixes": ["02"]}, False),
        ({"vendor": "ffff", "classPrefixes": ["03"]}, False),
        ({"vendor": "1a2b", "devices": ["0001"]}, True),
        ({"vendor": "1a2b", "classPrefixes": ["03"], "devices": ["0002"]}, False),
        ({"vendor": "1a2b", "classPrefixes": ["03"], "except": ["0001"]}, False),
        ({"vendor": "1a2b"}, False),
    ],
)
def test_a_pci_row_matches_vendor_and_class_or_device_less_exceptions(row: dict[str, Any], matches: bool) -> None:
    function = PciFunction("0000:01:00.0", "030200", "1a2b", "0001")
    assert has_known_device([function], pci_matches([{"pci": [row]}, {}])) is matches


def _offered(*profiles: DriverProfile, profile: Rule = lambda _: None) -> tuple[Card, NodePlan]:
    plan = _plan(
        _facts(_card(0, profiles=profiles)),
        features=lambda _: _features(partitions=True, isolation="hardware", logicalSlices=7),
        profile=profile,
    )
    return plan.groups[0].cards[0], plan


def test_a_card_in_partitions_has_no_slices_whatever_its_rule_says() -> None:
    card, plan = _offered(DriverProfile("P 2g.10GB", Mib(512), starts=(2, 0), span=2))
    assert (card.is_partitioned, card.logical_slices, card.is_sliceable) == (True, 0, False)
    assert [(p.published, p.driver_name, p.starts) for p in card.profiles] == [("2g.10gb", "2g.10gb", (0, 2))]
    assert plan.capacity["p"] == "2"
    assert plan.contribution.groups[0].partition_ceilings == (("2g.10gb", 2, 512),)


def test_a_profile_without_a_start_is_not_offered_and_not_worth_telling() -> None:
    card, plan = _offered(DriverProfile("2g", Mib(512)))
    assert (card.profiles, plan.conditions) == ((), ())
    assert not card.is_whole_capable, "a card in a partition mode is never handed out whole"


@pytest.mark.parametrize("name", ["2g+me", "", "2g/all"])
def test_a_profile_whose_name_is_no_resource_name_is_left_out(name: str) -> None:
    card, plan = _offered(DriverProfile(name, Mib(512), starts=(0,), span=1))
    assert card.profiles == ()
    assert _reasons(plan) == [("profile", "ProfileNotOffered")]


def test_of_two_profiles_with_one_name_the_first_is_offered() -> None:
    card, plan = _offered(
        DriverProfile("a", Mib(512), starts=(0,), span=1),
        DriverProfile("b", Mib(512), starts=(1,), span=1),
        profile=lambda _: {"published": "same"},
    )
    assert [each.driver_name for each in card.profiles] == ["a"]
    assert _reasons(plan) == [("profile", "ProfileNotOffered")]


def test_a_profile_that_could_not_be_told_or_is_excluded_is_left_out() -> None:
    def profile(inputs: dict[str, Any]) -> Any:
        return could_not_tell("odd") if inputs["profile"]["name"] == "a" else {"exclude": "graphics"}

    card, plan = _offered(
        DriverProfile("a", Mib(512), starts=(0,), span=1),
        DriverProfile("b", Mib(512), starts=(0,), span=1),
        profile=profile,
    )
    assert card.profiles == ()
    assert _reasons(plan) == [("profile", "CouldNotTell"), ("profile", "ProfileNotOffered")]


def test_partitions_of_a_maker_without_a_kind_are_counted_nowhere() -> None:
    names = {key: value for key, value in NAMES.items() if key != "partitioned"}
    plan = _plan(
        _facts(_card(0, profiles=(DriverProfile("a", Mib(512), starts=(0,), span=1),))),
        features=lambda _: _features(partitions=True),
        resources=lambda _: names,
    )
    assert not [name for name in plan.capacity if name.startswith("p")]


def test_group_ids_carry_the_memory_when_the_agent_is_told_so() -> None:
    asked: list[Any] = []

    def group(inputs: dict[str, Any]) -> Any:
        asked.append(inputs["card"])
        return {"id": f"x1-{inputs['card']['memoryMib']}", "key": f"acme-x1-{inputs['card']['memoryMib']}"}

    program = TypedProgram({**RULES, "group": group}, BLOCKS)
    plan = NodePlanner(program, {}, group_id_with_memory=True).plan(  # type: ignore[arg-type]
        _facts(_card(0), _card(1, memory_mib=Mib(2048)))
    )
    assert [each.key for each in plan.groups] == ["acme-x1-1024", "acme-x1-2048"]
    assert all(each["withMemory"] for each in asked)


def test_labels_are_read_back_only_for_known_makers_true_values_and_positive_counts() -> None:
    labels = {
        "acc/acme": "true",
        "acc/acme-x1": "true",
        "acc/acme-x1.count": "2",
        "acc/acme-x1.family": "Xen",
        "acc/acme-x2": "false",
        "acc/acme-x2.count": "2",
        "acc/acme-x3": "true",
        "acc/acme-x3.count": "0",
        "acc/acme-x4": "true",
        "acc/other-x1": "true",
        "acc/other-x1.count": "1",
        "elsewhere/acme-x1": "true",
    }
    (group,) = read_groups(labels, Constants.of(CONSTANTS), frozenset({"acme"}))
    assert (group.key, group.count, group.family, group.cores, group.product) == ("acme-x1", 2, "Xen", "0", "")


@pytest.mark.parametrize(("text", "count"), [(None, 0), ("", 0), ("4", 4), ("-1", 0), ("4 ", 0), ("٤", 0), ("x", 0)])
def test_a_count_label_is_digits_or_nothing(text: str | None, count: int) -> None:
    assert read_count(text) == count


@pytest.mark.parametrize("block", [None, {"acceleratable": "acc/"}])
def test_packs_without_the_constants_code_needs_are_refused(block: dict[str, str] | None) -> None:
    with pytest.raises(ContractError, match="no constant"):
        Constants.of(block)


def test_a_finding_is_told_once() -> None:
    found = Findings()
    found.add("s", "R", "m")
    found.extend([Condition("s", "R", "m"), Condition("s", "R", "n")])
    assert [each.message for each in found.listed()] == ["m", "n"]


def test_answers_are_forgotten_before_there_are_too_many() -> None:
    answers = Answers()
    for number in range(MAX_ANSWERS):
        answers.get(number, lambda: "old")
    assert answers.get(0, lambda: "new") == "old"
    assert answers.get(-1, lambda: "new") == "new"
    assert answers.get(0, lambda: "new") == "new"


def test_what_a_card_offers_is_carried_and_a_reserve_takes_nothing_from_what_is_counted() -> None:
    plain = _plan(_facts(_card(0)))
    offered = _features(
        logicalSlices=4, isolation="driver", reserveMib=512, grantUnit=2, sliceReleasedOnTermination=False
    )
    plan = _plan(_facts(_card(0)), features=lambda _: offered)
    (card,) = plan.groups[0].cards
    assert (card.isolation, card.reserve_mib, card.grant_unit) == ("driver", 512, 2)
    assert not card.slice_released_on_termination
    assert plan.capacity == plain.capacity


def test_cards_of_one_group_that_differ_are_told_and_the_label_is_the_least() -> None:
    plan = _plan(_facts(_card(0, memory_mib=Mib(44280)), _card(1, memory_mib=Mib(43693))))
    assert plan.labels["acc/acme-x1.memory"] == "43693Mi"
    (condition,) = plan.conditions
    assert condition.reason == "CardsDiffer"
    assert condition.message == (
        "the cards of acme-x1 differ in memoryMib; the label says the least, and slices are counted by the label"
    )
