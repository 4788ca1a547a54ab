"""Sections taken over from a pack that was built before are what building them again would give."""

from __future__ import annotations

from typing import Any

import pytest

from engine.lang.linking import Linked, link
from engine.lang.packs import PackFiles
from engine.lang.program import LinkedPack
from engine.lang.source import Source
from engine.rulefiles import shipped_packs
from engine.sections.catalog import CATALOGUE

PACK = """\
apiVersion: rules.gpustack.ai/v1alpha1
kind: Manufacturer
metadata: {name: acme, version: "1.0.0"}
spec:
  identity:
    manufacturer: acme
    pci: [{vendor: "10ab", classPrefixes: ["03"]}]
    resource: acme.example/gpu
  params:
    most: {type: integer, default: 8}
  sections:
    features:
      - {id: feature-slices, emit: {logicalSlices: $(params.most)}}
    guards:
      - {id: guard-one, when: length(alloc.cards) > `1`, emit: {refuse: ACME_ONE}, message: one card at a time}
"""


def overlay(spec: str) -> PackFiles:
    head = "apiVersion: rules.gpustack.ai/v1alpha1\nkind: Overlay\nmetadata: {name: site, version: 1.0.0}\nspec:\n"
    return PackFiles("site.yaml", (Source("site.yaml", (head + spec).encode()),))


def linked(*files: PackFiles, **options: Any) -> Linked:
    return link([PackFiles("acme.yaml", (Source("acme.yaml", PACK.encode()),)), *files], CATALOGUE, **options)


def acme(found: Linked) -> LinkedPack:
    assert found.program is not None, list(found.diagnostics)
    return found.program.packs[0]


def test_a_variant_builds_only_the_sections_that_see_its_parameters() -> None:
    pack = acme(linked())
    assert pack.variant is not None
    other = pack.variant({"most": 4})
    assert other.sections["guards"] is pack.sections["guards"]
    assert other.sections["features"] != pack.sections["features"]


def test_a_variant_is_the_pack_that_an_overlay_of_the_same_value_makes() -> None:
    pack = acme(linked())
    assert pack.variant is not None
    over = acme(linked(overlays=[overlay("  target: {pack: acme}\n  params: {most: 4}\n")]))
    assert pack.variant({"most": 4}).sections == over.sections


@pytest.mark.parametrize(
    ("spec", "wanted"),
    [
        ("  target: {pack: acme}\n  params: {most: 4}\n", []),
        (
            "  target: {pack: acme}\n  replace: [{rule: features/feature-slices, set: {emit.logicalSlices: $(parms.most)}}]\n",
            ["RP401"],
        ),
        (
            "  target: {pack: acme}\n  add: [{section: features, rule: {id: guard-one, emit: {logicalSlices: 1}}}]\n",
            ["RP501"],
        ),
    ],
)
def test_an_overlay_among_the_packs_has_the_findings_that_it_has_applied(spec: str, wanted: list[str]) -> None:
    waiting, applied = linked(overlay(spec)), linked(overlays=[overlay(spec)])
    assert [one.code for one in waiting.diagnostics] == wanted
    assert [one.code for one in applied.diagnostics] == wanted


def test_the_variants_of_shipped_packs_are_the_same_built_afresh() -> None:
    program = link(shipped_packs(), CATALOGUE).program
    afresh = link(shipped_packs(), CATALOGUE).program
    assert program is not None
    assert afresh is not None
    assert program.digest == afresh.digest
    for pack in program.packs:
        assert pack.variant is not None
        assert pack.variant({}).digest == pack.digest


def test_packs_named_and_in_the_background_are_read_once() -> None:
    shipped = shipped_packs()
    alone, both = link(shipped, CATALOGUE), link(shipped, CATALOGUE, context=shipped)
    assert alone.program is not None
    assert both.program is not None
    assert alone.program.digest == both.program.digest
    assert [(pack.kind, pack.name) for pack in alone.packs] == [(pack.kind, pack.name) for pack in both.packs]
