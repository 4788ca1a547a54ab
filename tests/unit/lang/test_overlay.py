"""Overlays: what they change, in which order, what they may not change, and where their findings point."""

from __future__ import annotations

from typing import Any

import pytest

from engine.lang.linking import Linked, link
from engine.lang.packs import PackFiles
from engine.lang.program import Program
from engine.lang.source import Source
from engine.lang.tree import plain
from engine.sections.catalog import CATALOGUE

HEAD = "apiVersion: rules.gpustack.ai/v1alpha1\n"
PACK = (
    HEAD
    + """kind: Manufacturer
metadata: {name: acme, version: "1.4.0"}
spec:
OPEN
  identity:
    manufacturer: acme
    pci: [{vendor: "10ab", classPrefixes: ["03"]}]
    resource: acme.example/gpu
  deploy:
    env: {ACME: "1"}
  params:
    most: {type: integer, default: 8, minimum: 1, maximum: 64}
    note: plain
  tables:
    family: {one: First, two: Second}
  sections:
    features:
      - {id: feature-slices, emit: {logicalSlices: $(params.most)}}
    guards:
      - id: guard-many
        when: length(alloc.cards) > `1`
        emit: {refuse: ACME_MANY}
        message: one card only
    labels:
      owns: [acme.example/*]
      rules:
        - id: label-product
          emit: {acme.example/product: $(params.note)}
    inject:
      - id: inject-visible
        emit: {env: {ACME_CARDS: "1", ACME_LOG: "0"}}
      - when: alloc.mode == 'exclusive'
        rules:
          - id: inject-whole
            emit:
              env: {ACME_WHOLE: "1"}
              notes: [whole]
          - id: inject-old
            deprecated: {since: "1.3.0", use: inject-whole}
            emit: {env: {ACME_OLD: "1"}}
"""
)


def files(*texts: str, start: int = 0) -> list[PackFiles]:
    return [PackFiles(f"{n}.yaml", (Source(f"{n}.yaml", text.encode()),)) for n, text in enumerate(texts, start)]


def pack(opened: str = "[]") -> str:
    return PACK.replace("OPEN\n", f"  open: {opened}\n")


def overlay(body: str, *, name: str = "site", target: str = "{pack: acme}") -> str:
    head = f'kind: Overlay\nmetadata: {{name: {name}, version: "1.0.0"}}\nspec:\n  target: {target}\n'
    return HEAD + head + body


def linked(*bodies: str, opened: str = "[]") -> Linked:
    """The pack with overlays over it: bodies, or whole documents."""
    texts = [body if body.startswith(HEAD) else overlay(body, name=f"o{n}") for n, body in enumerate(bodies)]
    return link(files(pack(opened)), CATALOGUE, overlays=files(*texts, start=1))


def findings(result: Linked) -> list[str]:
    return [f"{one.code} {one.message}" for one in result.diagnostics.sorted()]


def program(*bodies: str, opened: str = "[]") -> Program:
    result = linked(*bodies, opened=opened)
    assert result.program is not None, findings(result)
    return result.program


def inject(of: Program) -> Any:
    alloc = {"mode": "exclusive", "grant": "whole", "container": "c", "podUid": "7", "arch": "amd64"}
    made = of.evaluate("inject", {"alloc": {**alloc, "channel": "envvar", "cards": [], "claims": {}}}, "acme")
    assert made.reason == ""
    return made.value


def slices(of: Program) -> Any:
    node = {"node": {"arch": "amd64"}, "driver": {"capabilities": []}, "runtime": {}}
    card = {"card": {"partitioning": "unsupported"}, "model": {"product": "x"}}
    return of.evaluate("features", {**node, **card}, "acme").value["logicalSlices"]


def ids(of: Program) -> list[str]:
    compiled = of.section("inject", "acme")
    assert compiled is not None
    found = []
    for rule in compiled.rules:
        found += [inner.id for inner in rule.rules] if hasattr(rule, "rules") else [rule.id]
    return found


# what changes


def test_a_parameter_is_set_without_naming_a_rule() -> None:
    made = program("  params: {most: 2, note: other}\n")
    assert slices(made) == 2
    assert made.digest != program().digest
    assert made.block("params", "acme")["most"] == {"type": "integer", "default": 2, "minimum": 1, "maximum": 64}


def test_a_value_in_a_rule_is_replaced_by_path_and_the_rest_of_the_rule_stays() -> None:
    body = "  replace: [{rule: inject/inject-visible, set: {emit.env.ACME_LOG: '2', emit.env.NEW: x}}]\n"
    assert inject(program(body))["env"] == {
        "ACME_CARDS": "1",
        "ACME_LOG": "2",
        "NEW": "x",
        "ACME_WHOLE": "1",
        "ACME_OLD": "1",
    }


def test_a_rule_inside_a_group_is_reached_by_its_id_alone_and_lists_are_replaced_whole() -> None:
    body = (
        "  replace: [{rule: inject/inject-whole, set: {emit.notes: [other], when: 'alloc.mode == `\"exclusive\"`'}}]\n"
    )
    assert inject(program(body))["notes"] == ["other"]


def test_an_optional_key_and_the_key_itself_are_one_place() -> None:
    body = "  replace: [{rule: inject/inject-visible, set: {'emit.env.ACME_LOG?': $(alloc.runtimeClass)}}]\n"
    assert "ACME_LOG" not in inject(program(body))["env"]


def test_a_key_with_dots_stands_in_quotes() -> None:
    body = "  replace: [{rule: labels/label-product, set: {'emit.\"acme.example/product\"': mine}}]\n"
    made = program(body).section("labels", "acme")
    assert made is not None
    assert "acme.example/product" in str(made.rules)
    assert "mine" in str(made.rules)


def test_null_is_a_value_and_takes_nothing_away() -> None:
    result = linked("  replace: [{rule: inject/inject-visible, set: {emit.env.ACME_LOG: null}}]\n")
    assert [one.code for one in result.diagnostics.sorted()] != []
    assert all(one.place is not None and one.place.source.path == "1.yaml" for one in result.diagnostics)


def test_a_rule_is_added_at_the_end_or_beside_a_neighbour() -> None:
    def added(where: str) -> list[str]:
        return ids(program(f"  add: [{{section: inject, rule: {{id: mine, emit: {{env: {{M: '1'}}}}}}{where}}}]\n"))

    assert added("") == ["inject-visible", "inject-whole", "inject-old", "mine"]
    assert added(", before: inject-visible") == ["mine", "inject-visible", "inject-whole", "inject-old"]
    assert added(", after: inject-whole") == ["inject-visible", "inject-whole", "mine", "inject-old"]


def test_a_group_is_added_whole() -> None:
    rules = "{when: alloc.mode == 'exclusive', rules: [{id: mine, emit: {env: {M: '1'}}}]}"
    assert inject(program(f"  add: [{{section: inject, rule: {rules}}}]\n"))["env"]["M"] == "1"


def test_a_section_the_pack_lacks_comes_with_its_first_rule() -> None:
    made = program("  add: [{section: model, rule: {id: mine, emit: {exclude: unwanted}}}]\n")
    assert made.evaluate("model", {"card": {"slots": {}, "extras": {}}, "host": {"arch": "a"}}, "acme").value == {
        "exclude": "unwanted"
    }


def test_an_added_rule_can_bring_the_keys_it_owns() -> None:
    rule = "section: labels, rule: {id: mine, emit: {site.example/rack: r1}}"
    assert "RP523" in findings(linked(f"  add: [{{{rule}}}]\n"))[0]
    made = program(f"  add: [{{{rule}, owns: [site.example/rack]}}]\n").section("labels", "acme")
    assert made is not None
    assert made.owns == ("acme.example/*", "site.example/rack")


def test_the_owns_of_a_section_are_set_as_a_whole() -> None:
    made = program("  set: {sections.labels.owns: [acme.example/product]}\n").section("labels", "acme")
    assert made is not None
    assert made.owns == ("acme.example/product",)


def test_a_section_written_as_a_bare_list_gets_a_let() -> None:
    body = "  set: {sections.inject.let.mine: \"'x'\"}\n  replace: [{rule: inject/inject-visible, set: {emit.env.A: $(mine)}}]\n"
    assert inject(program(body))["env"]["A"] == "x"


def test_a_rule_is_removed_and_its_neighbours_stay() -> None:
    assert ids(program("  remove: [inject/inject-whole]\n")) == ["inject-visible", "inject-old"]


def test_a_rule_is_added_beside_one_that_the_same_overlay_removes() -> None:
    body = "  add: [{section: inject, after: inject-old, rule: {id: mine, emit: {env: {M: '1'}}}}]\n  remove: [inject/inject-old]\n"
    assert ids(program(body)) == ["inject-visible", "inject-whole", "mine"]


def test_values_of_blocks_are_set_by_path() -> None:
    made = program("  set: {deploy.env.MORE: '2', tables.family.one: Other, presets.tiers.small: [a10]}\n")
    assert made.block("deploy", "acme")["env"] == {"ACME": "1", "MORE": "2"}
    assert made.block("tables", "acme")["family"] == {"one": "Other", "two": "Second"}
    assert made.block("presets", "acme") == {"tiers": {"small": ["a10"]}}


def test_a_library_is_changed_like_a_pack_and_reaches_every_pack_that_uses_it() -> None:
    library = (
        HEAD
        + 'kind: Library\nmetadata: {name: core, version: "1.0.0"}\nspec:\n  params: {level: low}\n'
        + "  rules: {inject: [{id: env, emit: {env: {LEVEL: $(with.level)}}}]}\n"
    )
    user = pack().replace("  deploy:", "  use: [{library: core}]\n  deploy:")
    over = overlay(
        "  params: {level: high}\n  replace: [{rule: inject/env, set: {emit.env.MORE: '1'}}]\n"
        "  add: [{section: inject, rule: {id: mine, emit: {env: {M: '1'}}}}]\n",
        target="{kind: Library, pack: core}",
    )
    result = link(files(user, library), CATALOGUE, overlays=files(over, start=2))
    assert result.program is not None, findings(result)
    env = inject(result.program)["env"]
    assert (env["LEVEL"], env["MORE"], env["M"]) == ("high", "1", "1")
    stray = overlay("  replace: [{rule: inject/core-env, set: {emit.env.MORE: '1'}}]\n")
    (found,) = link(files(user, library), CATALOGUE, overlays=files(stray, start=2)).diagnostics
    assert found.message == "rule inject/core-env comes from library core"


# layers


def test_a_higher_layer_has_the_last_word_whatever_the_names_are() -> None:
    site = overlay("  params: {most: 3}\n", name="z")
    emergency = overlay("  layer: emergency\n  params: {most: 1}\n", name="a")
    distro = overlay("  layer: distro\n  params: {most: 5}\n", name="m")
    assert slices(program(emergency, site, distro)) == 1
    assert slices(program(distro, site)) == 3


def test_a_rule_removed_by_a_lower_layer_is_gone_for_a_higher_one() -> None:
    site = overlay("  remove: [inject/inject-whole]\n", name="a")
    emergency = overlay("  layer: emergency\n  remove: [inject/inject-whole]\n", name="b")
    (found,) = linked(emergency, site).diagnostics
    assert found.message == "rule inject/inject-whole was removed by overlay a (site)"
    assert [str(one.place) for one in found.related] == ["2.yaml:6:12"]


@pytest.mark.parametrize(
    ("one", "other", "clash"),
    [
        ("  params: {most: 3}\n", "  params: {note: x}\n", False),
        ("  params: {most: 3}\n", "  params: {most: 3}\n", True),
        (
            "  replace: [{rule: inject/inject-visible, set: {emit.env.A: '1'}}]\n",
            "  replace: [{rule: inject/inject-visible, set: {emit.env.B: '1'}}]\n",
            False,
        ),
        (
            "  replace: [{rule: inject/inject-visible, set: {emit.env.A: '1'}}]\n",
            "  replace: [{rule: inject/inject-visible, set: {'emit.env.A?': '2'}}]\n",
            True,
        ),
        (
            "  replace: [{rule: inject/inject-visible, set: {emit.env.A: '1'}}]\n",
            "  remove: [inject/inject-visible]\n",
            True,
        ),
        ("  set: {deploy.env.A: '1'}\n", "  set: {deploy.env: {B: '1'}}\n", True),
        (
            "  add: [{section: inject, rule: {id: mine, emit: {env: {M: '1'}}}}]\n",
            "  add: [{section: inject, rule: {rules: [{id: mine, emit: {env: {N: '1'}}}]}}]\n",
            True,
        ),
    ],
)
def test_two_overlays_of_one_layer_may_not_touch_one_place(one: str, other: str, clash: bool) -> None:
    result = linked(one, other)
    assert ("RP612" in [found.code for found in result.diagnostics]) is clash
    for found in result.diagnostics:
        if found.code == "RP612":
            assert [str(place)[:6] for place in (found.place, found.related[0].place)] == ["2.yaml", "1.yaml"]


def test_one_overlay_may_not_change_one_place_twice() -> None:
    change = "{rule: inject/inject-visible, set: {emit.env.A: '1'}}"
    (found,) = linked(f"  replace: [{change}, {change}]\n").diagnostics
    assert found.code == "RP612"
    assert "the same overlay" in found.message


# what may not be changed


@pytest.mark.parametrize(
    ("body", "opening"),
    [
        ("  set: {identity.resource: other.example/gpu}\n", "identity"),
        ("  replace: [{rule: guards/guard-many, set: {emit.refuse: OTHER}}]\n", "guards"),
        ("  remove: [guards/guard-many]\n", "guards"),
        (
            "  add: [{section: guards, rule: {id: mine, when: alloc.podUid == 'x', emit: {refuse: X}, message: no way}}]\n",
            "guards",
        ),
        ("  set: {sections.guards.let.mine: \"'x'\"}\n", "guards"),
    ],
)
def test_identity_and_guards_are_sealed_unless_the_pack_opens_them(body: str, opening: str) -> None:
    (found,) = linked(body).diagnostics
    assert (found.code, found.message) == ("RP613", f"`{opening}` of Manufacturer acme is sealed")
    assert findings(linked(body, opened=f"[{opening}]")) == []


def test_the_driver_of_a_pack_and_the_id_of_a_rule_are_sealed_for_good() -> None:
    body = "  set: {driver.library: x.so}\n  replace: [{rule: inject/inject-visible, set: {id: other}}]\n"
    assert findings(linked(body, opened="[identity, guards]")) == [
        "RP613 `driver` of Manufacturer acme is sealed",
        "RP613 the id of a rule cannot be changed",
    ]


def test_a_deprecated_rule_can_be_changed_with_a_warning() -> None:
    result = linked("  replace: [{rule: inject/inject-old, set: {emit.env.ACME_OLD: '2'}}]\n")
    assert result.program is not None
    assert findings(result) == ["RP613 rule inject/inject-old is deprecated since 1.3.0"]
    gone = linked("  replace: [{rule: inject/inject-old, set: {deprecated: {since: '1.4.0'}}}]\n")
    assert findings(gone) == []


def test_an_overlay_of_another_version_is_inert_and_reported() -> None:
    over = overlay("  params: {most: 2, unheard: 1}\n", target="{pack: acme, version: '>=2'}")
    result = linked(over)
    assert findings(result) == ["RP611 Manufacturer acme is version 1.4.0, outside `>=2`"]
    assert plain(result.packs[0].spec["params"].value)["most"]["default"] == 8
    assert slices(program(overlay("  params: {most: 2}\n", target="{pack: acme, version: '>=1.4 <2'}"))) == 2


@pytest.mark.parametrize(
    ("body", "finding"),
    [
        ("  remove: [inject/inject-hole]\n", "RP610 Manufacturer acme has no rule inject/inject-hole"),
        ("  remove: [inject/zzz]\n", "RP610 Manufacturer acme has no rule inject/zzz"),
        ("  remove: [claims/zzz]\n", "RP610 Manufacturer acme has no rule claims/zzz"),
        ("  remove: [labels/inject-whole]\n", "RP610 section labels has no rule inject-whole"),
        (
            "  add: [{section: inject, before: zzz, rule: {id: mine, emit: {env: {M: '1'}}}}]\n",
            "RP610 Manufacturer acme has no rule inject/zzz",
        ),
        (
            "  add: [{section: inject, before: inject-old, after: inject-old, rule: {id: mine, emit: {env: {M: '1'}}}}]\n",
            "RP203 a rule stands `before` one or `after` one, not both",
        ),
        (
            "  add: [{section: inject, rule: {id: inject-old, emit: {env: {M: '1'}}}}]\n",
            "RP501 Manufacturer acme has a rule `inject-old` already",
        ),
        (
            "  add: [{section: flavor, rule: {id: mine, emit: {name: x}}}]\n",
            "RP201 unknown section `flavor`; it belongs in a Derivation pack",
        ),
        ("  replace: [{rule: inject/inject-old, set: {emmit.env: {}}}]\n", "RP610 there is no key `emmit` in a rule"),
        (
            "  replace: [{rule: inject/inject-whole, set: {emit.env.ACME_WHOLE.deep: x}}]\n",
            "RP610 `deep` cannot be set inside a value that is no map",
        ),
        ("  replace: [{rule: inject/inject-old, set: {emit..env: {}}}]\n", "RP204 `emit..env` is no path"),
        ("  set: {params.most: 3}\n", "RP610 parameters have a place of their own"),
        ("  set: {tabels.family.one: x}\n", "RP610 there is no block `tabels` that an overlay sets"),
        ("  set: {tables.famly.one: x}\n", "RP610 there is no `famly` in `tables`"),
        ("  set: {tiers.small.cpu: '1'}\n", "RP610 there is no `tiers` in Manufacturer acme"),
        ("  set: {deploy.env.ACME.deep: x}\n", "RP610 `deep` cannot be set inside a value that is no map"),
        ("  set: {deploy.enf: {A: x}}\n", "RP201 unknown key `enf`; did you mean `env`?"),
        ("  set: {deploy.env.ACME: 3}\n", "RP111 `spec.deploy.env.ACME`: expected string, got integer written `3`"),
        ("  set: {sections.labls.owns: [a]}\n", "RP610 there is no section `labls` in Manufacturer acme"),
        ("  set: {sections: {}}\n", "RP610 there is no section `` in Manufacturer acme"),
        ("  set: {sections.labels.rules: []}\n", "RP610 of a section an overlay sets `owns` and `let`"),
        ("  set: {sections.labels: []}\n", "RP610 of a section an overlay sets `owns` and `let`"),
        ("  params: {mots: 3}\n", "RP610 Manufacturer acme has no parameter `mots`"),
        ("  params: {note: 3}\n", "RP111 the parameter `note` of Manufacturer acme is of type string, got integer"),
        ("  params: {note: null}\n", "RP111 the parameter `note` of Manufacturer acme is of type string, got null"),
    ],
)
def test_what_does_not_fit_is_refused_and_points_into_the_overlay(body: str, finding: str) -> None:
    result = linked(body)
    assert findings(result) == [finding]
    assert result.program is None
    (found,) = result.diagnostics
    assert found.place is not None
    assert found.place.source.path == "1.yaml"
    assert found.help


def test_a_pack_without_parameters_says_so() -> None:
    bare = HEAD + 'kind: Derivation\nmetadata: {name: bare, version: "1.0.0"}\nspec: {}\n'
    over = overlay("  params: {most: 3}\n", target="{pack: bare}")
    (found,) = link(files(bare), CATALOGUE, overlays=files(over, start=1)).diagnostics
    assert found.help == "it has none"


def test_an_expression_of_an_overlay_is_checked_and_points_into_the_overlay() -> None:
    (found,) = linked("  replace: [{rule: inject/inject-visible, set: {emit.env.A: $(alloc.podUdi)}}]\n").diagnostics
    assert (found.code, str(found.place)) == ("RP401", "1.yaml:6:69")


def test_a_finding_in_the_pack_that_an_overlay_causes_names_the_overlay() -> None:
    (found,) = linked("  replace: [{rule: inject/inject-visible, set: {unknown: why}}]\n").diagnostics
    assert (found.code, str(found.place)[:6]) == ("RP203", "0.yaml")
    assert [str(one.place) for one in found.related] == ["1.yaml:3:18"]


# targets


def test_a_target_of_two_kinds_has_to_be_named_with_its_kind() -> None:
    library = HEAD + 'kind: Library\nmetadata: {name: acme, version: "1.0.0"}\nspec: {params: {most: 1}}\n'

    def result(target: str) -> Linked:
        over = overlay("  params: {most: 3}\n", target=target)
        return link(files(pack(), library), CATALOGUE, overlays=files(over, start=2))

    assert findings(result("{pack: acme}"))[-1] == "RP610 Manufacturer acme and Library acme are both there"
    assert result("{pack: acme, kind: Manufacturer}").program is not None


def test_only_overlays_are_put_over_packs() -> None:
    result = link(files(pack()), CATALOGUE, overlays=files(pack(), start=1))
    assert findings(result) == ["RP210 Manufacturer acme is no Overlay, and only overlays are put over packs"]


def test_a_target_that_nothing_resembles_is_refused() -> None:
    (found,) = linked(overlay("  params: {most: 3}\n", target="{pack: zzz, kind: Derivation}")).diagnostics
    assert (found.message, found.related) == ("there is no Derivation zzz to change", ())


def test_a_broken_overlay_document_is_reported_by_its_structure_alone() -> None:
    result = linked(HEAD + 'kind: Overlay\nmetadata: {name: x, version: "1.0.0"}\nspec: {}\n')
    assert [one.code for one in result.diagnostics] == ["RP202"]


def test_further_files_of_an_overlay_belong_to_it() -> None:
    first = Source("a.yaml", overlay("  params: {most: 3}\n").encode())
    second = Source(
        "b.yaml", (HEAD + "kind: Overlay\nmetadata: {name: site}\nspec:\n  remove: [inject/zzz]\n").encode()
    )
    over = PackFiles("over", (first, second), directory=True)
    result = link(files(pack()), CATALOGUE, overlays=[over])
    assert findings(result) != []


def test_an_overlay_over_a_pack_of_the_context_reports_its_findings() -> None:
    other = HEAD + 'kind: Derivation\nmetadata: {name: other, version: "1.0.0"}\nspec: {}\n'
    over = overlay("  replace: [{rule: inject/inject-visible, set: {emit.env.A: $(alloc.podUdi)}}]\n")
    result = link(files(other, start=2), CATALOGUE, context=files(pack()), overlays=files(over, start=1))
    assert [(one.code, str(one.place)) for one in result.diagnostics] == [("RP401", "1.yaml:6:69")]


# overlays among the packs


def test_an_overlay_among_the_packs_is_checked_and_changes_nothing() -> None:
    waiting = overlay("  params: {most: 2}\n")
    result = link([*files(pack()), *files(waiting, start=1)], CATALOGUE)
    assert result.program is not None
    assert slices(result.program) == 8
    assert result.program.digest == program().digest


def test_an_overlay_that_is_applied_is_not_checked_a_second_time() -> None:
    broken = files(overlay("  params: {most: 99}\n"), start=1)
    result = link([*files(pack()), *broken], CATALOGUE, overlays=broken)
    assert [one.code for one in result.diagnostics] == ["RP204"]


def test_two_waiting_overlays_are_alternatives_and_no_conflict() -> None:
    waiting = [overlay("  params: {most: 2}\n", name=name) for name in ("one", "two")]
    assert findings(link([*files(pack()), *files(*waiting, start=1)], CATALOGUE)) == []


def test_a_waiting_overlay_does_not_repeat_what_is_wrong_with_its_pack() -> None:
    broken = pack().replace("$(params.note)", "$(params.nope)")
    waiting = overlay("  params: {most: 2}\n")
    alone = findings(link(files(broken), CATALOGUE))
    assert findings(link([*files(broken), *files(waiting, start=1)], CATALOGUE)) == alone
    assert alone != []


def test_a_waiting_overlay_of_the_context_is_left_alone() -> None:
    waiting = overlay("  params: {most: 99}\n")
    assert findings(link(files(pack()), CATALOGUE, context=files(waiting, start=1))) == []
