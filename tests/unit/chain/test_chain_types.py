"""Types: made once, edited in three fields, refused with the API's own words, and made again while their pool lives."""

from __future__ import annotations

import pytest

from engine.chain.chain import Chain
from engine.chain.changes import (
    InstanceTypeRemoved,
    InstanceTypeSet,
    NamespaceRemoved,
    NamespaceSet,
    NodeRemoved,
    NodeSet,
    SettingsChanged,
)
from engine.errors import InputError, UsageError
from tests.unit.chain.shipped import Replaced, cluster, node, program, unknown

A10G = "gpustack--nvidia-a10g-linux-amd64"
GENERIC = "gpustack--generic-linux-amd64"
SPEC = {
    "acceleratable": True,
    "acceleratorGroup": "nvidia-a10g",
    "os": "linux",
    "arch": "amd64",
    "unitResources": {"cpu": "12", "ram": "128Gi"},
    "localStorage": "200Gi",
}
CPU_SPEC = {"os": "linux", "arch": "amd64", "unitResources": {"cpu": "1", "ram": "4Gi"}, "localStorage": "50Gi"}


@pytest.fixture
def chain() -> Chain:
    made = Chain(program())
    made.apply(cluster())
    return made


def phase(chain: Chain, name: str) -> tuple[str, str]:
    status = next(each.status for each in chain.types() if each.name == name)
    return status.phase, status.phase_message


def policy(chain: Chain, name: str) -> str | None:
    return next(each.state.stop_policy for each in chain.queues() if each.name == name)


def test_a_type_without_flavors_backs_a_held_queue_that_admits_nothing(chain: Chain) -> None:
    chain.apply([InstanceTypeSet("odd", SPEC | {"acceleratorGroup": "nvidia-nothing"})])
    assert phase(chain, "odd") == ("Inactive", "cluster queue is held")
    queue = next(each for each in chain.queues() if each.name == "odd")
    assert queue.state.groups == ()
    assert queue.state.has_empty_plan_hold


def test_a_cpu_type_a_person_wrote_is_fed_by_every_cpu_flavor_of_its_os(chain: Chain) -> None:
    chain.apply([InstanceTypeSet("small", CPU_SPEC)])
    assert next(each.status.cpu.capacity for each in chain.types() if each.name == "small") == 72


def test_an_inactive_type_is_held_and_comes_back(chain: Chain) -> None:
    chain.apply([InstanceTypeSet("mine", SPEC | {"inactive": True})])
    assert phase(chain, "mine") == ("Inactive", "cluster queue is held")
    chain.apply([InstanceTypeSet("mine", SPEC | {"inactive": False, "description": "for the lab"})])
    assert phase(chain, "mine")[0] == "Active"
    assert next(each.spec["description"] for each in chain.types() if each.name == "mine") == "for the lab"


def test_a_field_that_is_not_editable_is_refused_and_nothing_changes(chain: Chain) -> None:
    chain.apply([InstanceTypeSet("mine", SPEC)])
    with pytest.raises(InputError, match="immutable except displayName, description and inactive"):
        chain.apply([NodeRemoved("node-cpu"), InstanceTypeSet("mine", SPEC | {"localStorage": "1Gi"})])
    assert "node-cpu" in chain.objects("Node")


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        ({**SPEC, "acceleratorGroup": ""}, "spec.acceleratorGroup: Required value: must be specified when"),
        ({**SPEC, "os": None}, "spec.os: Required value: must be specified"),
        ({**SPEC, "unitResources": {"cpu": "500m", "ram": "1Gi"}}, "must be a positive integer with no unit suffix"),
        ({**CPU_SPEC, "unitResources": {"cpu": "2", "ram": "1Gi"}}, "must be 1 when acceleratable is false"),
        ({**SPEC, "localStorage": "200gi"}, 'must be a positive integer with a case-sensitive "Gi" suffix'),
        ({**SPEC, "unitResources": None}, "spec.unitResources.ram"),
    ],
)
def test_a_type_the_api_would_refuse_is_refused_in_its_words(chain: Chain, spec: dict[str, object], words: str) -> None:
    with pytest.raises(InputError, match="InstanceType bad is invalid") as refusal:
        chain.apply([InstanceTypeSet("bad", spec)])
    assert words in str(refusal.value)


def test_a_removed_derived_type_is_made_again_while_its_pool_has_flavors(chain: Chain) -> None:
    chain.apply([NodeSet(node("more", product="NVIDIA A10G"))])
    changed = chain.apply([InstanceTypeRemoved(A10G)])
    assert A10G in chain.objects("InstanceType")
    assert not changed.removed
    assert phase(chain, A10G)[0] == "Active"


def test_a_removed_derived_type_stays_away_once_types_are_not_derived(chain: Chain) -> None:
    chain.apply([SettingsChanged({"instance-type-derived-from-node": "false"})])
    changed = chain.apply([InstanceTypeRemoved(A10G)])
    assert changed.removed == {
        "InstanceType": (A10G,),
        "ClusterQueue": (A10G,),
        "LocalQueue": ("default/gpustack-fnv64-c4680bb149644f1c",),
    }


def test_a_type_removed_and_set_again_is_a_new_one(chain: Chain) -> None:
    chain.apply([InstanceTypeSet("mine", SPEC)])
    chain.apply([InstanceTypeRemoved("mine"), InstanceTypeSet("mine", SPEC | {"localStorage": "1Gi"})])
    assert next(each.spec["localStorage"] for each in chain.types() if each.name == "mine") == "1Gi"


def test_removing_what_is_not_there_changes_nothing(chain: Chain) -> None:
    assert not chain.apply([InstanceTypeRemoved("nobody"), NodeRemoved("nobody"), NamespaceRemoved("nobody")])


def test_a_removed_namespace_loses_its_entrances(chain: Chain) -> None:
    chain.apply([NamespaceSet("team")])
    changed = chain.apply([NamespaceRemoved("team")])
    assert [name.partition("/")[0] for name in changed.removed["LocalQueue"]] == ["team"] * 3
    assert {each.namespace for each in chain.local_queues()} == {"default"}


def test_a_derived_type_keeps_its_title_when_its_pool_changes() -> None:
    chain = Chain(program())
    chain.apply([NodeSet(node("b", product="NVIDIA A10G"))])
    chain.apply([NodeSet(node("a", product="A10G"))])
    made = next(each for each in chain.types() if each.name == A10G)
    assert made.spec["displayName"] == "NVIDIA-A10G"
    assert made.status.detail["product"] == "A10G", "the detail is of now, and the least"


def test_an_unknown_product_gets_the_fallback_size() -> None:
    chain = Chain(program())
    chain.apply([NodeSet(node("n", product="NVIDIA Unheard Of"))])
    made = next(each for each in chain.types() if each.spec["acceleratable"])
    assert made.spec["unitResources"] == {"cpu": "4", "ram": "16Gi"}


def test_a_type_that_could_not_be_told_is_a_condition_and_is_tried_again() -> None:
    told = {"type": False}
    rule = Replaced(type=lambda _, outcome: outcome if told["type"] else unknown())
    chain = Chain(rule)
    changed = chain.apply(cluster())
    assert chain.types() == []
    assert [(each.kind, each.name, each.reason) for each in changed.conditions] == [
        ("InstanceType", name, "CouldNotTell") for name in (GENERIC, A10G, "gpustack--nvidia-tesla-t4-linux-amd64")
    ]
    told["type"] = True
    chain.apply([NodeSet(node("more", product="NVIDIA A10G"))])
    assert A10G in chain.objects("InstanceType")
    assert not [each for each in chain.conditions() if each.name == A10G]


def test_a_setting_that_is_not_declared_is_refused_and_nothing_changes(chain: Chain) -> None:
    with pytest.raises(UsageError, match="instance-type-mixed-on-node"):
        chain.apply([NodeRemoved("node-cpu"), SettingsChanged({"instance-type-mixed-on-nodes": "true"})])
    assert "node-cpu" in chain.objects("Node")


def test_aware_accelerated_types_describe_their_cpu(chain: Chain) -> None:
    chain.apply([SettingsChanged({"instance-type-aware-cpu-manufacturer": True})])
    details = {each.name: each.status.detail for each in chain.types()}
    assert details["gpustack--amd-epyc-7r32--nvidia-a10g-linux-amd64"]["cpu"]["product"] == "AMD EPYC 7R32"
    assert details["gpustack--amd-epyc-7r13-linux-amd64"]["physicalCores"] == "8"
    assert details[GENERIC] == {}
