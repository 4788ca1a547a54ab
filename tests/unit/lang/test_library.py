"""Libraries in packs: whose rules fire, under which ids, what they see, and what a use has to get right."""

from __future__ import annotations

from typing import Any

import pytest

from engine.lang.library import prefixed
from engine.lang.linking import Linked, link
from engine.lang.packs import PackFiles
from engine.lang.program import Program
from engine.lang.source import Source
from engine.sections.catalog import CATALOGUE

HEAD = "apiVersion: rules.gpustack.ai/v1alpha1\n"
LIBRARY = (
    HEAD
    + """kind: Library
metadata: {name: shared-core, version: "1.2.0"}
spec:
  params:
    dir: ""
    limit: {type: integer, default: 4, minimum: 1, maximum: 8}
    level: {type: string, default: low, enum: [low, high]}
  tables:
    words: {low: quiet, high: loud}
  let:
    owner: concat('pod-', alloc.podUid)
    greeting: concat(owner, '-', with.level)
    many: node.arch == 'amd64'
  rules:
    inject:
      - when: alloc.grant == 'slice'
        rules:
          - id: slice
            emit: {env: {DIR: "$(with.dir)lib", LEVEL: "$(default(lookup(tables.words, with.level), ''))", WHO: $(greeting)}}
      - id: shared-core-cards
        forEach: {in: alloc.cards, as: card}
        emit: {env: {CARD_$(card.position): $(with.limit)}}
    features:
      - {id: many, when: many, emit: {logicalSlices: $(with.limit)}}
"""
)


def maker(body: str = "", *, name: str = "acme", vendor: str = "10ab") -> str:
    return (
        HEAD
        + f"""kind: Manufacturer
metadata: {{name: {name}, version: "1.0.0"}}
spec:
  identity:
    manufacturer: {name}
    pci: [{{vendor: "{vendor}", classPrefixes: ["03"]}}]
    resource: {name}.example/gpu
{body}"""
    )


def files(*texts: str) -> list[PackFiles]:
    return [PackFiles(f"{n}.yaml", (Source(f"{n}.yaml", text.encode()),)) for n, text in enumerate(texts)]


def findings(result: Linked) -> list[str]:
    return [f"{one.code} {one.message}" for one in result.diagnostics.sorted()]


def program(*texts: str) -> Program:
    result = link(files(*texts), CATALOGUE)
    assert result.program is not None, findings(result)
    return result.program


def alloc(**given: Any) -> dict[str, Any]:
    card = {"uuid": "u", "pci": "p", "product": "x", "slots": {}, "extras": {}, "claims": {}, "driver": {}}
    made = {"mode": "sliced", "grant": "slice", "container": "c", "podUid": "7", "arch": "amd64", "channel": "envvar"}
    return {"alloc": {**made, "claims": {}, "cards": [{**card, "position": 0, "index": 0, "driverIndex": 0}], **given}}


def inject(of: Program, maker_name: str = "acme", **given: Any) -> tuple[Any, tuple[str, ...]]:
    outcome = of.evaluate("inject", alloc(**given), maker_name)
    assert outcome.reason == ""
    return outcome.value["env"], outcome.fired


def test_a_library_brings_its_sections_and_rules_under_prefixed_ids() -> None:
    made = program(LIBRARY, maker("  use: [{library: shared-core, with: {dir: x/, level: high}}]\n"))
    env, fired = inject(made)
    assert env == {"DIR": "x/lib", "LEVEL": "loud", "WHO": "pod-7-high", "CARD_0": "4"}
    assert fired == ("shared-core-slice", "shared-core-cards")
    compiled = made.section("inject", "acme")
    assert compiled is not None
    assert compiled.rules[0].rules[0].rules[0].at == "0.yaml:19"


def test_a_librarys_rules_come_after_the_packs_own() -> None:
    body = """  use: [{library: shared-core}]
  sections:
    inject: [{id: own, emit: {env: {OWN: "1"}}}]
"""
    _, fired = inject(program(LIBRARY, maker(body)))
    assert fired == ("own", "shared-core-slice", "shared-core-cards")


def test_the_first_rule_that_fires_is_the_packs_own_where_both_would() -> None:
    body = """  use: [{library: shared-core}]
  sections:
    features: [{id: own, when: card.partitioning == 'enabled', emit: {partitions: true}}]
"""
    made = program(LIBRARY, maker(body))

    def slices(partitioning: str) -> Any:
        facts = {"card": {"partitioning": partitioning}, "model": {"product": "x"}, "runtime": {}}
        node = {"node": {"arch": "amd64"}, "driver": {"capabilities": []}}
        return made.evaluate("features", {**facts, **node}, "acme").value["logicalSlices"]

    assert (slices("enabled"), slices("disabled")) == (0, 4)


def test_a_let_of_a_library_is_visible_only_to_a_pack_that_asks_for_it() -> None:
    sections = "  sections:\n    inject: [{id: own, emit: {env: {OWN: $(greeting)}}}]\n"
    without = link(files(LIBRARY, maker("  use: [{library: shared-core}]\n" + sections)), CATALOGUE)
    assert [one for one in findings(without) if "greeting" in one] == ["RP401 there is no name `greeting`"]
    env, _ = inject(program(LIBRARY, maker("  use: [{library: shared-core, let: [greeting]}]\n" + sections)))
    assert env["OWN"] == env["WHO"] == "pod-7-low"


def test_what_an_imported_let_reads_is_in_the_read_set_of_the_section() -> None:
    body = """  use: [{library: shared-core, let: [owner]}]
  sections:
    inject: [{id: own, emit: {env: {OWN: $(owner)}}}]
"""
    compiled = program(LIBRARY, maker(body)).section("inject", "acme")
    assert compiled is not None
    assert ("alloc", "podUid") in compiled.reads
    assert [let.name for let in compiled.lets] == ["owner"]


def test_a_packs_let_and_a_librarys_let_of_one_name_keep_their_own_values() -> None:
    body = """  use: [{library: shared-core}]
  sections:
    inject:
      let: {owner: alloc.container, greeting: "concat('own-', owner)"}
      rules: [{id: own, emit: {env: {OWN: $(greeting)}}}]
"""
    env, _ = inject(program(LIBRARY, maker(body)))
    assert (env["OWN"], env["WHO"]) == ("own-c", "pod-7-low")


def test_two_libraries_that_give_a_pack_one_let_are_refused() -> None:
    other = LIBRARY.replace("shared-core", "other-core").replace("words", "others").replace("DIR:", "D:")
    body = """  use: [{library: shared-core, let: [owner]}, {library: other-core, let: [owner]}]
  sections:
    inject: [{id: own, emit: {env: {OWN: $(owner)}}}]
"""
    result = link(files(LIBRARY, other, maker(body)), CATALOGUE)
    assert "RP601 two libraries give acme a let `owner`" in findings(result)


def test_a_pack_sees_the_tables_of_its_libraries() -> None:
    body = """  use: [{library: shared-core}]
  tables: {mine: {a: b}}
  sections:
    inject: [{id: own, emit: {env: {A: "$(default(lookup(tables.words, 'low'), ''))", B: "$(default(lookup(tables.mine, 'a'), ''))"}}}]
"""
    env, _ = inject(program(LIBRARY, maker(body)))
    assert (env["A"], env["B"]) == ("quiet", "b")


def test_a_library_does_not_see_the_parameters_and_tables_of_the_pack() -> None:
    nosy = LIBRARY.replace("$(with.dir)lib", "$(params.mine)$(lookup(tables.mine, 'a'))")
    body = "  use: [{library: shared-core}]\n  params: {mine: x}\n  tables: {mine: {a: b}}\n"
    result = link(files(nosy, maker(body)), CATALOGUE)
    assert [one for one in findings(result) if one.startswith("RP4")] != []
    assert all(one.place is not None and one.place.source.path == "0.yaml" for one in result.diagnostics)


def test_a_finding_in_a_library_is_reported_once_with_the_place_that_uses_it() -> None:
    broken = LIBRARY.replace("$(greeting)}", "$(alloc.nothing)}").replace("$(greeting)", "$(alloc.nothing)")
    use = "  use: [{library: shared-core, let: [greeting]}]\n"
    result = link(files(broken, maker(use), maker(use, name="bolt", vendor="10cd")), CATALOGUE)
    (found,) = [one for one in result.diagnostics if one.code == "RP401"]
    assert str(found.place).startswith("0.yaml:")
    assert [str(one.place) for one in found.related] == ["1.yaml:9:19"]


def test_an_error_in_an_imported_let_points_into_the_library() -> None:
    broken = LIBRARY.replace("concat('pod-', alloc.podUid)", "alloc.nothing")
    body = """  use: [{library: shared-core, let: [owner]}]
  sections:
    inject: [{id: own, emit: {env: {OWN: $(owner)}}}]
"""
    result = link(files(broken, maker(body)), CATALOGUE)
    assert result.program is None
    assert {str(one.place) for one in result.diagnostics if one.code == "RP401"} == {"0.yaml:12:18"}


def test_a_pack_and_a_library_cannot_give_one_id_twice() -> None:
    body = """  use: [{library: shared-core}]
  sections:
    inject: [{id: shared-core-slice, emit: {env: {OWN: "1"}}}]
"""
    result = link(files(LIBRARY, maker(body)), CATALOGUE)
    (found,) = result.diagnostics
    assert (found.code, str(found.place)) == ("RP501", "0.yaml:19:17")
    assert [str(one.place) for one in found.related] == ["1.yaml:11:19", "1.yaml:9:19"]


def test_a_broken_library_is_reported_also_when_only_a_pack_of_the_context_uses_it() -> None:
    broken = LIBRARY.replace("$(greeting)}", "$(alloc.nothing)}")
    library, pack = files(broken, maker("  use: [{library: shared-core}]\n"))
    result = link([library], CATALOGUE, context=[pack])
    assert [one for one in findings(result) if one.startswith("RP401")] == ["RP401 there is no field `nothing`"]


def test_a_library_that_a_pack_of_the_context_can_no_longer_use_is_refused() -> None:
    library, pack = files(LIBRARY, maker("  use: [{library: shared-core, with: {gone: 1}}]\n"))
    result = link([library], CATALOGUE, context=[pack])
    assert result.program is None
    assert any("no longer fits: library shared-core has no parameter `gone`" in one for one in findings(result))


def test_rules_of_a_library_fill_a_section_of_a_derivation_once() -> None:
    library = HEAD + (
        'kind: Library\nmetadata: {name: notes, version: "1.0.0"}\nspec:\n'
        "  rules: {managed: [{id: yes, emit: {value: $(with.value)}}]}\n  params: {value: {type: string, default: t}}\n"
    ).replace("id: yes", "id: always")
    derivation = 'kind: Derivation\nmetadata: {name: NAME, version: "1.0.0"}\nspec: {use: [{library: notes}]}\n'
    one, two = (HEAD + derivation.replace("NAME", name) for name in ("one", "two"))
    assert program(library, one).evaluate("managed", {"node": {}, "settings": {}}).value == {"value": "t"}
    result = link(files(library, one, two), CATALOGUE)
    (found,) = result.diagnostics
    assert (found.code, found.message) == ("RP601", "section `managed` is defined by one and by library notes")


def test_a_librarys_rule_may_only_write_keys_that_the_packs_section_owns() -> None:
    library = HEAD + (
        'kind: Library\nmetadata: {name: notes, version: "1.0.0"}\nspec:\n'
        '  rules: {labels: [{id: rack, emit: {site.example/rack: "1"}}]}\n'
    )
    body = "  use: [{library: notes}]\n  sections: {labels: {owns: [OWNS], rules: []}}\n"
    assert findings(link(files(library, maker(body.replace("OWNS", "site.example/*"))), CATALOGUE)) == []
    assert findings(link(files(library, maker(body.replace("OWNS", "other.example/*"))), CATALOGUE)) == [
        'RP523 the key "site.example/rack" is outside what the section owns'
    ]
    (found,) = link(files(library, maker("  use: [{library: notes}]\n")), CATALOGUE).diagnostics
    assert (found.code, str(found.place)[:6], [str(one.place) for one in found.related]) == (
        "RP202",
        "0.yaml",
        ["1.yaml:9:19"],
    )
    (found,) = link(files(library, maker(body.replace("{owns: [OWNS], rules: []}", "[]"))), CATALOGUE).diagnostics
    assert (found.code, str(found.place)[:6]) == ("RP202", "1.yaml")


@pytest.mark.parametrize(
    ("use", "finding"),
    [
        ("{library: shared-core, with: {limit: 9}}", "RP204 the parameter `limit` of library shared-core cannot be 9"),
        ("{library: shared-core, with: {limit: 0}}", "RP204 the parameter `limit` of library shared-core cannot be 0"),
        ("{library: shared-core, with: {level: x}}", "RP204 the parameter `level` of library shared-core cannot be x"),
        (
            "{library: shared-core, with: {limit: true}}",
            "RP111 the parameter `limit` of library shared-core is of type integer, got boolean",
        ),
        (
            "{library: shared-core, with: {dir: [a]}}",
            "RP111 the parameter `dir` of library shared-core is of type string, got list",
        ),
        (
            "{library: shared-core, version: newest}",
            "RP204 `newest` is no comparison of versions",
        ),
        ("{library: unheard-of}", "RP610 there is no library unheard-of"),
        ("{library: shared-core, let: [nothing]}", "RP610 library shared-core has no let `nothing`"),
    ],
)
def test_a_use_that_does_not_fit_is_refused(use: str, finding: str) -> None:
    result = link(files(LIBRARY, maker(f"  use: [{use}]\n")), CATALOGUE)
    assert finding in findings(result)
    assert result.program is None


def test_a_library_within_the_range_asked_for_is_used() -> None:
    body = '  use: [{library: shared-core, version: ">=1.2 <2"}]\n  requires: {libraries: {shared-core: ">1.1.9"}}\n'
    assert findings(link(files(LIBRARY, maker(body)), CATALOGUE)) == []


def test_a_required_library_that_is_not_there_is_an_error() -> None:
    result = link(files(maker("  requires: {libraries: {shared-core: '>=1'}}\n")), CATALOGUE)
    assert findings(result) == ["RP610 there is no library shared-core"]


def test_an_id_that_has_the_librarys_name_already_is_not_prefixed_again() -> None:
    assert (prefixed("core", "core-slice"), prefixed("core", "coreslice")) == ("core-slice", "core-coreslice")


def test_the_program_holds_no_trace_of_libraries_but_their_rules() -> None:
    made = program(LIBRARY, maker("  use: [{library: shared-core}]\n"))
    assert [pack.name for pack in made.packs] == ["acme"]
    assert "use" not in made.packs[0].blocks
    assert Program.from_json(made.to_json()).digest == made.digest
    other = program(LIBRARY, maker("  use: [{library: shared-core, with: {dir: y/}}]\n"))
    assert other.digest != made.digest
