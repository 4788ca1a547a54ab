"""Types of expressions, what narrowing proves, and the objections the corpus does not show."""

from __future__ import annotations

import pytest

from engine.errors import ContractError
from engine.lang import ast
from engine.lang.check import Scope, check_condition, check_expression, cost, narrowings
from engine.lang.diagnostics import Diagnostics
from engine.lang.notation import parse_type
from engine.lang.parser import parse
from engine.lang.source import Place, Source, Span
from engine.lang.types import INT, NULL, Type, type_of

SCOPE = Scope(
    {
        "card": parse_type(
            "{name?: str, cores: int, family?: str, mode: 'whole'|'slice', slots: {minor?: int}, tags?: str[],"
            " labels: map<str>, extra: any, ok: bool, odd?: int}"
        ),
        "alloc": parse_type(
            "{slice?: {percent: int, more?: {deep: int}}, cards: {uuid: str, minor?: int, n: int, ids: int[]}[]}"
        ),
        "lists": parse_type("int[][]"),
        "maybe": parse_type("{cores: int, list: int[]}[]?"),
        "card2": parse_type("{ok: bool}"),
    },
    {
        "params": type_of({"most": 8, "words": ["a"]}),
        "tables": type_of(
            {"rows": [{"match": "x*", "value": {"cores": 1}}], "map": {"a": 1}, "mixed": {"a": 1, "b": "x"}}
        ),
    },
)


def check(text: str, *, optional: bool = False, scope: Scope = SCOPE) -> tuple[Type, list[str]]:
    found = Diagnostics()
    source = Source("expression", text.encode())
    made = check_expression(
        parse(text), scope, where=lambda a, b: Place(source, Span(a, b)), diagnostics=found, optional_position=optional
    )
    return made, [one.code for one in found]


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("card.name", "str?"),
        ("card.labels.x", "str?"),
        ("card.extra.deep.deeper", "any"),
        ("card.mode", "'whole'|'slice'"),
        ("alloc.slice.percent", "int?"),
        ("alloc.cards[0]", "{uuid: str, minor?: int, n: int, ids: int[]}"),
        ("alloc.cards[0].minor", "int?"),
        ("alloc.cards[1:]", "{uuid: str, minor?: int, n: int, ids: int[]}[]"),
        ("alloc.cards[].minor", "int[]"),
        ("alloc.cards[*].ids[0]", "int[]"),
        ("alloc.cards[].ids[]", "int[]"),
        ("alloc.cards[?n > `1`].{a: uuid, b: minor}", "{a: str, b?: int}[]"),
        ("alloc.cards[*].[n, minor]", "int?[][]"),
        ("maybe[].cores", "int[]?"),
        ("maybe[*].cores", "int[]?"),
        ("maybe[0].cores", "int?"),
        ("maybe[?cores > `1`] | [0].cores", "int?"),
        ("maybe[].list[]", "int[]?"),
        ("lists[]", "int[]"),
        ("card.slots.*", "int[]"),
        ("card.labels.*", "str[]"),
        ("card.extra.*", "any[]"),
        ("card.extra[*].x", "any[]"),
        ("card.extra[0]", "any"),
        ("card.extra[]", "any[]"),
        ("tables.*", "any[]"),
        ("[card.cores, `3`]", "int[]"),
        ("[card.cores, 'x']", "any[]"),
        ("`[]`", "any[]"),
        ("`null`", "null"),
        ("'x'", "'x'"),
        ("{a: card.name, b: card.cores}", "{a?: str, b: int}"),
        ("card.cores > `3`", "bool"),
        ("card.mode == 'whole' || has(card.name)", "bool"),
        ("card.extra == `3`", "bool"),
        ("card.extra > `3`", "bool"),
        ("card.extra && card.ok", "bool"),
        ("card.labels == card.slots", "bool"),
        ("card.name == `null`", "bool"),
        ("`null` != card.name", "bool"),
        ("card.name == card.family", "bool"),
        ("default(card.name, 'x')", "str"),
        ("default(card.name, card.family)", "str?"),
        ("default(card.name, `null`)", "str?"),
        ("default(`null`, `null`)", "null"),
        ("default(card.tags, `[]`)", "str[]"),
        ("default(`[]`, card.tags)", "str[]?"),
        ("if(card.ok, 'a', 'b')", "'a'|'b'"),
        ("if(card.ok, card.name, 'b')", "str?"),
        ("if(card.ok, `null`, `3`)", "int?"),
        ("if(card.ok, `3`, `null`)", "int?"),
        ("required(card.name, 'why')", "str"),
        ("lookup(tables.map, card.cores)", "int?"),
        ("lookup(tables.mixed, 'a')", "any"),
        ("lookup(card.labels, card.name)", "str?"),
        ("lookup(`{}`, 'x')", "any"),
        ("lookup_glob(tables.rows, card.name).cores", "int?"),
        ("map(&minor, alloc.cards)", "int?[]"),
        ("map(&@, card.extra)", "any[]"),
        ("merge({a: `1`}, {a: 'x', b: `2`})", "{a: 'x', b: int}"),
        ("merge({a: `1`}, card.labels)", "map<any>"),
        ("max(alloc.cards[].n)", "int?"),
        ("sort_by(alloc.cards, &uuid)[0].uuid", "str"),
        ("index_by(&uuid, alloc.cards).x.n", "int?"),
        ("values(card.labels)", "str[]"),
        ("values(card.slots)", "int?[]"),
        ("keys(card.slots)", "str[]"),
        ("not_null(card.name, card.family)", "str?"),
        ("compact([card.name, 'x'])", "str[]"),
        ("contains(card.extra, `1`)", "bool"),
        ("type(card.extra)", "str"),
        ("alloc.cards | length(@)", "int"),
        ("alloc.cards | [?n > `1`] | [0].uuid", "str"),
        ("params.words", "str[]"),
        ("alloc.cards[?n > params.most]", "{uuid: str, minor?: int, n: int, ids: int[]}[]"),
        ("`null` | [0]", "any"),
        ("`null`.*", "any[]"),
        ("re_capture('(x)', card.name, `1`)", "str?"),
        ("re_replace('(x)', card.mode, card.mode)", "str"),
    ],
)
def test_the_type_of_an_expression(text: str, kind: str) -> None:
    made, codes = check(text)
    assert codes == []
    assert str(made) == kind


@pytest.mark.parametrize(
    "text",
    [
        "has(card.name) && lower(card.name) == 'x'",
        "has(card.name) && (card.ok || lower(card.name) == 'x')",
        "card.ok && has(card.name) && lower(card.name) == 'x'",
        "(has(card.name) && card.ok) && lower(card.name) == 'x'",
        "if(has(card.name), lower(card.name), 'x')",
        "if(card.ok && has(card.name), lower(card.name), 'x')",
        "has(alloc.slice) && alloc.slice.percent > `1`",
        "has(alloc.slice.percent) && alloc.slice.percent > `1`",
        "has(alloc.slice.more.deep) && add(alloc.slice.percent, alloc.slice.more.deep) > `1`",
        "has(alloc.cards[0].minor) && alloc.cards[0].minor > `1`",
        "count(&has(minor) && minor > `1`, alloc.cards) > `0`",
        "alloc.cards[?has(minor) && minor > `1`].uuid",
        "length(alloc.cards[?has(minor)].minor)",
        "not(has(card.name)) || card.ok",
        "has(maybe) && length(maybe) > `0`",
    ],
)
def test_has_proves_a_path_in_the_rest_of_a_conjunction_and_in_the_taken_branch(text: str) -> None:
    assert check(text)[1] == []


@pytest.mark.parametrize(
    "text",
    [
        "lower(card.name) == 'x' && has(card.name)",
        "has(card.name) || lower(card.name) == 'x'",
        "not(has(card.name)) || lower(card.name) == 'x'",
        "if(has(card.name), 'x', lower(card.name))",
        "if(not(has(card.name)), 'x', lower(card.name))",
        "card.name == 'x' && lower(card.name) == 'x'",
        "has(card.family) && lower(card.name) == 'x'",
        "has(alloc.slice) && alloc.slice.more.deep > `1`",
        "has(card.odd) && count(&card2.ok, alloc.cards) > card.odd",
        "alloc.cards[?has(minor)].{m: lower(minor)}",
    ],
)
def test_nothing_else_proves_a_path(text: str) -> None:
    assert check(text)[1]


def test_what_a_rules_condition_proves_reaches_its_lets_and_emit() -> None:
    proved = narrowings(parse("card.ok && has(card.slots.minor) && not(has(card.name))"))
    assert proved == {("card",), ("card", "slots"), ("card", "slots", "minor")}
    scope = SCOPE.narrowed(proved)
    assert str(check("card.slots.minor", scope=scope)[0]) == "int"
    assert str(check("card.name", scope=scope)[0]) == "str?"


def test_a_name_given_anew_forgets_what_was_proved_of_the_old_one() -> None:
    scope = Scope({"x": INT.or_null()}).narrowed({("x",)})
    assert str(check("x", scope=scope)[0]) == "int"
    assert str(check("x", scope=scope.child({"y": INT}))[0]) == "int"
    assert str(check("x", scope=scope.child({"x": INT.or_null()}))[0]) == "int?"
    assert scope.knows("x")
    assert not scope.knows("y")
    assert Scope(constants={"c": INT}).knows("c")


def test_has_of_something_that_is_no_path_proves_nothing() -> None:
    assert narrowings(parse("has(lookup(a, b))")) == frozenset()
    assert narrowings(parse("has(lookup(a, b).c) && has(a.{b: c})")) == frozenset()


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("lower(card.name)", "str?"),
        ("concat('x', lower(card.name))", "str?"),
        ("card.odd > `3`", "bool?"),
        ("card.cores > `3`", "bool"),
        ("default(lower(card.name), 'x')", "str"),
        ("sort_by(alloc.cards, &uuid)[0].minor", "int?"),
    ],
)
def test_where_a_key_may_be_left_out_null_passes_through_strict_functions(text: str, kind: str) -> None:
    made, codes = check(text, optional=True)
    assert codes == []
    assert str(made) == kind


def test_required_and_conditions_stay_strict_where_a_key_may_be_left_out() -> None:
    assert check("if(starts_with(card.name, 'x'), 'a', 'b')", optional=True)[1] == ["RP413"]
    assert check("card.odd && card.ok", optional=True)[1] == ["RP411"]


@pytest.mark.parametrize(
    ("text", "codes"),
    [
        ("nothing.here", ["RP401"]),
        ('"nothing"', ["RP312"]),
        ("card.cores.deep", ["RP401"]),
        ("alloc.cards.uuid", ["RP401"]),
        ("alloc.cards[?card.ok]", ["RP414"]),
        ("map(&alloc, card.extra)", ["RP414"]),
        ("map(&alloc, tables.map)", ["RP415", "RP414"]),
        ("&card", ["RP415"]),
        ("concat(&card)", ["RP415"]),
        ("nobody(&card.x, card.cores)", ["RP331", "RP414"]),
        ("nobodyatall()", ["RP331"]),
        ("concat()", ["RP332"]),
        ("if(card.ok)", ["RP332"]),
        ("range()", ["RP332"]),
        ("card.cores < card.ok", ["RP410"]),
        ("card.tags == card.name", ["RP410"]),
        ("card.mode == 'zzz'", ["RP410"]),
        ("'zzz' == card.mode", ["RP410"]),
        ("card.cores == `null`", ["RP410"]),
        ("`null` > card.cores", ["RP413"]),
        ("alloc.cards[?n]", ["RP411"]),
        ("any(&minor, alloc.cards)", ["RP411"]),
        ("any(&(minor > `1`), alloc.cards)", ["RP413"]),
        ("max_by(alloc.cards, &ids)", ["RP415"]),
        ("sort(`[[1]]`)", ["RP415"]),
        ("sum(alloc.cards[].uuid)", ["RP415"]),
        ("join(',', alloc.cards)", ["RP415"]),
        ("join(',', map(&minor, alloc.cards))", ["RP413"]),
        ("lookup(card.cores, 'x')", ["RP415"]),
        ("lookup_glob(tables.map, 'x')", ["RP415"]),
        ('lookup_glob(`[{"match": "x"}]`, \'x\')', ["RP415"]),
        ("lookup_glob(`[[]]`, 'x')", ["RP415"]),
        ("keys(card.cores)", ["RP415"]),
        ("length(card.cores)", ["RP415"]),
        ("values(card.cores)", ["RP415"]),
        ("contains(card.mode, card.cores)", ["RP415"]),
        ("contains(card.mode, card.name)", ["RP415"]),
        ("least(card.cores, 'x')", ["RP415"]),
        ("max('x')", ["RP415"]),
        ("re_match('x', card.name)", ["RP413"]),
        ("re_match(`3`, card.mode)", ["RP415", "RP330"]),
        ("re_capture('x', card.name, `1`)", ["RP330"]),
        ("re_capture('x', card.name, card.cores)", []),
        ("card.name[1:]", ["RP415"]),
        ("card.cores[]", ["RP415"]),
        ("`wat`", ["RP311"]),
        ("!{a: card.ok}.a", ["RP313"]),
        ("!card.ok[0]", ["RP313"]),
        ("card.ok == `true` && card.ok == `false`", ["RP516"]),
        ("`1` == card.cores && card.cores == `1`", []),
        ("card.cores == `1` && (card.ok && card.cores == `2`)", ["RP516"]),
        ("card.cores == `1` && card.cores == `2` && card.ok", ["RP516"]),
        ("{a: nope, b: card.ok}", ["RP401"]),
        ("length(alloc.cards[*].minor | @)", ["RP412"]),
        ("alloc.cards[].minor | [0:2]", []),
        ("alloc.cards[].minor | [0].x", ["RP412", "RP401"]),
        ("params.nope", ["RP401"]),
        ("`null`.x", []),
    ],
)
def test_what_the_profile_objects_to(text: str, codes: list[str]) -> None:
    assert check(text)[1] == codes


def test_a_condition_that_is_no_boolean_is_refused() -> None:
    found = Diagnostics()
    source = Source("when", b"card.cores")
    check_condition(parse("card.cores"), SCOPE, where=lambda a, b: Place(source, Span(a, b)), diagnostics=found)
    assert [one.message for one in found] == ["`when` takes a boolean, and this is int"]


def test_an_objection_says_what_is_known() -> None:
    found = Diagnostics()
    source = Source("x", b"card.coers")
    check_expression(parse("card.coers"), SCOPE, where=lambda a, b: Place(source, Span(a, b)), diagnostics=found)
    only = next(iter(found))
    assert only.help.startswith("did you mean `cores`? known: cores, extra, family")
    empty = Diagnostics()
    check_expression(parse("card"), Scope(), where=lambda a, b: Place(source, Span(a, b)), diagnostics=empty)
    assert next(iter(empty)).help == "nothing is known here"


def test_two_nested_loops_fit_the_budget_and_three_do_not() -> None:
    assert cost(parse("map(&map(&length(@), @), x)")) < 100_000 < cost(parse("map(&map(&map(&length(@), @), @), x)"))


@pytest.mark.parametrize(
    ("cheaper", "dearer"),
    [
        ("a", "a.b"),
        ("`[1, 2]`[*].x", "a[*].x"),
        ("['a', 'b'][*].x", "a[*].x"),
        ("a[*] | [*].c | [*].d", "a[*].b[*].c"),
        ("contains(`[1]`, x)", "contains(list, x)"),
        ("nobody(a)", "nobody(a, b)"),
        ("'x'[*].y", "a[*].y"),
        ("{a: b}.*.c", "b.*.c"),
        ("a[?b].c", "a[?b && c && d].c"),
        ("sort(a)", "sort_by(a, &b)"),
    ],
)
def test_the_static_cost_follows_what_is_walked(cheaper: str, dearer: str) -> None:
    assert cost(parse(cheaper)) <= cost(parse(dearer))


def test_what_is_no_expression_node_is_our_own_fault() -> None:
    with pytest.raises(ContractError):
        check_expression(
            ast.Node(), SCOPE, where=lambda _a, _b: Place(Source("", b""), Span(0, 0)), diagnostics=Diagnostics()
        )


def test_null_is_a_type_of_its_own() -> None:
    assert check("`null`")[0] == NULL


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("type({a: `1`})", "str"),
        ("lookup_glob(card.rows, 'x')", "str?"),
        ("lookup_tokens(card.rows, card.words)", "str?"),
        ("lookup_tokens(card.any, card.words)", "any"),
        ("lookup_below(`[]`, `3`)", "any"),
        ("max(`[]`)", "any"),
        ("any(&@, card.any)", "bool"),
        ("reverse(card.words)", "str[]"),
    ],
)
def test_the_type_of_a_look_up_follows_its_table(text: str, kind: str) -> None:
    scope = Scope({"card": parse_type("{rows: {match: str, value: str}[], words: str[], any: any}")})
    made, codes = check(text, scope=scope)
    assert codes == []
    assert str(made) == kind


def test_a_sum_of_no_integers_is_named() -> None:
    assert check("sort_by(alloc.cards, &{a: n})")[1] == ["RP415"]
    assert check("slug(card.mode, 'x')")[1] == ["RP332"]
    assert check("values(alloc.cards)")[1] == ["RP415"]
    assert check("contains(alloc.cards, 'x')")[1] == ["RP415"]
    assert check("lookup_glob([card.labels], 'x')")[1] == ["RP413"]
