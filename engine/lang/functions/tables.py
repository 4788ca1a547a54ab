"""Looking things up in a pack's tables: by key, by glob, by leading tokens, below a bound.

A look-up that finds nothing is null, and so is one for null: "not in the table" is no error.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from engine.lang.functions.function import function
from engine.lang.functions.text import tokens
from engine.lang.types import ANY, Type, join


def _lookup(table: dict[str, Any] | None, key: str | int | None) -> Any:
    return None if table is None or key is None else table.get(str(key))


def _lookup_glob(table: list[dict[str, Any]] | None, key: str | None) -> Any:
    if table is None or key is None:
        return None
    return next((row.get("value") for row in table if glob_matches(row["match"], key)), None)


def _lookup_tokens(table: list[dict[str, Any]] | None, key: list[str] | None) -> Any:
    if table is None or key is None:
        return None
    for row in table:
        leading = tokens_of(row["match"])
        if tuple(key[: len(leading)]) == leading:
            refined = (by.get("value") for by in row.get("by") or () if by.get("token") in key)
            return next(refined, row.get("value"))
    return None


def _lookup_below(table: list[dict[str, Any]] | None, key: int | None) -> Any:
    if table is None or key is None:
        return None
    return next((row.get("value") for row in table if row.get("below") is None or key < row["below"]), None)


def _refined_type(arguments: Sequence[Type]) -> Type | str:
    """`lookup_tokens`: a row's own value or one of its `by` rows'."""
    row = arguments[0].element
    made = None if row is None else row.member("value")
    if row is None or made is None:
        return ANY
    by = row.member("by")
    finer = by.type.element.member("value") if by is not None and by.type.element is not None else None
    found = made.type if finer is None else (join(made.type, finer.type) or ANY)
    return found.or_null()


@lru_cache(maxsize=4096)
def tokens_of(text: str) -> tuple[str, ...]:
    """A table row's tokens; rows are few and looked at often."""
    return tuple(tokens(text))


def glob_matches(glob: str, text: str) -> bool:
    """Whether a text has the form of a glob: `*` any characters, `?` one, everything else itself, case counts.

    Cost: at most the product of both lengths.
    """
    if glob.endswith("*") and "*" not in glob[:-1] and "?" not in glob:
        return text.startswith(glob[:-1])
    at = star = resume = -1
    at, position = 0, 0
    while position < len(text):
        if at < len(glob) and glob[at] == "*":
            star, resume = at, position
            at += 1
        elif at < len(glob) and glob[at] in ("?", text[position]):
            at, position = at + 1, position + 1
        elif star >= 0:
            # Give the last star one character more; earlier stars never need to change.
            resume += 1
            at, position = star + 1, resume
        else:
            return False
    return not glob[at:].strip("*")


GROUP = (
    function(
        "tables",
        "lookup(table: map<T>?, key: (str | int)?) -> T?",
        _lookup,
        help="The value under a key, an integer by its decimal; null where there is none.",
        example=("lookup({one: 'Acme One'}, 'one')", "Acme One"),
        cost=2,
    ),
    function(
        "tables",
        "lookup_glob(table: {match: str, value: T}[]?, key: str?) -> T?",
        _lookup_glob,
        help="The value of the first row whose glob (`*`, `?`) the key has the form of.",
        example=("lookup_glob([{match: 'x1*', value: 'old'}, {match: 'x*', value: 'new'}], 'x2')", "new"),
        cost=2,
        cost_per_item=2,
    ),
    function(
        "tables",
        "lookup_tokens(table: {match: str, value: T}[]?, key: str[]?) -> T?",
        _lookup_tokens,
        help="The value of the first row whose tokens lead the key, or of its first `by` row whose token is in the key.",
        example=(
            "lookup_tokens([{match: 'a100', value: 'l', by: [{token: '80gb', value: 'xl'}]}], tokens('a100-80gb'))",
            "xl",
        ),
        cost=2,
        cost_per_item=2,
        typing=_refined_type,
    ),
    function(
        "tables",
        "lookup_below(table: {value: T}[]?, key: int?) -> T?",
        _lookup_below,
        help="The value of the first row whose `below` is above the key; a row without one takes the rest.",
        example=("lookup_below([{below: `50`, value: 'old'}, {below: `90`, value: 'new'}], `70`)", "new"),
        cost=2,
        cost_per_item=1,
    ),
)
