"""What no test of a pack showed."""

from __future__ import annotations

from engine.lang import ir
from engine.lang.packtest_coverage import Recorder, optional_paths, path_of, rule_shapes
from engine.lang.parser import parse
from engine.lang.section import Combine

TRUE = parse("x == 'y'")


def section(*rules: ir.Rule | ir.Group, name: str = "s") -> ir.CompiledSection:
    return ir.CompiledSection(name=name, combine=Combine.LIST, must=False, lets=(), rules=rules)


def rule(rule_id: str, *, when: bool = False, over: str = "", emit: ir.Emit | None = None) -> ir.Rule:
    walked = ir.ForEach(parse(over), "one") if over else None
    return ir.Rule(rule_id, f"pack.yaml:{rule_id}", when=TRUE if when else None, for_each=walked, emit=emit)


def keys(*entries: tuple[str, ir.Emit], optional: bool = True) -> ir.Entries:
    return ir.Entries(tuple(ir.Entry(key, optional, value, key) for key, value in entries))


def said(recorder: Recorder, made: ir.CompiledSection, never_empty: frozenset[str] = frozenset()) -> list[str]:
    return [f"{gap.code} {gap.message}" for gap in recorder.gaps({made.name: made}, never_empty=never_empty)]


def test_a_rule_that_never_fired_is_the_only_thing_said_of_it() -> None:
    made = section(rule("a", when=True, over="list"))
    assert said(Recorder(), made) == ["RP703 rule `a` never fired in any test"]
    assert next(Recorder().gaps({"s": made}, never_empty=frozenset())).at == "pack.yaml:a"


def test_only_a_rule_with_a_condition_has_to_be_silent_once() -> None:
    group = ir.Group((rule("c"),), when=TRUE)
    made = section(rule("a"), rule("b", when=True), group)
    recorder = Recorder()
    for one in ("a", "b", "c"):
        recorder.rule_fired("s", one)
    assert said(recorder, made) == [
        "RP704 rule `b` was never silent in any test",
        "RP704 rule `c` was never silent in any test",
    ]
    recorder.rule_silent("s", "b")
    recorder.rule_silent("s", "c")
    assert said(recorder, made) == []


def test_what_another_section_did_does_not_count() -> None:
    recorder = Recorder()
    recorder.rule_fired("other", "a")
    assert said(recorder, section(rule("a"))) == ["RP703 rule `a` never fired in any test"]


def test_an_iterating_rule_is_tried_with_no_item_one_and_two() -> None:
    made = section(ir.Group((rule("a"),), for_each=ir.ForEach(parse("alloc.cards"), "card")))
    recorder = Recorder()
    recorder.rule_fired("s", "a")
    recorder.items("s", "a", 1)
    assert said(recorder, made) == [
        "RP704 rule `a` was never tried with no item",
        "RP703 rule `a` was never tried with two items",
    ]
    recorder.items("s", "a", 5)
    assert said(recorder, made) == ["RP704 rule `a` was never tried with no item"]
    assert said(recorder, made, frozenset({"alloc.cards"})) == []
    recorder.items("s", "a", 0)
    assert said(recorder, made) == []


def test_a_constant_list_has_one_length_and_firing_shows_it() -> None:
    recorder = Recorder()
    recorder.rule_fired("s", "a")
    for written in ("`[1, 2]`", "['x', 'y']"):
        assert said(recorder, section(rule("a", over=written))) == []
    assert said(recorder, section(rule("a", over="[x, 'y']"))) != []


def test_an_optional_key_has_to_be_seen_there_and_absent() -> None:
    made = section(rule("a", emit=keys(("family", ir.Constant("x")))))
    recorder = Recorder()
    recorder.rule_fired("s", "a")
    assert said(recorder, made) == [
        "RP703 rule `a`: its key `family?` was never there",
        "RP704 rule `a`: its key `family?` was never absent",
    ]
    recorder.optional_key("s", "a", "family", present=True)
    recorder.optional_key("s", "a", "family", present=False)
    assert said(recorder, made) == []


def test_optional_keys_are_found_at_every_depth_under_the_names_the_pack_wrote() -> None:
    inner = keys(("b", ir.Text(("t",))))
    computed = ir.Entries((ir.Entry(ir.Text(("k",)), optional=True, value=ir.Constant(1), written="$(k)"),))
    emit = ir.Entries(
        (
            ir.Entry("plain", optional=False, value=inner, written="plain"),
            ir.Entry("list", optional=False, value=ir.Items((inner, inner)), written="list"),
            ir.Entry("map", optional=True, value=computed, written="map"),
        )
    )
    assert list(optional_paths(emit)) == ["plain.b", "list.b", "list.b", "map", "map.$(k)"]
    (shape,) = rule_shapes(section(rule("a", emit=emit)))
    assert shape.optional_keys == ("plain.b", "list.b", "map", "map.$(k)")


def test_only_plain_paths_are_told_as_such() -> None:
    assert path_of(parse("alloc.cards")) == "alloc.cards"
    assert path_of(parse("a[0].b")) == ""
    assert path_of(parse("sort(a)")) == ""
