"""Our parser and closures against the `jmespath` package, on expressions nobody wrote."""

from __future__ import annotations

import json
import warnings
from typing import Any

import jmespath
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.errors import EvaluationError
from engine.lang.astjson import from_json, to_json
from engine.lang.compile import compile_node
from engine.lang.functions.jmespath_builtins import BUILTINS
from engine.lang.oracle import matches_oracle
from engine.lang.parser import ExpressionSyntaxError, parse
from tests.differential.expressions import DOCUMENTS, expressions

ERROR = object()


def theirs(expression: str, document: Any) -> Any:
    """The package's result; it fails with whatever exception Python happens to raise."""
    try:
        return jmespath.search(expression, document)
    except Exception:
        return ERROR


def ours(expression: str, document: Any) -> Any:
    """Our result; anything but an EvaluationError escapes and fails the test."""
    node = parse(expression)
    try:
        return compile_node(node, BUILTINS)(document)
    except EvaluationError:
        return ERROR


def exactly(value: Any) -> str:
    """Tells 1 from true and 1.0, and one key order from another."""
    return "an error" if value is ERROR else json.dumps(value)


@settings(max_examples=400, deadline=None)
@given(expressions(), DOCUMENTS)
def test_a_compiled_expression_gives_what_the_package_gives(expression: str, document: Any) -> None:
    assert exactly(ours(expression, document)) == exactly(theirs(expression, document))


@settings(max_examples=200, deadline=None)
@given(expressions(depth=5))
def test_the_tree_is_the_packages_tree(expression: str) -> None:
    assert matches_oracle(expression, parse(expression)) is None


@settings(max_examples=100, deadline=None)
@given(expressions())
def test_a_tree_survives_json(expression: str) -> None:
    node = parse(expression)
    document = json.loads(json.dumps(to_json(node)))
    assert from_json(document) == node
    assert to_json(from_json(document)) == document


TOKENS = [
    "a",
    "b",
    '"c"',
    "'t'",
    "`1`",
    "`w`",
    "1",
    "-2",
    ".",
    "*",
    "[",
    "]",
    "[]",
    "[?",
    "(",
    ")",
    "{",
    "}",
    ",",
    ":",
    "@",
]
TOKENS += ["&", "|", "||", "&&", "!", "==", "<", " "]


@settings(max_examples=800, deadline=None)
@given(st.lists(st.sampled_from(TOKENS), min_size=1, max_size=9).map("".join))
def test_what_our_parser_takes_the_package_reads_the_same_way(text: str) -> None:
    try:
        node = parse(text)
    except ExpressionSyntaxError:
        return
    assert matches_oracle(text, node) is None


@settings(max_examples=300, deadline=None)
@given(st.text(max_size=40))
def test_no_text_makes_the_parser_fail_in_any_other_way(text: str) -> None:
    refused: ExpressionSyntaxError | None = None
    try:
        parse(text)
    except ExpressionSyntaxError as error:
        refused = error
    assert refused is None or 0 <= refused.start <= refused.end <= len(text)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("f(a b)", "a missing comma"),
        ("f(a,)", "a comma before the closing parenthesis"),
        ("{a: b c: d}", "a missing comma"),
        ("f('it''s')", "a doubled quote splits the argument in two"),
        ("(f)(a)", "a call of what is no name"),
        ("[1:2 3]", "two numbers in one part of a slice"),
        ("`NaN`", "a number JSON does not have"),
        ("`1e999`", "a number JSON readers cannot hold"),
        ('`"\\ud800"`', "half a character"),
    ],
)
def test_the_package_lets_through_what_our_parser_refuses(text: str, why: str) -> None:
    """The other direction of the comparison: each is accepted there, so tree equality cannot catch it."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PendingDeprecationWarning)
        jmespath.compile(text)
    with pytest.raises(ExpressionSyntaxError):
        parse(text)
    assert why


def test_an_empty_array_is_no_object_to_merge() -> None:
    """The one result where the official specification wins over the package, which gives {}."""
    assert theirs("merge(@, `[]`)", {}) == {}
    assert ours("merge(@, `[]`)", {}) is ERROR
