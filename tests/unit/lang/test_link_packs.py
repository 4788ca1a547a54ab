"""Packs beside each other: documents put together, blocks all packs share, and a context that is not reported."""

from __future__ import annotations

import pytest

from engine.lang.linking import Linked, link, setting_name
from engine.lang.packs import PackFiles
from engine.lang.source import Source
from engine.sections.catalog import CATALOGUE
from engine.sections.constants import NAMES

API = "apiVersion: rules.gpustack.ai/v1alpha1\n"


def document(kind: str, name: str, spec: str, version: str = '"1.0.0"') -> str:
    said = f", version: {version}" if version else ""
    return f"{API}kind: {kind}\nmetadata: {{name: {name}{said}}}\nspec:\n{spec}"


def files(*texts: str, start: int = 0) -> list[PackFiles]:
    return [PackFiles(f"{n}.yaml", (Source(f"{n}.yaml", text.encode()),)) for n, text in enumerate(texts, start)]


def folder(*texts: str) -> list[PackFiles]:
    return [PackFiles("folder", tuple(one.sources[0] for one in files(*texts)), directory=True)]


def findings(result: Linked) -> list[str]:
    return [f"{one.code} {one.message}" for one in result.diagnostics.sorted()]


MANAGED = "  sections: {managed: [{id: managed-VALUE, emit: {value: VALUE}}]}\n"


def managed(name: str, value: str) -> str:
    return document("Derivation", name, MANAGED.replace("VALUE", value))


def test_the_files_of_a_folder_are_one_pack_and_its_tests_and_bases_add_up() -> None:
    first = document("Derivation", "one", MANAGED.replace("VALUE", "a") + "  bases: {x: {node: {}}}\n  tests: []\n")
    second = document("Derivation", "one", "  bases: {z: {node: {}}}\n  tests: [{name: t, section: managed}]\n", "")
    result = link(folder(first, second), CATALOGUE)
    assert findings(result) == []
    assert result.program is not None
    assert (len(result.program.packs[0].tests), sorted(result.program.packs[0].bases)) == (1, ["x", "z"])


@pytest.mark.parametrize(
    ("texts", "finding"),
    [
        (
            (managed("one", "a"), managed("two", "b")),
            "RP601 the folder holds Derivation one and Derivation two",
        ),
        ((managed("one", "a"), managed("one", "b")), "RP601 `spec.sections` stands in two files of the pack"),
        (
            (
                document("Derivation", "one", "  bases: {x: {a: 1}}\n"),
                document("Derivation", "one", "  bases: {x: {a: 1}}\n"),
            ),
            "RP601 the base `x` stands in two files of the pack",
        ),
        (
            (document("Derivation", "one", "  params: {}\n", ""),),
            "RP202 no file of Derivation one gives `metadata.version`",
        ),
    ],
)
def test_files_of_a_folder_that_do_not_belong_together_are_refused(texts: tuple[str, ...], finding: str) -> None:
    assert findings(link(folder(*texts), CATALOGUE)) == [finding]


def test_two_packs_of_one_kind_and_name_are_refused_with_both_places() -> None:
    (found,) = link(files(managed("one", "a"), managed("one", "b")), CATALOGUE).diagnostics
    assert (found.message, str(found.place), str(found.related[0].place)) == (
        "two packs are Derivation one",
        "1.yaml:3:18",
        "0.yaml:3:18",
    )


def test_a_section_is_defined_by_one_derivation_only() -> None:
    (found,) = link(files(managed("one", "a"), managed("two", "b")), CATALOGUE).diagnostics
    assert (found.message, str(found.place), str(found.related[0].place)) == (
        "section `managed` is defined by one and by two",
        "1.yaml:5:14",
        "0.yaml:5:14",
    )


def test_a_shared_block_is_given_by_one_derivation_only() -> None:
    tiers = [document("Derivation", name, "  tiers: {small: {cpu: '1'}}\n") for name in ("one", "two")]
    (found,) = link(files(*tiers), CATALOGUE).diagnostics
    assert (found.code, found.message) == ("RP601", "`tiers` is given by two derivations")


def test_every_pack_sees_the_shared_blocks_and_the_constants_of_the_catalogue() -> None:
    shared = document(
        "Derivation",
        "shared",
        f"  constants: {{{', '.join(f'{name}: hello' for name in NAMES)}}}\n"
        "  tiers: {small: {cpu: '3'}}\n"
        "  settings: [{name: node-management-manual, type: boolean, default: false, help: Whether.}]\n",
    )
    text = "$(const.generic)-$(default(tiers.small.cpu, ''))-$(const.unitsPerCard)"
    rule = f'{{id: m, when: settings.nodeManagementManual, emit: {{value: "{text}"}}}}'
    user = document("Derivation", "user", f"  params: {{bare: x}}\n  sections: {{managed: [{rule}]}}\n")
    result = link(files(shared, user), CATALOGUE)
    assert result.program is not None, findings(result)
    made = result.program.evaluate("managed", {"node": {}, "settings": {"nodeManagementManual": True}})
    assert made.value == {"value": "hello-3-1600000"}
    assert setting_name("node-management-manual") == "nodeManagementManual"


@pytest.mark.parametrize(
    ("name", "finding", "advice"),
    [
        ("mangaed", "RP201 unknown section `mangaed`", "did you mean `managed`?"),
        ("zzz", "RP201 unknown section `zzz`", "sections of a Derivation: capacity"),
        ("inject", "RP201 unknown section `inject`; it belongs in a Manufacturer pack", "sections of a Derivation"),
    ],
)
def test_a_section_that_is_not_the_kinds_own_is_refused(name: str, finding: str, advice: str) -> None:
    result = link(files(document("Derivation", "one", f"  sections: {{{name}: []}}\n")), CATALOGUE)
    assert findings(result) == [finding]
    assert next(iter(result.diagnostics)).help.startswith(advice)


def test_a_pack_replaces_the_one_of_the_context_with_its_name_or_its_section() -> None:
    mine = files(managed("one", "mine"))
    for other in (managed("one", "theirs"), managed("two", "theirs")):
        program = link(mine, CATALOGUE, context=files(other, start=1)).program
        assert program is not None
        assert program.evaluate("managed", {"node": {}, "settings": {}}).value == {"value": "mine"}


def test_what_is_wrong_in_the_context_is_one_finding_that_names_the_pack() -> None:
    broken = document("Derivation", "two", "  sections: {managed: [{id: a, emit: {value: $(node.nothing)}}]}\n")
    result = link(files(document("Derivation", "one", "  params: {}\n")), CATALOGUE, context=files(broken, start=1))
    assert findings(result) == [
        "RP601 Derivation two, which these packs are linked with, no longer fits: there is no field `nothing`"
    ]


def test_derived_values_see_their_scope_and_each_other() -> None:
    spec = (
        "  identity: {manufacturer: acme, pci: [{vendor: '10ab', devices: ['0001']}], resource: a.example/gpu}\n"
        "  derived:\n    card: {half: 'floor_div(default(card.cores, `0`), `2`)', text: 'concat(half, `1`)'}\n"
        "  tables: {empty: {}, rows: [{match: a, value: b}], mixed: {a: b, c: 1}}\n"
        "  sections:\n    inject:\n      - forEach: {in: alloc.cards, as: card}\n        id: a\n"
        "        emit: {env: {A: $(card.derived.text)}}\n"
    )
    assert findings(link(files(document("Manufacturer", "acme", spec)), CATALOGUE)) == []
