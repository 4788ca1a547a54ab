"""Closures: names and root context, nulls, laziness, errors that stay ours, and no crash on any data.

What JMESPath itself means is tested against the package in tests/differential and by the official compliance cases.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

from engine.errors import ContractError, EvaluationError, NullArgumentError
from engine.lang import ast
from engine.lang.compile import compile_node
from engine.lang.functions.jmespath_builtins import BUILTINS
from engine.lang.limits import MAX_TREE_DEPTH
from engine.lang.operators import ExpressionError, kind_of
from engine.lang.parser import parse


@dataclass(frozen=True)
class Fake:
    """A function as `compile` sees it."""

    name: str
    implementation: Callable[..., Any]
    min_args: int = 1
    max_args: int | None = 1
    lazy: bool = False
    strict: bool = False
    null_ok: frozenset[int] = frozenset()


def _broken(error: Exception) -> Callable[..., Any]:
    def fail(*_: Any) -> Any:
        raise error

    return fail


def _if_without_boolean(condition: Any, *_: Any) -> Any:
    raise EvaluationError(f"if() takes a boolean, {condition()!r} given")


FUNCTIONS: dict[str, Any] = {
    **BUILTINS,
    "upper": Fake("upper", str.upper, strict=True),
    "pair": Fake("pair", lambda a, b: [a, b], 2, 2, strict=True, null_ok=frozenset({1})),
    "trio": Fake("trio", lambda *a: list(a), 3, 3, strict=True, null_ok=frozenset({0})),
    "rest": Fake("rest", lambda *a: list(a), 1, None, strict=True, null_ok=frozenset({1})),
    "some": Fake("some", lambda *a: list(a), 1, 3),
    "now": Fake("now", lambda: "now", 0, 0),
    "has": Fake("has", lambda x: x() is not None, lazy=True),
    "default": Fake("default", lambda x, y: y() if x() is None else x(), 2, 2, lazy=True),
    "if": Fake("if", _if_without_boolean, 3, 3, lazy=True),
    "first": Fake("first", lambda x, _y: x(), 2, 2, lazy=True),
    "apply": Fake("apply", lambda f, x: f()(x()), 2, 2, lazy=True),
    "lazy_broken": Fake("lazy_broken", _broken(KeyError("k")), lazy=True),
    "one_broken": Fake("one_broken", _broken(ZeroDivisionError())),
    "one_strict_broken": Fake("one_strict_broken", _broken(ValueError("bad")), strict=True),
    "two_broken": Fake("two_broken", _broken(TypeError("bad")), 2, 2),
    "two_strict": Fake("two_strict", lambda a, b: [a, b], 2, 2, strict=True),
    "three_broken": Fake("three_broken", _broken(AttributeError("bad")), 3, 3),
}


def run(text: str, value: Any = None, names: Any = None, *, propagate_null: bool = False) -> Any:
    return compile_node(parse(text), FUNCTIONS, names, propagate_null)(value)


class Lazy(dict[str, Any]):
    """An object that computes its members when asked, as the evaluator's scopes may."""

    def get(self, key: str, default: Any = None) -> Any:
        return super().get(key, default) or f"lazy {key}"


# Names ----------------------------------------------------------------------------------------------------------------

NAMES = {"n": lambda scope: scope["x"] + 1, "o": lambda _: {"p": {"q": 5}, "l": [{"n": 9}]}, "t": lambda _: "text"}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("n", 3),
        ("x", 2),
        ("o.p", {"q": 5}),
        ("o.p.q", 5),
        ("o.l[0].n", 9),
        ("o.l[*].n", [9]),
        ("o.l[].n", [9]),
        ("o.l | [0].n", 9),
        ("o.*.q", [5]),
        ("n == `3`", True),
        ("t == 'text'", True),
        ("t == 'other' || n > x", True),
        ("n && t", "text"),
        ("!n", False),
        ("[n, x]", [3, 2]),
        ("{k: n}", {"k": 3}),
        ("to_string(n)", "3"),
        ("length(o.l[?n == `9`])", 1),
    ],
)
def test_a_name_is_read_wherever_the_current_value_is_still_the_scope(text: str, expected: Any) -> None:
    assert run(text, {"x": 2}, NAMES) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("o.n", None),
        ("o.[n]", [None]),
        ("o | n", None),
        ("l[*].t", []),
        ("l[?n]", []),
        ("l[?n == `3`]", []),
        ("map(&t, l)", [None]),
        ("@.n", None),
    ],
)
def test_a_name_is_a_plain_field_once_the_current_value_is_another(text: str, expected: Any) -> None:
    assert run(text, {"x": 2, "l": [{"y": 1}]}, NAMES) == expected


def test_a_name_shadows_the_scopes_own_field() -> None:
    assert run("x", {"x": 2}, {"x": lambda _: "named"}) == "named"


def test_names_that_exhaust_the_interpreter_are_an_evaluation_error() -> None:
    names: dict[str, Any] = {}

    def itself(scope: Any) -> Any:
        return names["n"](scope)

    names["n"] = compile_node(parse("n"), FUNCTIONS, {"n": itself})
    with pytest.raises(ExpressionError, match="too many times"):
        run("n", {}, names)


def test_objects_that_compute_their_members_are_asked_through_get() -> None:
    lazy = Lazy(seen="yes")
    assert run("seen", lazy) == "yes"
    assert run("a.b", {"a": lazy}) == "lazy b"
    assert run("a == 'lazy a'", lazy) is True
    assert run("a.b == 'lazy b'", {"a": lazy}) is True
    assert run("a.b.c", {"a": {"b": lazy}}) == "lazy c"
    assert run("l[*].k", {"l": [lazy]}) == ["lazy k"]


# Calls ----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("upper('a')", "A"),
        ("upper(a)", "X"),
        ("pair(a, none)", ["x", None]),
        ("trio(none, a, a)", [None, "x", "x"]),
        ("rest(a, none, none)", ["x", None, None]),
        ("some(none)", [None]),
        ("some(none, a)", [None, "x"]),
        ("now()", "now"),
    ],
)
def test_a_function_takes_null_only_where_it_says_so(text: str, expected: Any) -> None:
    assert run(text, {"a": "x"}) == expected


@pytest.mark.parametrize(
    "text",
    [
        "upper(none)",
        "pair(none, a)",
        "two_strict(a, none)",
        "trio(a, none, a)",
        "trio(a, a, none)",
        "rest(none)",
        "upper(`null`)",
    ],
)
def test_a_strict_function_fails_on_null_or_passes_it_on(text: str) -> None:
    with pytest.raises(NullArgumentError, match="takes no null, and argument"):
        run(text, {"a": "x"})
    assert run(text, {"a": "x"}, propagate_null=True) is None


def test_a_null_passed_on_travels_through_every_strict_call() -> None:
    assert run("pair(upper(upper(none)), 'x')", {}, propagate_null=True) is None
    assert run("[upper(none)]", {}, propagate_null=True) == [None]
    assert run("default(upper(none), 'x')", {}, propagate_null=True) == "x"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("if(`true`, 'yes', upper(none))", "yes"),
        ("if(`false`, upper(none), 'no')", "no"),
        ("default('there', upper(none))", "there"),
        ("default(none, 'instead')", "instead"),
        ("first('there', upper(none))", "there"),
        ("`false` && upper(none)", False),
        ("`true` || upper(none)", True),
        ("has(none)", False),
        ("has(a)", True),
        ("apply(&a, @)", "x"),
    ],
)
def test_a_lazy_function_evaluates_only_what_it_needs(text: str, expected: Any) -> None:
    assert run(text, {"a": "x"}) == expected


def test_a_condition_that_is_no_boolean_is_the_functions_to_refuse() -> None:
    with pytest.raises(EvaluationError, match="takes a boolean, 'x' given"):
        run("if(a, b, c)", {"a": "x"})


@pytest.mark.parametrize(
    ("text", "message", "kind"),
    [
        ("nonesuch(a)", "there is no function nonesuch", "unknown-function"),
        ("upper()", "upper() takes 1 arguments, 0 given", "invalid-arity"),
        ("rest()", "rest() takes at least 1 arguments, 0 given", "invalid-arity"),
        ("some(a, a, a, a)", "some() takes 1 to 3 arguments, 4 given", "invalid-arity"),
        ("a[::0]", "a slice with step 0", "invalid-value"),
        ("s < `1`", "< between string and number", "invalid-type"),
        ("`1` < s", "> between string and number", "invalid-type"),
        ("s >= n", ">= between string and number", "invalid-type"),
        ("lazy_broken(a)", "lazy_broken() failed: 'k'", "invalid-value"),
        ("one_broken(a)", "one_broken() failed: ZeroDivisionError", "invalid-value"),
        ("one_strict_broken(a)", "one_strict_broken() failed: bad", "invalid-value"),
        ("two_broken(a, a)", "two_broken() failed: bad", "invalid-value"),
        ("three_broken(a, a, a)", "three_broken() failed: bad", "invalid-value"),
        ("merge(o, none)", "merge() takes an object as argument 2, null given", "invalid-type"),
        ("contains(none, s)", "contains() takes an array or a string as argument 1, null given", "invalid-type"),
        ("sort([s, n])", "sort() takes an array of strings or of numbers as argument 1", "invalid-type"),
        ("length(n)", "length() takes a string, an array or an object", "invalid-type"),
        ("map(a, a)", "map() takes an &expression as argument 1, array given", "invalid-type"),
        ("abs(&a)", "abs() takes a number as argument 1, expression given", "invalid-type"),
        ("reverse(n)", "reverse() takes a string or an array", "invalid-type"),
        ("join('', [n])", "join() takes an array of strings", "invalid-type"),
        ("keys(a)", "keys() takes an object", "invalid-type"),
        ("sum(s)", "sum() takes an array as argument 1, string given", "invalid-type"),
        ("max([n, s])", "max() takes an array of numbers as argument 1, string given", "invalid-type"),
        ("starts_with(s, n)", "starts_with() takes a string as argument 2, number given", "invalid-type"),
        ("sort_by(a, &s)", "sort_by() takes an &expression that gives strings or numbers", "invalid-type"),
    ],
)
def test_a_failure_says_why_and_has_the_official_kind(text: str, message: str, kind: str) -> None:
    with pytest.raises(ExpressionError) as caught:
        run(text, {"a": [1], "s": "x", "n": 1, "o": {}})
    assert message in str(caught.value)
    assert caught.value.kind == kind


@pytest.mark.parametrize("text", ["none && nonesuch(a)", "l[*].upper()", "l[?upper()]"])
def test_a_call_fails_only_when_it_is_reached(text: str) -> None:
    assert not run(text, {"l": []})


# Operators ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("one == yes", False),
        ("zero != no", True),
        ("yes == `1`", False),
        ("one == `true`", False),
        ("one == `1`", True),
        ("one == `1.0`", True),
        ("yes == `true`", True),
        ("yes != `true`", False),
        ("none == `null`", True),
        ("text == none", False),
        ("text == 'x'", True),
        ("text != 'x'", False),
        ("o.text == 'x'", True),
        ("o.text != 'x'", False),
        ("o.o.text == 'x'", False),
        ("o.o.text != 'x'", True),
        ("text.text == 'x'", False),
        ("'x' == text", True),
        ("list == `[1]`", True),
        ("one != `[1]`", True),
        ("one < `2`", True),
        ("`2` > one", True),
        ("one <= zero", False),
        ("text < 'y'", True),
        ("half < `1`", True),
        ("half < one", True),
        ("yes < one", None),
        ("none < `1`", None),
        ("list > one", None),
        ("'a' == 'a'", True),
    ],
)
def test_comparisons_keep_booleans_numbers_and_texts_apart(text: str, expected: Any) -> None:
    scope = {"one": 1, "zero": 0, "half": 0.5, "yes": True, "no": False, "text": "x", "list": [1], "o": {"text": "x"}}
    assert run(text, scope) is expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("zero && 'y' || 'n'", "y"),
        ("empty || none || list", []),
        ("yes && text && one && zero", 0),
        ("yes && empty && one && zero", ""),
        ("yes == yes && one == one", True),
        ("yes == yes && one == one && one == zero", False),
        ("one == zero || one == one", True),
        ("one == zero || one == none || one == one", True),
        ("one == zero || one == none || one == one || one", True),
        ("none < one || none > one", None),
        ("!zero", False),
        ("!(one == one)", False),
        ("!list", True),
        ("!yes", False),
        ("!no", True),
        ("list[?@]", []),
        ("many[?@]", [1, "a"]),
        ("many[?!@]", ["", [], False]),
        ("many[?@ == `1`]", [1]),
    ],
)
def test_truth_is_jmespaths_zero_is_true_and_empty_is_false(text: str, expected: Any) -> None:
    scope = {
        "one": 1,
        "zero": 0,
        "yes": True,
        "no": False,
        "text": "x",
        "empty": "",
        "list": [],
        "many": [1, "", "a", [], False, None],
    }
    found = run(text, scope)
    assert found == expected
    assert type(found) is type(expected)


def _nested(depth: int) -> list[Any]:
    value: list[Any] = []
    for _ in range(depth):
        value = [value]
    return value


@pytest.mark.parametrize("text", ["a == b", "a != b", "a == `[[1]]`", "to_string(a)", "contains([a], b)"])
def test_data_nested_beyond_the_interpreters_depth_is_an_evaluation_error(text: str) -> None:
    scope = {"a": _nested(50_000), "b": _nested(50_000)}
    try:
        run(text, scope)
    except EvaluationError as error:
        assert isinstance(error, ExpressionError)  # noqa: PT017 - a result is as good as our own error


def test_paths_of_any_length_give_null_where_nothing_is() -> None:
    scope = {"a": {"b": {"c": {"d": 1}}}, "s": "text"}
    assert run("a.b.c.d", scope) == 1
    for text in ["x", "x.y", "x.y.z", "s.x", "s.x.y.z", "a.b.c.d.e", "a.x.c.d"]:
        assert run(text, scope) is None
    assert run("a.b", None) is None
    assert run("a.[b, b.c].d", scope) is None
    assert run("a.{k: b}.k.c.d", scope) == 1


def test_projections_drop_nulls_and_take_lists_only() -> None:
    scope = {"l": [{"a": 1, "o": {"b": 2}}, {}, None, "x"], "o": {"k": {"a": 1}, "m": None}}
    assert run("l[*].a", scope) == [1]
    assert run("l[*].o.b", scope) == [2]
    assert run("l[*]", scope) == [{"a": 1, "o": {"b": 2}}, {}, "x"]
    assert run("l[?a].o", scope) == [{"b": 2}]
    assert run("l[1:3]", scope) == [{}]
    assert run("[l, l][].a", scope) == [1, 1]
    assert run("o.*", scope) == [{"a": 1}]
    assert run("o.*.a", scope) == [1]
    for text in ["o[*]", "o[*].a", "o[*].o.b", "o[]", "o[?a]", "o[?a].b", "l.*", "l.*.a", "o[0]", "o[0:1]"]:
        assert run(text, scope) is None


def test_the_builtins_are_stable_and_leave_their_arguments_alone() -> None:
    items = [{"k": 1, "n": "a"}, {"k": 0, "n": "b"}, {"k": 1, "n": "c"}]
    assert [item["n"] for item in run("sort_by(@, &k)", items)] == ["b", "a", "c"]
    assert run("max_by(@, &k).n", items) == "a"
    assert run("min_by(@, &k).n", items) == "b"
    assert run("max_by(`[]`, &k)", items) is None
    assert [item["n"] for item in items] == ["a", "b", "c"]
    assert run("keys(@)", {"b": 1, "a": 2}) == ["b", "a"]
    assert run("merge(@, {b: `3`})", {"b": 1, "a": 2}) == {"b": 3, "a": 2}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("abs(`-2`)", 2),
        ("avg(numbers)", 2.0),
        ("avg(`[]`)", None),
        ("ceil(`1.2`)", 2),
        ("contains('abc', 'b')", True),
        ("contains(texts, 'b')", True),
        ("ends_with('abc', 'bc')", True),
        ("floor(`1.8`)", 1),
        ("join('-', texts)", "b-a"),
        ("keys(object)", ["k"]),
        ("length(texts)", 2),
        ("length('abc')", 3),
        ("length(object)", 1),
        ("map(&k, objects)", [1, None]),
        ("max(numbers)", 3),
        ("max(`[]`)", None),
        ("min(texts)", "a"),
        ("not_null(none, 'x')", "x"),
        ("not_null(none)", None),
        ("reverse('abc')", "cba"),
        ("reverse(texts)", ["a", "b"]),
        ("sort(texts)", ["a", "b"]),
        ("sort_by(`[]`, &k)", []),
        ("sort_by(texts, &@)", ["a", "b"]),
        ("starts_with('abc', 'ab')", True),
        ("sum(numbers)", 6),
        ("to_array('x')", ["x"]),
        ("to_array(texts)", ["b", "a"]),
        ("to_string('x')", "x"),
        ("to_string(object)", '{"k":1}'),
        ("type(object)", "object"),
        ("values(object)", [1]),
    ],
)
def test_a_builtin_gives_the_documented_result(text: str, expected: Any) -> None:
    scope = {"numbers": [3, 1, 2], "texts": ["b", "a"], "object": {"k": 1}, "objects": [{"k": 1}, {}]}
    assert run(text, scope) == expected


def test_numbers_are_read_from_text_as_the_package_does() -> None:
    assert [run("to_number(@)", value) for value in ("12", "1.5", "x", 3, True, [])] == [12, 1.5, None, 3, None, None]


def test_kinds_are_named_for_any_value() -> None:
    assert [kind_of(value) for value in (None, True, 1, "", [], {}, len, object())] == [
        "null", "boolean", "number", "string", "array", "object", "expression", "object",
    ]  # fmt: skip


def test_a_bare_expression_reference_is_a_callable() -> None:
    assert run("&a", {})({"a": 1}) == 1
    assert run("type(&a)", {}) is None


def test_a_tree_deeper_than_the_parsers_is_not_compiled() -> None:
    node: ast.Node = ast.Field("a")
    for _ in range(MAX_TREE_DEPTH):
        node = ast.Not(node)
    with pytest.raises(ContractError):
        compile_node(node, FUNCTIONS)
