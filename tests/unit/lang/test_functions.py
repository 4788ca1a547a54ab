"""Every function does what its line of help says; what it cannot do is an evaluation error, never a Python exception."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Any

import pytest

from engine.errors import ContractError, EvaluationError, NullArgumentError
from engine.lang.check import Scope, check_expression
from engine.lang.compile import compile_node
from engine.lang.diagnostics import Diagnostics
from engine.lang.functions import FUNCTIONS, Function
from engine.lang.functions.function import function
from engine.lang.functions.registry import registered
from engine.lang.functions.signature import parse_signature
from engine.lang.functions.tables import glob_matches
from engine.lang.notation import parse_type
from engine.lang.parser import parse
from engine.lang.source import Place, Source, Span
from engine.lang.types import violations

EXAMPLE_INPUT = {"card": {"name": "Acme One", "cores": 96, "family": None}}
EXAMPLE_SCOPE = Scope({"card": parse_type("{name: str, cores: int, family?: str}")})

LANGUAGE = [
    "has",
    "not",
    "default",
    "required",
    "if",
    "concat",
    "quote",
    "slug",
    "cpu_slug",
    "sanitize",
    "label_value",
    "dns_label",
    "truncate",
    "truncate_hash",
    "lower",
    "upper",
    "replace",
    "re_match",
    "re_capture",
    "re_replace",
    "tokens",
    "strip_leading",
    "fnv64a",
    "sha256_hex",
    "json",
    "add",
    "sub",
    "mul",
    "floor_div",
    "ceil_div",
    "round_half_up_div",
    "mod",
    "floor_to",
    "least",
    "most",
    "percent_ceil",
    "percent_round",
    "percent_floor",
    "binary_quantity",
    "gi_label",
    "gi_suffix",
    "parse_quantity",
    "version_part",
    "version_cmp",
    "unique",
    "compact",
    "count",
    "any",
    "all",
    "sort_by",
    "index_by",
    "range",
    "lookup",
    "lookup_glob",
    "lookup_below",
    "lookup_tokens",
    "int_ranges",
    "bits_hex",
    "profile_hash",
]
JMESPATH = [
    "abs",
    "avg",
    "ceil",
    "contains",
    "ends_with",
    "floor",
    "join",
    "keys",
    "length",
    "map",
    "max",
    "max_by",
    "merge",
    "min",
    "min_by",
    "not_null",
    "reverse",
    "sort",
    "sort_by",
    "starts_with",
    "sum",
    "to_array",
    "to_number",
    "to_string",
    "type",
    "values",
]


def run(text: str, value: Any = None, *, propagate_null: bool = False) -> Any:
    return compile_node(parse(text), FUNCTIONS, propagate_null=propagate_null)(value)


def test_the_functions_are_those_of_the_language_and_jmespaths_own() -> None:
    assert sorted(FUNCTIONS) == sorted({*LANGUAGE, *JMESPATH})


@pytest.mark.parametrize("one", FUNCTIONS.values(), ids=lambda one: one.name)
def test_every_example_gives_its_value_and_its_type(one: Function) -> None:
    expression, value = one.example
    assert f"{one.name}(" in expression
    assert run(expression, EXAMPLE_INPUT) == value
    if not one.in_profile:
        assert one.instead
        return
    found = Diagnostics()
    source = Source("example", expression.encode())
    made = check_expression(
        parse(expression), EXAMPLE_SCOPE, where=lambda a, b: Place(source, Span(a, b)), diagnostics=found
    )
    assert [finding.message for finding in found] == []
    assert list(violations(value, made)) == []


@pytest.mark.parametrize("one", FUNCTIONS.values(), ids=lambda one: one.name)
def test_no_function_lets_a_python_exception_out(one: Function) -> None:
    values: list[Any] = [
        None,
        True,
        -1,
        0,
        2**60,
        "",
        "x",
        [],
        [None],
        {},
        {"a": 1},
        [{"match": 1}],
        lambda value: value,
    ]
    counts = range(one.min_args, (one.max_args or one.min_args + 1) + 1)
    for count in counts:
        for first in values:
            for other in values:
                given = [first, *[other] * (count - 1)]
                arguments = [(lambda value=value: value) for value in given] if one.lazy else given
                if one.strict and any(value is None for at, value in enumerate(given) if at not in one.null_ok):
                    continue
                if not one.in_profile and any(callable(value) for value in given):
                    continue
                try:
                    made = one.implementation(*arguments)
                except EvaluationError:
                    continue
                assert not isinstance(made, float)


@pytest.mark.parametrize(
    "text",
    [
        f"{one.name}({', '.join(['x'] * one.min_args)})"
        for one in FUNCTIONS.values()
        if one.strict and one.name != "map"
    ],
)
def test_a_strict_function_fails_on_null_and_passes_it_on_where_a_key_may_be_left_out(text: str) -> None:
    with pytest.raises(NullArgumentError):
        run(text, {})
    assert run(text, {}, propagate_null=True) is None


@pytest.mark.parametrize("name", ["lookup", "lookup_glob", "lookup_below", "lookup_tokens"])
def test_a_look_up_of_null_or_in_nothing_is_null(name: str) -> None:
    assert run(f"{name}(x, y)", {}) is None
    assert run(f"{name}(`{'{}' if name == 'lookup' else '[]'}`, y)", {}) is None


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("if(has(x), x.y, 'no')", "no"),
        ("default(x, 'd')", "d"),
        ("default(`false`, `true`)", False),
        ("default(`1`, floor_div(`1`, `0`))", 1),
        ("if(`true`, 'a', floor_div(`1`, `0`))", "a"),
        ("if(`false`, floor_div(`1`, `0`), 'b')", "b"),
        ("concat('a')", "a"),
        ("concat('a', `-3`, 'b')", "a-3b"),
        ("join('-', ['a', `1`])", "a-1"),
        ("quote('tab\t\"x\" é')", '"tab\\t\\"x\\" é"'),
        ("tokens('--a__b..c')", ["a", "b", "c"]),
        ("strip_leading(['a', 'b', 'a'], ['a'])", ["b", "a"]),
        ("strip_leading(['a', 'b', 'a', 'c'], ['a-b', '', 'a'])", ["c"]),
        ("strip_leading(['a'], ['a'])", []),
        ("json({b: `1`, a: '', c: [`null`, ''], d: {e: `null`}, f: `true`})", '{"b":1,"c":[null,""],"d":{},"f":true}'),
        ("json('é')", '"é"'),
        ("replace('aXbX', 'X', '')", "ab"),
        ("floor_div(`-7`, `2`)", -4),
        ("ceil_div(`-7`, `2`)", -3),
        ("ceil_div(`7`, `-2`)", -3),
        ("round_half_up_div(`7`, `2`)", 4),
        ("round_half_up_div(`-7`, `2`)", -3),
        ("round_half_up_div(`7`, `-2`)", -3),
        ("mod(`-7`, `4`)", 1),
        ("floor_to(`-1`, `4`)", -4),
        ("add(`1`, `2`)", 3),
        ("most(`1`, `3`, `2`)", 3),
        ("percent_ceil(`1`, `120`)", 2),
        ("percent_round(`1`, `150`)", 2),
        ("percent_round(`50`, `1`)", 1),
        ("percent_floor(`99`, `100`)", 99),
        ("parse_quantity('1500m') || 'x'", "fails"),
        ("version_part('13', `1`)", 0),
        ("unique([`1`, `true`, `1`, '1', `true`])", [1, True, "1"]),
        ("unique([{a: `1`}, {a: `1`}, [`1`], [`1`]])", [{"a": 1}, [1]]),
        ("unique(`[]`)", []),
        ("compact([`null`, '', `0`, `false`, 'a'])", [0, False, "a"]),
        ("any(&@, `[]`)", False),
        ("all(&@, `[]`)", True),
        ("index_by(&n, [{n: `1`}])", {"1": {"n": 1}}),
        ("range(`0`)", []),
        ("int_ranges(`[]`)", ""),
        ("int_ranges([`5`, `0`, `1`, `1`, `2`])", "0-2,5"),
        ("int_ranges([`7`])", "7"),
        ("bits_hex([`0`, `63`, `64`], `64`, `8`)", "01"),
        ("bits_hex([`30`, `31`, `60`, `61`, `62`, `63`], `0`, `64`)", "f0000000c0000000"),
        ("lookup({a: `1`}, 'b')", None),
        ("lookup({\"7\": 'x'}, `7`)", "x"),
        ("lookup_below([{below: `5`, value: 'a'}, {value: 'z'}], `5`)", "z"),
        ("lookup_below([{below: `5`, value: 'a'}], `5`)", None),
        ("lookup_tokens([{match: 'a10', value: 'm'}], tokens('a100'))", None),
        ("lookup_tokens([{match: 'a-10', value: 'm', by: [{token: 'x', value: 'l'}]}], tokens('a-10-y'))", "m"),
        ("re_capture('(a)|(b)', 'a', `2`)", None),
        ("re_match('b', 'abc')", True),
        ("re_replace('b', 'abcb', '-')", "a-c-"),
        ("merge({a: `1`}, `{}`)", {"a": 1}),
        ("contains('abc', 'b')", True),
        ("to_string(`true`)", "true"),
    ],
)
def test_what_the_functions_give(text: str, value: Any) -> None:
    if value == "fails":
        with pytest.raises(EvaluationError):
            run(text, {})
    else:
        assert run(text, {}) == value


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("required(x, 'no such card')", "no such card"),
        ("if(x, 'a', 'b')", r"if\(\) takes bool, got null"),
        ("if('x', 'a', 'b')", r"if\(\) takes bool, got 'x'"),
        ("not('x')", r"not\(\) takes bool for 'condition', got 'x'"),
        ("add(`true`, `1`)", r"add\(\) takes int for 'left', got true"),
        ("add(`1`, `2`, 'x')", r"add\(\) takes int for 'right', got 'x'"),
        ("join(',', [`null`])", r"join\(\) takes \(str \| int\)\[\]|join\(\) takes str \| int\[\]|join"),
        ("lower(`[1, 2]`)", "got a list of 2"),
        ("lower(`{}`)", "got an object"),
        (f"upper(`{[9] * 2}`)", "got a list of 2"),
        ("lower(`123456789012345678901234567890123456789012345678901234567890123`)", "…"),
        ("mod(`1`, `0`)", "cannot divide by zero"),
        ("ceil_div(`1`, `0`)", "cannot divide by zero"),
        ("round_half_up_div(`1`, `0`)", "cannot divide by zero"),
        ("floor_to(`1`, `0`)", "a step of 1 or more"),
        ("mul(`9007199254740992`, `-2`)", "2\\^53"),
        ("replace('a', '', 'b')", "replace nothing"),
        ("any(&@, ['x'])", "has to be a boolean"),
        ("count(&x, [{y: `1`}])", "gave null"),
        ("index_by(&n, [{n: `1`}, {n: '1'}])", "two elements have the key '1'"),
        ("index_by(&n, [{m: `1`}])", "the key of index_by.. is null"),
        ("index_by(&@, [`true`])", "is true"),
        ("range(`4097`)", "takes 0 to 4096"),
        ("range(`-1`)", "takes 0 to 4096"),
        ("bits_hex(`[]`, `0`, `6`)", "multiple of 4"),
        ("bits_hex(`[]`, `-1`, `8`)", "multiple of 4"),
        ("bits_hex([`-1`], `0`, `8`)", "bit -1"),
        ("parse_quantity('1500m')", "not whole"),
        ("re_match('(a+)+', 'a')", "a repeat inside a repeat"),
        ("json(`1.5`)", "no floats"),
        ("concat(x)", "takes no null"),
        ("lookup_glob([{match: 'x'}, {value: `1`}], 'y')", "lookup_glob"),
    ],
)
def test_what_a_function_cannot_do_it_says(text: str, why: str) -> None:
    with pytest.raises(EvaluationError, match=why):
        run(text, {})


def test_a_result_that_is_too_large_is_an_error() -> None:
    with pytest.raises(EvaluationError, match="more than 4096 bytes"):
        run("concat(x, x)", {"x": "é" * 1500})
    with pytest.raises(EvaluationError, match="made 4097 items"):
        run("map(&@, x)", {"x": [0] * 4097})


@pytest.mark.parametrize(
    ("glob", "text", "matches"),
    [
        ("x*", "x1", True),
        ("*", "", True),
        ("x", "x", True),
        ("x", "xy", False),
        ("*x", "aax", True),
        ("a*b*c", "aXbYbZc", True),
        ("a*b*c", "aXbY", False),
        ("a?c", "abc", True),
        ("a?", "a", False),
        ("?*", "", False),
        ("a**", "a", True),
        ("A*", "a", False),
        ("[a]*", "a", False),
    ],
)
def test_a_glob_knows_stars_and_question_marks_only(glob: str, text: str, matches: bool) -> None:
    assert glob_matches(glob, text) is matches


def test_a_function_without_help_example_or_cost_is_refused_when_it_is_declared() -> None:
    made = {"help": "Does it.", "example": ("f(x)", 1), "cost": 1}
    function("g", "f(x: int) -> int", abs, **made)  # type: ignore[arg-type]
    for missing in (
        {"help": ""},
        {"help": "a\nb"},
        {"example": None},
        {"example": ("", 1)},
        {"cost": 0},
        {"cost_per_item": -1},
    ):
        with pytest.raises(ContractError):
            function("g", "f(x: int) -> int", abs, **{**made, **missing})  # type: ignore[arg-type]


def test_two_functions_of_one_name_are_refused() -> None:
    one = FUNCTIONS["add"]
    with pytest.raises(ContractError, match="two functions are named add"):
        registered([one], [one])


@pytest.mark.parametrize("one", FUNCTIONS.values(), ids=lambda one: one.name)
def test_a_signature_prints_as_it_was_read(one: Function) -> None:
    for parameter in (*one.params,):
        assert str(parameter.pattern) in one.signature.replace("(str | int)[]", "str | int[]")
    assert one.signature.endswith(f"-> {one.returns}")
    assert one.min_args <= len(one.params)


def test_members_and_optional_arguments_of_a_signature() -> None:
    made = parse_signature("f(a: {x: int, y: T}, b?: map<T>) -> null")
    assert (made.min_args, made.max_args) == (1, 2)
    assert str(made.parameters[0].pattern) == "{x: int, y: T}"
    assert made.parameter(5).name == "b"


@pytest.mark.parametrize("text", ["f(", "f(a int) -> int", "f(a: floaty) -> int", "f() -> int int", "f() ~ int", "f()"])
def test_a_signature_that_cannot_be_read_is_our_own_fault(text: str) -> None:
    with pytest.raises(ContractError):
        parse_signature(text)


def test_the_functions_a_compiled_program_needs_import_no_reader_and_no_oracle() -> None:
    for path in (Path(__file__).parents[3] / "engine" / "lang" / "functions").glob("*.py"):
        names = set()
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Import):
                names |= {alias.name.split(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module:
                names.add(node.module.split(".")[0])
        assert not names & {"pydantic", "ruamel", "jsonschema", "jmespath"}, path.name
