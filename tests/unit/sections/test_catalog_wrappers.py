"""The typed wrappers: what they give a section fits its declared input, and its answer comes back as a frozen value."""

from __future__ import annotations

from typing import Any

import pytest

from engine.domain.facts import CardFacts, CpuFacts, DriverProfile, LibraryFacts
from engine.domain.units import DriverIndex, Mib
from engine.lang.outcome import Outcome, OutcomeKind
from engine.sections.capacity import ModelCount, node_capacity
from engine.sections.catalogue import catalogue_row
from engine.sections.checks import queue_checks
from engine.sections.contributes import FlavorShare, flavor_shares
from engine.sections.cpu import CpuIdentity, detail_object, identify_cpu
from engine.sections.device_labels import GroupFacts, device_labels
from engine.sections.devices_labels import devices_labels
from engine.sections.entrance import queue_entrance
from engine.sections.features import CardFeatures, card_features
from engine.sections.fit_labels import fit_labels
from engine.sections.flavor import Accelerator, flavor_fields
from engine.sections.group import GroupKey, group_key
from engine.sections.host_labels import HostLabels, host_labels
from engine.sections.labels import maker_labels
from engine.sections.managed import decide_managed
from engine.sections.model import Model, identify_model
from engine.sections.pool import Pool, flavor_pool
from engine.sections.pool_labels import pool_labels
from engine.sections.profile import ProfileName, publish_profile
from engine.sections.queue import queue_fields
from engine.sections.quota import Quota, flavor_quota
from engine.sections.request_rules import Claim, ContainerRequest, pod_violations
from engine.sections.resources import ResourceNames, resource_names
from engine.sections.topology import Profile, topology_profile
from engine.sections.type import type_fields
from engine.sections.worker_labels import worker_labels
from tests.unit.sections.typed_program import TypedProgram, could_not_tell

CPU = CpuFacts(
    vendor_id="AMD", family="23", model_id="49", name="AMD EPYC 7R32", stepping="0", physical_cores=2, cache_l3=64
)
IDENTITY = CpuIdentity("amd", "amd-epyc-7r32", "AMD EPYC 7R32", "23", (("stepping", "0"), ("cache", (("l3", "64"),))))
CARD = CardFacts("A-1", DriverIndex(0), name="Acme X1", pci="0000:01:00.0", memory_mib=Mib(1024), slots={"minor": 0})
LIBRARY = LibraryFacts("acme", runtime_version="13.0", capabilities=("slice",), cards=(CARD,))
POOL = Pool("p-linux-amd64", "p", True, "generic", "acme-x1", True, "linux", "amd64")
ACCELERATOR = Accelerator("acme-x1", "acme", "Acme-X1", None, "1Gi", "0", True)
TOPOLOGY = Profile("fnv64-1", "gpustack-fnv64-1", "", ("kubernetes.io/hostname",))
NAMES = {
    "exclusive": "acme.com/gpu",
    "shared": "acme.com/gpu.shared",
    "visibility": "device/acme",
    "credits": "credits/acme",
    "sliced": {"token": "s", "units": "s.u", "cores": "s.c", "memory": "s.m", "mib": "s.i"},
    "partitioned": {"token": "p", "units": "p.u", "profilePrefix": "p.mig-"},
    "transformations": [
        {"input": "acme.com/gpu", "outputs": {"credits/acme": 1600000}},
        {"input": "s.u", "multiplyBy": "s", "outputs": {"credits/acme": 1}},
    ],
}


def _ask(section: str, value: Any) -> TypedProgram:
    return TypedProgram({section: lambda _: value}, {("identity", "acme"): {"resource": "acme.com/gpu"}})


def test_a_model_is_what_the_rule_says() -> None:
    program = _ask("model", {"product": "X1", "family": "Xen"})
    answer = identify_model(program, "acme", CARD, arch="amd64", cpu_name="c", pci_device="0001", pci_name="n")
    assert answer.value == Model("X1", "Xen")
    (asked,) = program.asked
    assert asked[1]["card"]["pciDevice"] == "0001"
    assert asked[2] == "acme"


def test_without_a_rule_the_model_is_the_cards_name() -> None:
    assert identify_model(_ask("model", None), "acme", CARD, arch="amd64").value == Model("Acme X1")


def test_a_card_without_rule_and_name_has_no_model() -> None:
    answer = identify_model(_ask("model", None), "acme", CardFacts("A", DriverIndex(0)), arch="amd64")
    assert answer.is_nothing


def test_an_excluded_card_has_the_reason_and_no_product() -> None:
    answer = identify_model(_ask("model", {"exclude": "integrated"}), "acme", CARD, arch="amd64")
    assert answer.value == Model("", exclude="integrated")


def test_a_rule_that_gives_an_empty_product_could_not_tell() -> None:
    answer = identify_model(_ask("model", {"product": ""}), "acme", CARD, arch="amd64")
    assert not answer.told
    assert not answer.is_nothing


def test_features_come_back_typed() -> None:
    full = {
        "logicalSlices": 128,
        "coresOvercommit": True,
        "partitions": False,
        "isolation": "preload",
        "sliceReleasedOnTermination": False,
        "reserveMib": 7,
        "grantUnit": 2,
    }
    program = _ask("features", full)
    answer = card_features(program, LIBRARY, CARD, Model("X1"), arch="amd64")
    assert answer.value == CardFeatures(128, True, False, "preload", False, 7, 2)
    assert program.asked[0][1]["runtime"] == {"version": "13.0", "major": 13}


def test_without_a_rule_a_card_cannot_be_cut() -> None:
    assert card_features(_ask("features", None), LIBRARY, CARD, Model("X1"), arch="amd64").value == CardFeatures()


@pytest.mark.parametrize(
    ("version", "seen"), [(None, {}), ("rc", {"version": "rc"}), ("9", {"version": "9", "major": 9})]
)
def test_a_runtime_version_without_a_number_has_no_major(version: str | None, seen: dict[str, Any]) -> None:
    program = _ask("features", None)
    card_features(program, LibraryFacts("acme", runtime_version=version), CARD, Model("X1"), arch="amd64")
    assert program.asked[0][1]["runtime"] == seen


def test_features_that_could_not_be_told_keep_the_reason() -> None:
    answer = card_features(_ask("features", could_not_tell("mode")), LIBRARY, CARD, Model("X1"), arch="amd64")
    assert (answer.told, answer.reason, answer.section) == (False, "mode", "features")


@pytest.mark.parametrize(
    ("value", "name"),
    [
        (None, ProfileName("4g48gb")),
        ({"published": "4g.48gb"}, ProfileName("4g.48gb")),
        ({"exclude": "why"}, ProfileName("", "why")),
    ],
)
def test_a_profile_is_published_by_rule_or_by_its_last_word(value: Any, name: ProfileName) -> None:
    program = _ask("profile", value)
    assert (
        publish_profile(program, "acme", DriverProfile("ACME 4g48GB", Mib(49152), starts=(0, 4), span=4)).value == name
    )
    assert program.asked[0][1]["profile"]["name"] == "4g48gb"


def test_a_profile_without_a_name_is_asked_for_with_an_empty_one() -> None:
    assert publish_profile(_ask("profile", None), "acme", DriverProfile("  ", Mib(1))).value == ProfileName("")


def test_group_labels_are_asked_of_all_makers_and_of_one() -> None:
    group = GroupFacts("acme", "acme-x1", "Acme X1", 2)
    assert device_labels(_ask("device-labels", {"a": "b"}), group).value == {"a": "b"}
    program = _ask("labels", {"c": "d"})
    assert maker_labels(program, group).value == {"c": "d"}
    assert program.asked[0][2] == "acme"
    assert "memoryMib" not in program.asked[0][1]["group"]


def test_host_facts_are_texts_and_templates_are_no_facts() -> None:
    program = _ask("host-labels", {"labels": {"l": "1"}, "annotations": {"a": "2"}})
    answer = host_labels(program, CpuFacts(name="@cpu.model.name", physical_cores=2, stepping=""), known_device=True)
    assert answer.value == HostLabels((("l", "1"),), (("a", "2"),))
    assert program.asked[0][1] == {"cpu": {"physicalCores": "2"}, "node": {"knownDevice": True}}


def test_a_silent_host_adds_nothing_and_denies_nothing() -> None:
    program = _ask("host-labels", None)
    assert host_labels(program, None, known_device=None).value == HostLabels()
    assert program.asked[0][1] == {"cpu": {}, "node": {}}


def test_a_cpu_keeps_its_describing_facts_in_published_order() -> None:
    answer = identify_cpu(_ask("cpu", {"manufacturer": "amd", "key": "amd-epyc-7r32"}), CPU)
    cpu = answer.value
    assert cpu is not None
    assert cpu.detail == (("physicalCores", "2"), ("stepping", "0"), ("cache", (("l3", "64"),)))
    assert detail_object(cpu.detail) == {"physicalCores": "2", "stepping": "0", "cache": {"l3": "64"}}
    assert (cpu.name, cpu.family) == ("AMD EPYC 7R32", "23")


def test_a_cpu_nobody_described_is_still_asked_for() -> None:
    answer = identify_cpu(_ask("cpu", {"manufacturer": "generic", "key": "generic"}), None)
    assert answer.value == CpuIdentity("generic", "generic")


def test_the_managed_label_is_a_text_or_nothing() -> None:
    assert decide_managed(_ask("managed", {"value": "true"}), {}, None).value == "true"
    assert decide_managed(_ask("managed", None), {}, "x").is_nothing


def test_worker_labels_are_a_map() -> None:
    program = _ask("worker-labels", {"a": "b"})
    answer = worker_labels(program, {"s": True}, IDENTITY, cores=4, accelerated=False, managed=None)
    assert answer.value == {"a": "b"}
    assert program.asked[0][1]["node"] == {"cores": 4, "accelerated": False}


def test_a_group_has_an_id_and_a_key() -> None:
    answer = group_key(_ask("group", {"id": "x1", "key": "acme-x1"}), "acme", "Acme X1", None, with_memory=True)
    assert answer.value == GroupKey("x1", "acme-x1")


def test_a_topology_profile_is_hashable() -> None:
    value = {"profile": "f", "name": "n", "suffix": "-f", "levels": ["z", "h"], "nodeLabels": {"k": "f"}, "labels": {}}
    answer = topology_profile(_ask("topology", value), ["z"])
    assert answer.value == Profile("f", "n", "-f", ("z", "h"), (("k", "f"),))
    assert hash(answer.value)


def test_resource_names_survive_the_way_back_into_capacity() -> None:
    names = resource_names(_ask("resources", NAMES), "acme").value
    assert isinstance(names, ResourceNames)
    assert names.inputs() == NAMES
    assert names.transformations[1].multiply_by == "s"


def test_a_maker_without_partitions_has_no_such_names() -> None:
    names = resource_names(_ask("resources", {k: v for k, v in NAMES.items() if k != "partitioned"}), "acme").value
    assert names is not None
    assert names.partitioned is None
    assert "partitioned" not in names.inputs()


def test_capacity_gives_amounts_and_sees_profiles_beside_models() -> None:
    names = resource_names(_ask("resources", NAMES), "acme").value
    assert names is not None
    program = _ask("capacity", {"s.u": 1600000})
    answer = node_capacity(
        program,
        names,
        [ModelCount(1, 128, True, None, 0)],
        {"1g.10gb": 0},
        advertised_sliced=128,
        advertised_partitioned=0,
    )
    assert answer.value == {"s.u": 1600000}
    assert program.asked[0][1]["profiles"] == [{"published": "1g.10gb", "total": 0}]
    assert "labelMib" not in program.asked[0][1]["models"][0]


@pytest.mark.parametrize("cpu_key", [None, "amd-epyc-7r32"])
def test_devices_labels_know_the_cpu_only_from_the_worker(cpu_key: str | None) -> None:
    program = _ask("devices-labels", {"a": "b"})
    assert devices_labels(program, ["acme-x1"], os="linux", arch="amd64", cpu_key=cpu_key).value == {"a": "b"}
    assert ("cpu" in program.asked[0][1]) is (cpu_key is not None)


def test_fit_labels_leave_out_a_population_that_is_not_there() -> None:
    program = _ask("fit-labels", {"a": "0"})
    assert fit_labels(program, "acme-x1", sliced_max_free_units=None, shared_free_cards=0).value == {"a": "0"}
    assert program.asked[0][1] == {"fit": {"key": "acme-x1", "sharedFreeCards": 0}}


@pytest.mark.parametrize(
    ("value", "shares"),
    [
        (None, ()),
        ([{"count": 4}, {"accelerator": "acme-x1", "count": 1}], (FlavorShare(None, 4), FlavorShare("acme-x1", 1))),
    ],
)
def test_a_node_feeds_the_flavors_that_fire(value: Any, shares: tuple[FlavorShare, ...]) -> None:
    program = _ask("contributes", value)
    answer = flavor_shares(program, {}, [("acme-x1", 1)], managed="true", profile="f", accelerated=True, cores=4)
    assert answer.value == shares


@pytest.mark.parametrize("accelerator", [None, ACCELERATOR])
def test_a_flavor_comes_back_in_the_rules_order(accelerator: Accelerator | None) -> None:
    value = {
        "name": "n", "base": "b", "topologyName": "t", "tolerations": [{"operator": "Exists", "key": None}],
        "labels": {"z": "1", "a": "2"}, "nodeLabels": {}, "notes": {},
    }  # fmt: skip
    answer = flavor_fields(
        _ask("flavor", value), {}, os="linux", arch="amd64", count=1, nodes=2, cpu=IDENTITY, accelerator=accelerator,
        topology=TOPOLOGY,
    )  # fmt: skip
    assert answer.value is not None
    assert answer.value.labels == (("z", "1"), ("a", "2"))
    assert answer.value.tolerations == ((("operator", "Exists"),),)


@pytest.mark.parametrize("accelerator_key", [None, "acme-x1"])
def test_a_pool_comes_back_and_fits_the_sections_that_see_it(accelerator_key: str | None) -> None:
    answer = flavor_pool(
        _ask("pool", POOL.inputs()), {}, os="linux", arch="amd64", cpu_key="amd", accelerator_key=accelerator_key
    )
    assert answer.value == POOL


@pytest.mark.parametrize("tier", [None, "small"])
def test_a_type_has_a_title_a_size_and_labels(tier: str | None) -> None:
    value = {
        "displayName": "T",
        "unitResources": {"cpu": "1", "ram": "2Gi"},
        "localStorage": "9Gi",
        "labels": {"a": "b"},
    }
    answer = type_fields(_ask("type", value), {}, POOL, product=None, tier=tier)
    assert answer.value is not None
    assert (answer.value.display_name, answer.value.cpu, answer.value.ram) == ("T", "1", "2Gi")
    assert answer.value.labels == (("a", "b"),)


def test_pool_labels_take_an_empty_group_for_none() -> None:
    program = _ask("pool-labels", {"a": "b"})
    assert pool_labels(program, acceleratable=False, general_group="", os="linux").value == {"a": "b"}
    assert program.asked[0][1]["type"] == {"acceleratable": False, "os": "linux"}


def test_a_queue_has_policies_without_nulls() -> None:
    value = {
        "labels": {"t": "q"},
        "annotations": {},
        "namespaceSelector": {"matchLabels": None},
        "flavorFungibility": {"whenCanBorrow": "a", "whenCanPreempt": "b"},
        "preemption": {"reclaimWithinCohort": "c", "borrowWithinCohort": {"policy": "d"}, "withinClusterQueue": "e"},
        "stopPolicy": "Hold",
    }
    answer = queue_fields(_ask("queue", value), "q")
    assert answer.value is not None
    assert answer.value.namespace_selector == {}
    assert answer.value.stop_policy == "Hold"


def test_a_quota_names_a_resource_and_an_amount() -> None:
    program = _ask("quota", {"resource": "cpu", "nominal": 4})
    assert flavor_quota(program, acceleratable=False, capacity=4, credits_name=None).value == Quota("cpu", 4)
    assert program.asked[0][1]["flavor"] == {"capacity": 4}


@pytest.mark.parametrize(("value", "names"), [(None, ()), ([{"name": "a"}, {"name": "b"}], ("a", "b"))])
def test_checks_keep_the_rules_order(value: Any, names: tuple[str, ...]) -> None:
    assert queue_checks(_ask("checks", value), {}, acceleratable=True, active=["a"]).value == names


def test_an_entrance_has_labels_for_the_type() -> None:
    value = {"name": "e", "annotations": {"q": "long"}, "typeLabels": {"entrance": "e"}}
    answer = queue_entrance(_ask("entrance", value), "long")
    assert answer.value is not None
    assert answer.value.type_labels == (("entrance", "e"),)


@pytest.mark.parametrize("accelerator", [None, ACCELERATOR])
def test_a_catalogue_row_has_no_nulls(accelerator: Accelerator | None) -> None:
    value = {"name": "n", "spec": {"acceleratable": False, "manufacturer": "m", "product": None}}
    answer = catalogue_row(_ask("catalogue", value), POOL, IDENTITY, accelerator)
    assert answer.value is not None
    assert answer.value.spec == (("acceleratable", False), ("manufacturer", "m"))


def test_a_pod_is_asked_for_with_its_families_sorted() -> None:
    sliced = Claim("acme.com/gpu", "sliced", "card", "acme.com/gpu.sliced", "1", 1)
    whole = Claim("acme.com/gpu", "exclusive", "card", "acme.com/gpu", "1500m")
    refusal = {"refuse": "ONE_FAMILY", "path": "spec", "reason": "Forbidden"}
    program = _ask("request-rules", Outcome(OutcomeKind.VALUE, [refusal | {"message": "text"}]))
    containers = [ContainerRequest("spec.containers[0]", "running", (sliced,)), ContainerRequest("b", "init", (whole,))]
    answer = pod_violations(program, containers)
    assert answer.value is not None
    assert [(each.code, each.message) for each in answer.value] == [("ONE_FAMILY", "text")]
    assert program.asked[0][1]["pod"]["families"] == ["exclusive", "sliced"]


def test_a_pod_that_breaks_no_rule_has_no_violation() -> None:
    assert pod_violations(_ask("request-rules", None), []).value == ()
