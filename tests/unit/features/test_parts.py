"""The smaller parts: checks, lists, the switch, the rule object, objects as read."""

from __future__ import annotations

from typing import Any

import pytest

from engine.cluster.actions import Apply, Delete
from engine.cluster.objects import Meta
from engine.cluster.resources import NODE_FEATURE_RULES
from engine.errors import ContractError
from engine.features.bookkeeping import NOTHING_OWNED, Owned, read_nfd, read_owned, without, written
from engine.features.checks import NO_RESTRICTIONS, Restrictions, annotation_fault, label_fault
from engine.features.cpu_info import NAME, cpu_info_rule, pci_vendors, plan_rule
from engine.features.foreign import Provider
from engine.features.keys import RuleKeys, is_own_domain
from engine.features.managed import Managed, three_way
from engine.features.merge import Trust, merge_objects, resolve
from engine.features.objects import FeatureObject, Features, node_view, read_feature
from engine.lang.patterns import safe_pattern
from tests.unit.features.world import program, rules


@pytest.mark.parametrize(
    ("key", "restrictions", "is_allowed"),
    [
        ("kubernetes.io/x", Restrictions(extra=("kubernetes.io",)), True),
        ("a.kubernetes.io/x", Restrictions(extra=("kubernetes.io",)), False),
        ("vendor.io/x", Restrictions(denied=("vendor.io",)), False),
        ("vendor.io/x", Restrictions(denied=("vendor.io",), extra=("vendor.io",)), True),
        ("a.vendor.io/x", Restrictions(denied=("vendor.io",)), True),
        ("feature.node.kubernetes.io/x", Restrictions(denied=("*",)), False),
        ("feature.node.kubernetes.io/pci-1", Restrictions(white_list=safe_pattern("^pci-")), True),
        ("pci-.io/x", Restrictions(white_list=safe_pattern("^pci-")), False),
        ("xkubernetes.io/x", NO_RESTRICTIONS, True),
        ("name", NO_RESTRICTIONS, False),
    ],
)
def test_a_domain_is_open_or_closed(key: str, restrictions: Restrictions, is_allowed: bool) -> None:
    fault = label_fault(key, "1", restrictions)
    assert (fault is None) == is_allowed
    assert fault is None or (fault.reason and fault.remedy)


def test_an_annotation_holds_any_characters_up_to_its_bytes() -> None:
    assert annotation_fault("x.io/k", "ä" * 512) is None
    fault = annotation_fault("x.io/k", "ä" * 513)
    assert fault is not None
    assert "1026 bytes" in fault.reason
    assert annotation_fault("a/b/c", "1") is not None


def test_the_lists_are_sorted_full_keys_and_absent_when_empty() -> None:
    owned = Owned(frozenset({"b/x", "a/x"}), frozenset())
    assert written(owned, "me") == {
        "provider.gpustack.ai/feature-labels": "a/x,b/x",
        "provider.gpustack.ai/feature-annotations": None,
        "provider.gpustack.ai/installation": "me",
    }
    assert written(NOTHING_OWNED, "me")["provider.gpustack.ai/installation"] is None
    assert read_owned({"provider.gpustack.ai/feature-labels": "a/x,b/x"}) == owned
    assert read_owned({}, owned) == owned, "somebody removed the list"


def test_lists_of_every_nfd_instance_are_read_and_only_what_changes_is_written() -> None:
    lists = read_nfd(
        {
            "nfd.node.kubernetes.io/feature-labels": "cpu-model.id,x.io/k",
            "gpu.nfd.node.kubernetes.io/feature-labels": "gpustack.ai/managed",
            "nfd.node.kubernetes.io/feature-annotations": "feature.gpustack.ai/cpu-name",
            "xnfd.node.kubernetes.io/feature-labels": "not-one",
        }
    )
    assert lists.labels == {"feature.node.kubernetes.io/cpu-model.id", "x.io/k", "gpustack.ai/managed"}
    assert lists.annotations == {"feature.gpustack.ai/cpu-name"}
    assert without(lists, frozenset({"gpustack.ai/managed", "x.io/k"})) == {
        "gpu.nfd.node.kubernetes.io/feature-labels": None,
        "nfd.node.kubernetes.io/feature-labels": "cpu-model.id",
    }


@pytest.mark.parametrize(
    ("base", "node", "asked", "value"),
    [
        ("true", "true", "true", "true"),
        ("true", "true", "false", "false"),
        ("true", "false", "true", "false"),
        ("true", "false", "false", "false"),
        ("true", "x", "y", "y"),
        (None, "true", "false", "false"),
        (None, None, "true", "true"),
        (None, "true", None, "true"),
        ("true", None, "true", "auto"),
        ("true", "true", None, None),
        (None, None, None, None),
    ],
)
def test_who_changed_the_switch_alone_wins_and_the_object_when_both_did(
    base: str | None, node: str | None, asked: str | None, value: str | None
) -> None:
    assert three_way(base, node, asked, "auto") == Managed(value, value, value)


def test_a_switch_that_was_settled_stays_settled() -> None:
    sides = ("true", "false", None)
    for base in sides:
        for node in sides:
            for asked in sides:
                once = three_way(base, node, asked, None)
                assert three_way(once.base, once.value, once.asked, None) == once


def test_a_reference_is_cut_at_the_first_two_dots() -> None:
    features = Features({"cpu.security": {"sgx.epc": "8"}, "cpu.model": {"id": "1"}})
    assert resolve("@cpu.security.sgx.epc", features) == "8"
    for text in ("@cpu.model", "@x", "@cpu.model.nope", "@CPU.model.id", "@"):
        assert resolve(text, features) is None
    assert resolve("plain", features) == "plain"


def test_only_namespaces_that_are_read_and_trusted_count() -> None:
    trust = Trust("ns", trusted=("good",), read=("good",))
    objects = [
        FeatureObject("bad", "x", "n1", {"y.io/k": "bad"}),
        FeatureObject("good", "x", "n1", {"y.io/k": "good", "gpustack.ai/x": "1"}),
        FeatureObject("ns", "x", "n1", {"y.io/l": "own"}),
    ]
    merged = merge_objects(objects, trust)
    assert dict(merged.labels) == {"y.io/k": "good", "gpustack.ai/x": "1", "y.io/l": "own"}
    assert merged.rejected == ()
    assert is_own_domain("a.gpustack.ai/x")
    assert not is_own_domain("notgpustack.ai/x")


def test_what_nobody_reads_is_let_go() -> None:
    read = read_feature(
        {
            "metadata": {"name": "a", "namespace": "b", "managedFields": []},
            "spec": {
                "features": {
                    "flags": {"cpu.cpuid": {"elements": {"AVX": {}}}},
                    "attributes": {"kernel.config": {"elements": {"X": "y"}}, "cpu.model": {"elements": {"id": "1"}}},
                    "instances": {"network.device": {"elements": []}},
                }
            },
        }
    )
    assert read.features == Features({"cpu.model": {"id": "1"}})
    assert read.target == ""


def test_a_node_is_seen_without_what_changes_all_the_time() -> None:
    view = node_view(Meta(name="n", uid="u", resource_version="1", labels={"a": "b"}))
    assert (view.name, view.uid, view.resource_version, view.labels) == ("n", "u", "1", {"a": "b"})


def test_the_rule_object_is_made_of_the_makers_vendors() -> None:
    vendors = pci_vendors(program().block("identity", maker) or {} for maker in program().makers)
    assert "10de" in vendors
    assert list(vendors) == sorted(set(vendors))
    made = cpu_info_rule(vendors, rules().keys)
    first, second, third = made["spec"]["rules"]
    assert made["metadata"] == {"name": NAME, "labels": {"app.kubernetes.io/part-of": "gpustack-operator"}}
    assert len(first["annotations"]) == 13
    assert first["annotations"]["feature.gpustack.ai/cpu-physical-cores"] == "@cpu.model.physical_cores"
    assert first["matchFeatures"] == [{"feature": "cpu.model", "matchExpressions": {"vendor_id": {"op": "Exists"}}}]
    assert second["matchFeatures"][0]["matchExpressions"] == {
        "class": {"op": "InRegexp", "value": ["^02", "^03", "^0b", "^12"]},
        "vendor": {"op": "In", "value": list(vendors)},
    }
    assert third["labels"] == {"feature.gpustack.ai/acceleratable": "false"}


def test_the_rule_object_is_there_in_nfd_mode_only() -> None:
    def planned(provider: Provider, **seen: bool) -> list[Any]:
        return plan_rule(provider, ("10de",), rules().keys, **seen)

    (applied,) = planned(Provider.NFD, is_ours_there=False, is_nfd_gone=False)
    assert isinstance(applied, Apply)
    assert applied.resource is NODE_FEATURE_RULES
    (deleted,) = planned(Provider.BUILTIN, is_ours_there=True, is_nfd_gone=True)
    assert isinstance(deleted, Delete)
    assert deleted.key.name == NAME
    assert planned(Provider.BUILTIN, is_ours_there=True, is_nfd_gone=False) == []
    assert planned(Provider.BUILTIN, is_ours_there=False, is_nfd_gone=True) == []


def test_a_program_without_the_constants_is_refused() -> None:
    with pytest.raises(ContractError, match="no constant isAcceleratable"):
        RuleKeys.of(None)
