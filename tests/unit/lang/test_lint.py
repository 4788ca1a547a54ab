"""What lint finds in packs that load, and what it leaves alone."""

from __future__ import annotations

import pytest

from engine.lang.lint import lint
from engine.lang.lint_logic import Condition, Names, can_hold
from engine.lang.lint_names import covers_glob
from engine.lang.parser import parse
from engine.lang.types import Kind, Type

from .small import CATALOGUE, linked, pack


def found(body: str, extra: str = "") -> list[str]:
    """What lint says of one pack, as `code:line`."""
    made = linked(body, extra=extra)
    assert [f"{one.place}: {one.message}" for one in made.diagnostics if one.severity == "error"] == []
    return [
        f"{one.code}:{one.place.source.position(one.place.span.start).line if one.place else '?'}"
        for one in lint(made, CATALOGUE).sorted()
    ]


def section(name: str, *rules: str, owns: str = "") -> str:
    """The body of one section; its first rule stands in line 8."""
    listed = "".join(f"        - {rule}\n" for rule in rules)
    return f"    {name}:\n{owns}      rules:\n{listed}"


# conditions


@pytest.mark.parametrize(
    "texts",
    [
        ("a == 'x'", "a == 'y'"),
        ("a == 'x'", "a != 'x'"),
        ("b", "not(b)"),
        ("b", "!b"),
        ("has(a)", "not(has(a))"),
        ("a == 'x'", "not(has(a))"),
        ("n > `3`", "n <= `3`"),
        ("n >= `4`", "n < `4`"),
        ("`4` < n", "n == `4`"),
        ("n > `3` && n < `5`", "n != `4`"),
        ("a == 'x' || a == 'y'", "a == 'z'"),
        ("not(a == 'x' || b)", "b"),
        ("if(b, a == 'x', a == 'y')", "a == 'z'"),
        ("b == `true`", "not(b == `true`)"),
        ("a == `null`", "has(a)"),
        ("length(l) < `0`", "has(l)"),
        ("m < n", "m >= n"),
        ("`false`", "b"),
        ("k != 'big' && k != 'small'", "has(k)"),
    ],
)
def test_conditions_that_exclude_each_other_are_known_to(texts: tuple[str, ...]) -> None:
    assert not can_hold(conditions(*texts))


@pytest.mark.parametrize(
    "texts",
    [
        ("a == 'x'", "b"),
        ("a == 'x'", "c == 'y'"),
        ("n > `3`", "n < `5`"),
        ("n != `1`", "n != `2`"),
        ("a != 'x'", "not(has(a))"),
        ("k != 'big'", "k != 'small'"),
        ("a < 'x'", "not(a < 'w')"),
        ("a == c", "b"),
        ("a == 'x' || b", "a == 'y'"),
        ("contains(l, 'x')", "not(contains(l, 'y'))"),
        ("a == `[1]`", "a == `[2]`"),
    ],
)
def test_conditions_that_may_hold_together_are_not_called_exclusive(texts: tuple[str, ...]) -> None:
    assert can_hold(conditions(*texts))


def test_conditions_of_too_many_cases_count_as_possible() -> None:
    either = " && ".join(f"(a{n} == 'x' || b{n})" for n in range(12))
    assert can_hold(conditions(either, f"not({either})"))
    many = conditions(*[f"(a{n} == 'x' || b{n})" for n in range(12)], "a0 == 'y'", "not(b0)")
    assert can_hold(many)


def conditions(*texts: str) -> list[Condition]:
    kind = Type(Kind.STR, nullable=True, choices=("big", "small"))
    names = Names(type_of=lambda node: kind if node == parse("k") else None)
    return [Condition(parse(text), names) for text in texts]


def test_a_rule_that_those_before_it_shut_out_is_found() -> None:
    rules = (
        "{id: one, when: item.ready, emit: {label: a}}",
        "{id: two, when: not(item.ready), emit: {label: b}}",
        "{id: three, when: item.count > `1`, emit: {label: c}}",
    )
    assert found(section("pick", *rules)) == ["RP512:10"]


def test_a_rule_after_one_that_goes_over_a_list_is_reachable() -> None:
    rules = (
        "{id: one, forEach: {in: item.parts, as: part}, emit: {label: $(part.id)}}",
        "{id: two, emit: {label: b}}",
    )
    assert found(section("pick", *rules)) == []


def test_conditions_of_groups_count_for_their_rules() -> None:
    rules = (
        "{when: item.ready, rules: [{id: one, when: not(item.ready), emit: {label: a}}]}",
        "{id: two, emit: {label: b}}",
    )
    assert found(section("pick", *rules)) == ["RP516:8"]


def test_a_condition_that_cannot_be_false_is_found_with_the_group_around_it_in_view() -> None:
    rules = (
        "{when: item.kind == 'big', rules: [{id: one, when: has(item.kind), emit: {label: a}}]}",
        "{id: two, when: item.kind != 'big' && item.kind != 'small' && has(item.kind), emit: {label: b}}",
    )
    assert found(section("pick", *rules)) == ["RP517:8", "RP516:9"]


def test_lets_are_seen_through() -> None:
    body = (
        "    pick:\n      let: {big: item.kind == 'big'}\n      rules:\n"
        "        - {id: one, when: big, emit: {label: a}}\n"
        "        - {id: two, when: item.kind == 'big', emit: {label: b}}\n"
    )
    assert found(body) == ["RP512:10"]


# keys


def test_two_rules_that_can_give_one_key_are_found_unless_their_conditions_exclude_each_other() -> None:
    clash = ("{id: one, emit: {a: x}}", "{id: two, when: item.ready, emit: {a: z}}")
    apart = ("{id: one, when: not(item.ready), emit: {a: x}}", "{id: two, when: item.ready, emit: {a: z}}")
    assert found(section("labels", *clash)) == ["RP513:9"]
    assert found(section("labels", *apart)) == []


@pytest.mark.parametrize(
    ("one", "two", "clashes"),
    [
        ("$(item.name)-a", "$(item.name)-a", True),
        ("$(item.name)-a", "$(item.name)-b", False),
        ("$(item.name)", "$(item.name)-b", False),
        ("lot-$(item.name)", "lot-0", True),
        ("lot-$(item.name)", "set-0", False),
        ("$(item.name)", "other", False),
        ("lot-$(item.name)", "lot-$(item.count)", False),
        ("lot-$(item.name)-x", "lot-$(item.count)-y", False),
        ("lot-$(item.name)-x", "lot-$(item.count)$(item.name)-x", False),
    ],
)
def test_computed_keys_clash_where_what_is_written_of_them_does(one: str, two: str, clashes: bool) -> None:
    rules = (f"{{id: one, emit: {{'{one}': x}}}}", f"{{id: two, when: item.ready, emit: {{'{two}': z}}}}")
    assert found(section("labels", *rules)) == (["RP513:9"] if clashes else [])


def test_rules_that_go_over_one_list_are_compared_item_by_item_where_the_key_tells_items_apart() -> None:
    each = "forEach: {in: item.parts, as: part}"
    apart = (
        f"{{id: one, {each}, when: has(part.n), emit: {{'$(part.id)-k': x}}}}",
        f"{{id: two, {each}, when: not(has(part.n)), emit: {{'$(part.id)-k': z}}}}",
    )
    clash = (
        f"{{id: one, {each}, when: has(part.n), emit: {{k: x}}}}",
        f"{{id: two, {each}, when: not(has(part.n)), emit: {{k: z}}}}",
    )
    assert found(section("labels", *apart)) == []
    assert found(section("labels", *clash)) == ["RP513:9"]


def test_lists_append_and_are_no_clash() -> None:
    rules = ("{id: one, emit: {name: x, list: [a]}}", "{id: two, emit: {list: [b], more: {a: x}}}")
    assert found(section("object", *rules)) == []


def test_an_index_tells_items_apart_too() -> None:
    rules = (
        "{id: one, forEach: {in: item.tags, as: tag, index: number}, emit: {'lot-$(number)': $(tag)}}",
        "{id: two, emit: {'lot-x': z}}",
    )
    assert found(section("labels", *rules)) == ["RP513:9"]


# names


def test_a_let_that_nothing_names_is_found_at_every_level() -> None:
    body = (
        "    pick:\n      let: {a: item.name, b: item.name}\n      rules:\n"
        "        - when: item.ready\n          let: {c: item.name}\n"
        "          rules:\n            - {id: one, let: {d: item.name, e: d}, emit: {label: $(a)}}\n"
        "        - {id: two, emit: {label: x}}\n"
    )
    assert found(body) == ["RP502:7", "RP502:10", "RP502:12"]


def test_a_section_that_is_a_bare_list_is_looked_at() -> None:
    body = "    pick:\n      - {id: one, let: {d: item.name}, emit: {label: x}}\n"
    assert found(body) == ["RP502:7"]


def test_tables_and_parameters_that_nothing_names_are_found() -> None:
    extra = (
        "  tables:\n    used: {x: a}\n    idle: {x: a}\n"
        "  params:\n    most: {type: integer, default: 1}\n    least: {type: integer, default: 1}\n"
    )
    rule = (
        "{id: one, when: item.count > params.most, emit: {label: \"$(default(lookup(tables.used, item.name), 'b'))\"}}"
    )
    assert found(section("pick", rule), extra) == ["RP503:7", "RP504:10"]


def test_a_block_that_is_read_as_a_whole_is_used() -> None:
    extra = "  tables:\n    used: {x: a}\n"
    assert found(section("free", "{id: one, emit: {value: $(tables)}}"), extra) == []


@pytest.mark.parametrize(
    ("function", "rows", "wanted"),
    [
        ("lookup_glob(tables.t, item.name)", "[{match: a*, value: x}, {match: ab*, value: z}]", 1),
        ("lookup_glob(tables.t, item.name)", "[{match: ab*, value: x}, {match: a*, value: z}]", 0),
        ("lookup_glob(tables.t, item.name)", "[{match: 'a?', value: x}, {match: ab, value: z}]", 0),
        ("lookup_tokens(tables.t, tokens(item.name))", "[{match: a, value: x}, {match: a-b, value: z}]", 1),
        ("lookup_tokens(tables.t, tokens(item.name))", "[{match: a-b, value: x}, {match: a, value: z}]", 0),
        ("lookup_below(tables.t, item.count)", "[{below: 5, value: x}, {below: 4, value: z}]", 1),
        ("lookup_below(tables.t, item.count)", "[{below: 4, value: x}, {below: 5, value: z}]", 0),
    ],
)
def test_rows_that_an_earlier_row_always_wins_against_are_found(function: str, rows: str, wanted: int) -> None:
    extra = f"  tables:\n    t: {rows}\n"
    rule = f"{{id: one, emit: {{label: \"$(default({function}, 'b'))\"}}}}"
    assert found(section("pick", rule), extra) == ["RP514:6"] * wanted


def test_equal_rows_are_shadowed_whatever_looks_them_up() -> None:
    extra = "  tables:\n    t: [{match: a, value: x}, {match: a, value: z}]\n"
    assert "RP514:6" in found(section("free", "{id: one, emit: {value: $(tables)}}"), extra)


@pytest.mark.parametrize(
    ("glob", "other", "covers"),
    [("*", "a", True), ("a*", "a*", True), ("a*c", "ab*c", True), ("a?", "a*", False), ("a", "a*", False)],
)
def test_a_glob_covers_another_only_for_certain(glob: str, other: str, covers: bool) -> None:
    assert covers_glob(glob, other) is covers


# lengths


OWNS = "      owns: ['*']\n"
LONG = "x" * 64


@pytest.mark.parametrize(
    ("value", "wanted"),
    [
        (LONG, ["RP520:9"]),
        ("$(item.name)", []),
        ("$(label_value(item.name))-y", ["RP520:9"]),
        ("$(truncate(item.name, `60`))-$(fnv64a(item.name))", ["RP520:9"]),
        ("$(truncate(item.name, item.count))", []),
        ("$(slug(item.name, 'p', `40`))-$(sha256_hex(item.name, `12`))", []),
        (f"$(if(item.ready, '{LONG}', 'x'))", ["RP520:9"]),
        (f"$(default(item.kind, '{LONG}'))", ["RP520:9"]),
        (f"$(concat(item.name, '{LONG}'))", ["RP520:9"]),
        ("$(upper(label_value(item.name)))", []),
        ("$(required(item.kind, 'why'))$(item.count)$(lower(item.name))", []),
    ],
)
def test_a_label_value_is_measured_where_its_length_is_certain(value: str, wanted: list[str]) -> None:
    assert found(section("marks", f'{{id: one, emit: {{labels: {{k: "{value}"}}}}}}', owns=OWNS)) == wanted


def test_the_name_of_a_label_key_is_measured_without_its_prefix() -> None:
    prefix = "p" * 70
    rules = [
        f"{{id: one, emit: {{labels: {{'{prefix}/k': x, 'p/$(item.count){LONG}': x, '$(item.name)': x}}}}}}",
    ]
    assert found(section("marks", *rules, owns=OWNS)) == ["RP520:9"]


# the whole


def test_packs_that_do_not_link_are_not_linted() -> None:
    made = linked(section("pick", "{id: one, emit: {lable: x}}"))
    assert len(lint(made, CATALOGUE)) == 0


def test_only_the_packs_asked_for_are_reported() -> None:
    body = section("pick", "{id: one, let: {d: item.name}, emit: {label: x}}")
    made = linked(pack(body, name="mine"))
    assert len(lint(made, CATALOGUE, only={("Derivation", "other")})) == 0
    assert len(lint(made, CATALOGUE, only={("Derivation", "mine")})) == 1


def test_the_place_of_a_rule_that_is_not_there_is_none() -> None:
    places = []

    def look(one):
        places.extend([one.place("gone"), one.place("one", "emit", "label"), one.place("one", "emit", "x", "y")])
        return ()

    lint(linked(section("pick", "{id: one, emit: {label: x}}")), CATALOGUE, [look])
    mine = [place for place in places if place is not None]
    assert [place.source.data[place.span.start : place.span.end] for place in mine] == [b"x", b"one"]
