"""Read sets name every input path an expression can look at, and no more than its text shows."""

from __future__ import annotations

import pytest

from engine.lang.fold import fold
from engine.lang.functions import FUNCTIONS
from engine.lang.parser import parse
from engine.lang.readset import PRESENCE, read_paths

ROOTS = ("alloc", "card", "groups")


def read(text: str) -> set[str]:
    node = fold(parse(text), {"params": {"most": 8}}, FUNCTIONS)
    return {".".join(path) for path in read_paths(node, ROOTS)}


@pytest.mark.parametrize(
    ("text", "paths"),
    [
        ("card.cores", {"card.cores"}),
        ("card.a.b.c == 'x' && card.d != card.e", {"card.a.b.c", "card.d", "card.e"}),
        ("alloc.cards[].uuid", {"alloc.cards"}),
        ("alloc.cards[0].slots.minor", {"alloc.cards"}),
        ("alloc.cards[?mode == 'x'].uuid | [0]", {"alloc.cards"}),
        ("alloc.claims.*", {"alloc.claims"}),
        ("map(&concat(uuid, card), groups)", {"groups"}),
        ("json(card)", {"card"}),
        ("json({a: card.name, b: [card.cores]})", {"card.name", "card.cores"}),
        ("card.{a: name}", {"card"}),
        ("lookup(card.table, card.key)", {"card.table", "card.key"}),
        ("not(card.a) || !card.b", {"card.a", "card"}),
        ("if(card.a, params.most, groups[1:])", {"card.a", "groups"}),
        ("default(merge(card.a, card.b).c, 'x')", {"card.a", "card.b"}),
        ("params.most", set()),
        ("other.name", set()),
        ("'text'", set()),
        ("@", {"alloc", "card", "groups"}),
        ("card | name", {"card"}),
    ],
)
def test_the_read_set_is_what_the_expression_names(text: str, paths: set[str]) -> None:
    assert read(text) == paths


def test_has_reads_presence_and_not_the_object() -> None:
    assert read("has(alloc.slice)") == {f"alloc.slice.{PRESENCE}"}


def test_has_of_a_position_reads_the_list() -> None:
    assert read("has(alloc.cards[0].minor)") == {"alloc.cards"}


def test_has_of_another_name_reads_nothing() -> None:
    assert read("has(other.slice)") == set()
