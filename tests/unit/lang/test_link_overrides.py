"""Identity overrides: what each variable changes, what is left alone, and that it is in the digest."""

from __future__ import annotations

from typing import Any

import pytest

from engine.lang.linking import Linked, link
from engine.lang.overrides import variable_prefix
from engine.lang.packs import PackFiles
from engine.lang.source import Source
from engine.sections.catalog import CATALOGUE

MAKER = """apiVersion: rules.gpustack.ai/v1alpha1
kind: Manufacturer
metadata: {name: NAME, version: "1.0.0"}
spec:
  identity:
    manufacturer: NAME
    pci:
      - {vendor: "10ab", classPrefixes: ["03", "12"]}
      - {vendor: "10ac", devices: ["0001"]}
    resource: NAME.example/gpu
    runtimeClass: NAME
    partitionKind: part
  sections:
    inject: [{id: visible, emit: {env: {RESOURCE: $(identity.resource)}}}]
"""


def linked(text: str = MAKER, name: str = "acme", **overrides: str) -> Linked:
    source = Source("pack.yaml", text.replace("NAME", name).encode())
    prefix = "GPUSTACK_ACME_"
    return link(
        [PackFiles("pack.yaml", (source,))],
        CATALOGUE,
        overrides={prefix + key: value for key, value in overrides.items()},
    )


def identity(result: Linked, name: str = "acme") -> Any:
    assert result.program is not None, [one.message for one in result.diagnostics]
    return result.program.block("identity", name)


def test_a_vendor_takes_the_place_of_every_vendor_of_the_pack() -> None:
    assert identity(linked(PCI_VENDOR_ID="1E3E"))["pci"] == [
        {"vendor": "1e3e", "classPrefixes": ["03", "12"]},
        {"vendor": "1e3e", "devices": ["0001"]},
    ]


def test_a_class_and_a_vendor_are_the_only_match() -> None:
    assert identity(linked(PCI_VENDOR_ID="0B40_1e3e"))["pci"] == [{"vendor": "1e3e", "classPrefixes": ["0b40"]}]


def test_a_resource_name_flows_into_the_rules_and_the_digest() -> None:
    result = linked(ACCELERATABLE_RESOURCE_NAME="other.example/npu")
    assert identity(result)["resource"] == "other.example/npu"
    assert result.program is not None
    assert "other.example/npu" in result.program.to_json()
    plain = linked().program
    assert plain is not None
    assert result.program.digest != plain.digest


def test_a_runtime_and_a_partition_kind_are_renamed() -> None:
    made = identity(linked(ACCELERATABLE_RUNTIME_NAME="acme.v2-x", PARTITION_KIND="slot"))
    assert (made["runtimeClass"], made["partitionKind"]) == ("acme.v2-x", "slot")


def test_a_maker_without_partitions_gets_none_by_giving_them_a_name() -> None:
    text = MAKER.replace("    partitionKind: part\n", "")
    result = linked(text, PARTITION_KIND="slot")
    assert "partitionKind" not in identity(result)
    without = linked(text).program
    assert without is not None
    assert result.program is not None
    assert result.program.digest == without.digest


def test_an_empty_value_and_other_variables_change_nothing() -> None:
    result = linked(PCI_VENDOR_ID=" ", DEVICE_INJECTION_STRATEGY="cdi", DATA_DIR="/x")
    assert list(result.diagnostics) == []
    assert identity(result) == identity(linked())


def test_a_name_with_a_dash_is_written_with_an_underscore() -> None:
    source = Source("pack.yaml", MAKER.replace("NAME", "acme-two").encode())
    result = link(
        [PackFiles("pack.yaml", (source,))],
        CATALOGUE,
        overrides={"GPUSTACK_ACME_TWO_ACCELERATABLE_RUNTIME_NAME": "other"},
    )
    assert identity(result, "acme-two")["runtimeClass"] == "other"
    assert variable_prefix("acme-two") == "GPUSTACK_ACME_TWO_"


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        ("PCI_VENDOR_ID", "10de5"),
        ("PCI_VENDOR_ID", "0x10de"),
        ("PCI_VENDOR_ID", "3_10de"),
        ("PCI_VENDOR_ID", "10de_"),
        ("ACCELERATABLE_RESOURCE_NAME", "gpu"),
        ("ACCELERATABLE_RESOURCE_NAME", "a.example/"),
        ("ACCELERATABLE_RUNTIME_NAME", "Acme"),
        ("ACCELERATABLE_RUNTIME_NAME", "acme\nx"),
        ("PARTITION_KIND", "1g"),
    ],
)
def test_a_value_that_is_none_is_refused_with_the_variables_name_and_the_packs_place(variable: str, value: str) -> None:
    result = linked(**{variable: value})
    (found,) = result.diagnostics
    assert (found.code, str(found.place)) == ("RP204", f"GPUSTACK_ACME_{variable}:1:1")
    assert [str(one.place) for one in found.related] == ["pack.yaml:5:3"]
    assert result.program is None


def test_a_maker_that_has_no_pack_here_is_a_warning_because_an_agent_knows_only_its_own() -> None:
    source = Source("pack.yaml", MAKER.replace("NAME", "acme").encode())
    result = link(
        [PackFiles("pack.yaml", (source,))],
        CATALOGUE,
        overrides={"GPUSTACK_ACNE_PARTITION_KIND": "slot", "GPUSTACK_ZZZZZZZZ_PARTITION_KIND": "slot"},
    )
    assert result.program is not None
    assert [(one.code, one.severity, one.help) for one in result.diagnostics] == [
        ("RP610", "warning", "did you mean GPUSTACK_ACME_PARTITION_KIND?"),
        ("RP610", "warning", "remove it, or add the maker's pack"),
    ]


def test_a_maker_without_an_identity_is_refused_for_that_alone() -> None:
    text = MAKER[: MAKER.index("  identity:")] + "  sections: {inject: [{id: visible, emit: {env: {A: x}}}]}\n"
    (found,) = linked(text, PCI_VENDOR_ID="1e3e").diagnostics
    assert (found.code, found.message) == ("RP202", "no file of Manufacturer acme gives `spec.identity`")
