"""Makers beside each other: which of them may not match the same devices, and which may."""

from __future__ import annotations

import pytest

from engine.lang.linking import link
from engine.lang.packs import PackFiles
from engine.lang.source import Source
from engine.sections.catalog import CATALOGUE


def maker(name: str, match: str, resource: str = "") -> PackFiles:
    text = (
        "apiVersion: rules.gpustack.ai/v1alpha1\nkind: Manufacturer\n"
        f'metadata: {{name: {name}, version: "1.0.0"}}\nspec:\n  identity:\n    manufacturer: {name}\n'
        f"    pci: [{match}]\n    resource: {resource or name + '.example/gpu'}\n"
    )
    return PackFiles(f"{name}.yaml", (Source(f"{name}.yaml", text.encode()),))


@pytest.mark.parametrize(
    ("one", "other", "shared"),
    [
        ('{vendor: "10ab", classPrefixes: ["03"]}', '{vendor: "10ab", classPrefixes: ["0302"]}', "and class 0302"),
        (
            '{vendor: "10ab", classPrefixes: ["0302"]}',
            '{vendor: "10ab", classPrefixes: ["12", "03"]}',
            "and class 0302",
        ),
        ('{vendor: "10ab", classPrefixes: ["03"]}', '{vendor: "10ab", classPrefixes: ["0b"]}', ""),
        ('{vendor: "10ab", classPrefixes: ["03"]}', '{vendor: "10ac", classPrefixes: ["03"]}', ""),
        ('{vendor: "10ab", devices: ["0001"]}', '{vendor: "10ab", devices: ["0001", "0002"]}', "and device 0001"),
        ('{vendor: "10ab", devices: ["0001"]}', '{vendor: "10ab", devices: ["0002"]}', ""),
        ('{vendor: "10ab", devices: ["0001"]}', '{vendor: "10ab", classPrefixes: ["03"]}', "and device 0001"),
        ('{vendor: "10ab", devices: ["0001"]}', '{vendor: "10ab", classPrefixes: ["03"], except: ["0001"]}', ""),
        ('{vendor: "10ab", devices: ["0001"], except: ["0001"]}', '{vendor: "10ab", devices: ["0001"]}', ""),
    ],
)
def test_two_makers_may_not_match_one_device(one: str, other: str, shared: str) -> None:
    result = link([maker("bolt", other), maker("acme", one)], CATALOGUE)
    seen = [found.message for found in result.diagnostics if found.code == "RP521"]
    assert seen == ([f"acme and bolt both match PCI devices of vendor 10ab {shared}"] if shared else [])


def test_one_maker_may_match_a_device_twice() -> None:
    twice = '{vendor: "10ab", classPrefixes: ["03"]}, {vendor: "10ab", classPrefixes: ["0302"]}'
    assert list(link([maker("acme", twice)], CATALOGUE).diagnostics) == []


def test_a_third_maker_with_the_resource_of_the_first_is_named_beside_it() -> None:
    makers = [
        maker(name, f'{{vendor: "{vendor}", classPrefixes: ["03"]}}', "one.example/gpu")
        for name, vendor in (("acme", "10aa"), ("bolt", "10ab"), ("core", "10ac"))
    ]
    found = list(link(makers, CATALOGUE).diagnostics)
    assert [one.code for one in found] == ["RP522", "RP522"]
    assert all(str(one.related[0].place) == "acme.yaml:8:15" for one in found)
