"""The effective pack: every value with who gave it and where."""

from __future__ import annotations

from engine.lang.effective import EffectiveValue, effective, why
from engine.lang.linking import link
from engine.lang.packs import PackFiles
from engine.lang.source import Source
from engine.sections.catalog import CATALOGUE

HEAD = "apiVersion: rules.gpustack.ai/v1alpha1\n"
PACK = (
    HEAD
    + """kind: Manufacturer
metadata: {name: acme, version: "1.0.0"}
spec:
  use: [{library: core, with: {dir: x}}]
  identity:
    manufacturer: acme
    pci: [{vendor: "10ab", classPrefixes: ["03"]}]
    resource: acme.example/gpu
    runtimeClass: acme
  params: {most: {type: integer, default: 8}}
  sections:
    features: [{id: slices, emit: {logicalSlices: $(params.most)}}]
    labels:
      owns: []
      rules: []
    inject:
      - when: alloc.mode == 'exclusive'
        rules: [{id: whole, emit: {env: {A: "1", B: "1"}}}]
"""
)
LIBRARY = (
    HEAD
    + """kind: Library
metadata: {name: core, version: "1.0.0"}
spec:
  params: {dir: "", level: low}
  tables: {words: {a: b}}
  let: {loud: with.level == 'high'}
  rules: {inject: [{id: lib, when: loud, emit: {env: {DIR: $(with.dir)}}}]}
"""
)
OVERLAY = (
    HEAD
    + """kind: Overlay
metadata: {name: site-a, version: "1.0.0"}
spec:
  target: {pack: acme}
  params: {most: 2}
  replace: [{rule: inject/whole, set: {emit.env.B: "2"}}]
"""
)


def files(**texts: str) -> list[PackFiles]:
    return [PackFiles(f"{name}.yaml", (Source(f"{name}.yaml", text.encode()),)) for name, text in texts.items()]


def values() -> list[EffectiveValue]:
    result = link(
        files(pack=PACK, core=LIBRARY),
        CATALOGUE,
        overlays=files(site=OVERLAY),
        overrides={"GPUSTACK_ACME_ACCELERATABLE_RUNTIME_NAME": "other"},
    )
    assert result.program is not None, [one.message for one in result.diagnostics]
    pack = next(one for one in result.packs if one.kind == "Manufacturer")
    return effective(pack, result.used["Manufacturer", "acme"])


def rows(path: str) -> list[tuple[str, str, str, str]]:
    return [(one.path, one.text, one.layer, str(one.place).partition(":")[0]) for one in why(values(), path)]


def test_every_value_says_who_gave_it_and_where() -> None:
    assert rows("sections.inject") == [
        ("sections.inject.rules[0].when", "alloc.mode == 'exclusive'", "pack", "pack.yaml"),
        ("sections.inject.rules[0].rules.whole.id", "whole", "pack", "pack.yaml"),
        ("sections.inject.rules[0].rules.whole.emit.env.A", "1", "pack", "pack.yaml"),
        ("sections.inject.rules[0].rules.whole.emit.env.B", "2", "overlay site-a (site)", "site.yaml"),
        ("sections.inject.rules.core-lib.id", "core-lib", "library core", "core.yaml"),
        ("sections.inject.rules.core-lib.when", "loud", "library core", "core.yaml"),
        ("sections.inject.rules.core-lib.emit.env.DIR", "$(with.dir)", "library core", "core.yaml"),
    ]
    assert rows("params.most.default") == [("params.most.default", "2", "overlay site-a (site)", "site.yaml")]


def test_an_override_is_a_layer_and_its_place_is_the_variable() -> None:
    assert rows("identity.runtimeClass") == [
        ("identity.runtimeClass", "other", "override", "GPUSTACK_ACME_ACCELERATABLE_RUNTIME_NAME")
    ]


def test_a_librarys_parameters_lets_and_tables_are_there_with_what_the_pack_gave() -> None:
    assert rows("use.core") == [
        ("use.core.with.dir", "x", "pack", "pack.yaml"),
        ("use.core.with.level", "low", "library core", "core.yaml"),
        ("use.core.let.loud", "with.level == 'high'", "library core", "core.yaml"),
    ]
    assert rows("tables") == [("tables.words.a", "b", "library core", "core.yaml")]


def test_an_empty_list_is_a_value() -> None:
    assert [(one.path, one.text) for one in why(values(), "sections.labels")] == [
        ("sections.labels.owns", "[]"),
        ("sections.labels.rules", "[]"),
    ]


def test_a_path_is_not_found_by_a_part_of_a_word() -> None:
    assert rows("sections.in") == []


def test_a_pack_without_libraries_is_its_own_values() -> None:
    bare = (
        HEAD
        + 'kind: Derivation\nmetadata: {name: bare, version: "1.0.0"}\nspec: {params: {most: {type: map, default: {}}}}\n'
    )
    (pack,) = link(files(bare=bare), CATALOGUE).packs
    assert [(one.path, one.text, one.layer) for one in effective(pack)] == [
        ("params.most.type", "map", "pack"),
        ("params.most.default", "{}", "pack"),
    ]
