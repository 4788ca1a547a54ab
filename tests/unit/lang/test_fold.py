"""Folding puts constants in and computes what hangs on nothing else, and changes no outcome."""

from __future__ import annotations

from typing import Any

import pytest

from engine.errors import EvaluationError
from engine.lang.ast import Literal, Node
from engine.lang.compile import compile_node
from engine.lang.fold import fold
from engine.lang.functions import FUNCTIONS
from engine.lang.parser import parse

CONSTANTS: dict[str, Any] = {
    "const": {"prefix": "acme.example/", "units": 100, "nothing": None},
    "params": {"quiet": True, "most": 8, "words": ["a", "b"]},
    "tables": {"family": {"1": "one"}, "globs": [{"match": "x*", "value": {"cores": 4}}]},
}
SCOPE: dict[str, Any] = {
    "card": {"name": "x1", "cores": 4, "flag": True, "params": {"most": 1}, "null": None},
    "cards": [{"n": 1, "const": {"units": 5}}, {"n": 9, "const": {"units": 6}}],
}


def folded(text: str) -> Node:
    return fold(parse(text), CONSTANTS, FUNCTIONS)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("const.units", 100),
        ("const.missing", None),
        ("params.words[1]", "b"),
        ("params.words[]", ["a", "b"]),
        ("tables.globs[?match == 'x*'].value.cores", [4]),
        ("add(const.units, `1`)", 101),
        ("concat(const.prefix, 'a')", "acme.example/a"),
        ("const.units > `99` && params.quiet", True),
        ("const.units == `1`", False),
        ("!(params.quiet)", False),
        ("not(params.quiet)", False),
        ("lookup(tables.family, `1`)", "one"),
        ("default(const.nothing, const.units)", 100),
        ("if(params.quiet, '0', '2')", "0"),
        ("contains(['a', 'b'], params.words[0])", True),
        ("map(&concat(@, const.units), params.words)", ["a100", "b100"]),
        ("has(const.prefix)", True),
        ("`false` && card.flag", False),
        ("`true` || card.flag", True),
        ("const.prefix | length(@)", 13),
        ("{a: const.units}.a", 100),
    ],
)
def test_what_hangs_on_constants_alone_becomes_a_literal(text: str, value: Any) -> None:
    made = folded(text)
    assert made == Literal(value) or text.startswith("{")
    assert compile_node(made, FUNCTIONS)(SCOPE) == value
    if isinstance(made, Literal):
        assert made.form in ("folded", "json", "raw")


@pytest.mark.parametrize(
    ("text", "becomes"),
    [
        ("if(params.quiet, card.name, card.cores)", "card.name"),
        ("if(not(params.quiet), card.name, card.cores)", "card.cores"),
        ("default(const.nothing, card.name)", "card.name"),
        ("params.quiet && card.flag", "card.flag"),
        ("not(params.quiet) || card.flag", "card.flag"),
        ("card.name == 'x' && params.quiet", "card.name == 'x'"),
        ("(has(card.name) || !(card.flag)) && params.quiet", "has(card.name) || !(card.flag)"),
        ("has(card.name) || not(params.quiet)", "has(card.name)"),
    ],
)
def test_a_constant_condition_leaves_the_part_it_chooses(text: str, becomes: str) -> None:
    made = folded(text)
    assert made == folded(becomes)


@pytest.mark.parametrize(
    "text",
    [
        "floor_div(const.units, `0`)",
        "add(const.prefix, `1`)",
        "required(const.nothing, 'why')",
        "label_value('aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa')",
        "nobody(`1`)",
        "if(const.units, 'a', 'b')",
    ],
)
def test_what_fails_is_left_to_fail_when_it_is_evaluated(text: str) -> None:
    made = folded(text)
    assert not isinstance(made, Literal)
    with pytest.raises(EvaluationError):
        compile_node(made, FUNCTIONS)(SCOPE)


@pytest.mark.parametrize(
    "text",
    [
        "card.params.most",
        "cards[].const.units",
        "cards[*].n",
        "cards[?n > params.most].const.units",
        "cards[?n > params.most] | [0].const",
        "card.{a: const.units}",
        "card.null.[const.units]",
        "card.null | [const.units]",
        "cards[*].[n, const.units]",
        "card.flag && const.nothing",
        "card.flag && params.quiet",
        "card.name || params.quiet",
        "card.flag || `false`",
        "card.* | length(@)",
        "cards[1:].n",
        "[cards[0].n, const.units]",
        "{a: card.name, b: const.units}",
        "sort_by(cards, &sub(const.units, n))[0].n",
        "@.card.name",
        "(card.name == 'x' || const.nothing) && params.quiet",
    ],
)
def test_folding_changes_no_value(text: str) -> None:
    # What a name begins is the constant, what a dot leads to is the member: the unfolded tree sees the constants as fields.
    plain = compile_node(parse(text), FUNCTIONS)
    made = compile_node(folded(text), FUNCTIONS)(SCOPE)
    assert made == (ELEMENTS[text] if text in ELEMENTS else plain({**SCOPE, **CONSTANTS}))


ELEMENTS = {
    "cards[?n > params.most].const.units": [6],
    "cards[?n > params.most] | [0].const": {"units": 6},
    "card.{a: const.units}": {"a": 100},
    "card.null.[const.units]": None,
    "card.null | [const.units]": None,
    "cards[*].[n, const.units]": [[1, 100], [9, 100]],
    "sort_by(cards, &sub(const.units, n))[0].n": 9,
}


def test_a_folded_literal_keeps_the_place_of_what_it_stands_for() -> None:
    made = folded("card.name == const.prefix")
    right = made.right  # type: ignore[attr-defined]
    assert (right.start, right.end, right.form) == (13, 25, "folded")
