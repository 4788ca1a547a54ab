"""Text: put together, cut, quoted, taken apart into tokens.

Names of Kubernetes objects are the names group's business; patterns the regex group's.
"""

from __future__ import annotations

import json
import re
from typing import Any, Final

from engine.errors import EvaluationError
from engine.lang.functions.function import function

_SEPARATORS: Final = re.compile(r"[-_.]+")


def _concat(*parts: str | int) -> str:
    return "".join(map(str, parts))


def _join(glue: str, parts: list[str | int]) -> str:
    return glue.join(map(str, parts))


def _quote(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def _replace(text: str, old: str, new: str) -> str:
    if not old:
        raise EvaluationError("replace() was asked to replace nothing", remedy="give the text to look for")
    return text.replace(old, new)


def _json(value: Any) -> str:
    return json.dumps(_worth_telling(value), ensure_ascii=False, separators=(",", ":"))


def _worth_telling(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _worth_telling(item) for key, item in value.items() if item is not None and item != ""}
    if isinstance(value, list):
        return [_worth_telling(item) for item in value]
    if isinstance(value, float):
        raise EvaluationError(f"json() was given {value}", why="the language has no floats")
    return value


def tokens(text: str) -> list[str]:
    """The parts of a text between `-`, `_` and `.`; empty ones do not count."""
    return [token for token in _SEPARATORS.split(text) if token]


def _strip_leading(parts: list[str], words: list[str]) -> list[str]:
    sequences = [found for found in map(tokens, words) if found]
    at = 0
    while True:
        leading = next((words for words in sequences if parts[at : at + len(words)] == words), None)
        if leading is None:
            return parts[at:]
        at += len(leading)


GROUP = (
    function(
        "text",
        "concat(...parts: str | int) -> str",
        _concat,
        help="Texts and integers, one after the other.",
        example=("concat('card', `3`, '-', card.name)", "card3-Acme One"),
        cost=1,
    ),
    function(
        "text",
        "join(glue: str, parts: (str | int)[]) -> str",
        _join,
        help="The texts and integers of a list with the glue between them; a null in the list is an error.",
        example=("join(',', [`0`, `2`])", "0,2"),
        cost=1,
        cost_per_item=1,
    ),
    function(
        "text",
        "quote(text: str) -> str",
        _quote,
        help='The text in double quotes, what needs it escaped: `a "b"` is `"a \\"b\\""`.',
        example=("quote(card.name)", '"Acme One"'),
        cost=1,
    ),
    function(
        "text",
        "lower(text: str) -> str",
        str.lower,
        help="The text in lower case.",
        example=("lower(card.name)", "acme one"),
        cost=1,
    ),
    function(
        "text",
        "upper(text: str) -> str",
        str.upper,
        help="The text in upper case.",
        example=("upper(card.name)", "ACME ONE"),
        cost=1,
    ),
    function(
        "text",
        "replace(text: str, old: str, new: str) -> str",
        _replace,
        help="The text with every occurrence of a part replaced.",
        example=("replace(card.name, ' ', '-')", "Acme-One"),
        cost=1,
    ),
    function(
        "text",
        "json(value: any) -> str",
        _json,
        help="The value as JSON: keys in the order written, nulls and empty texts of objects left out, no spaces.",
        example=("json({name: card.name, family: card.family, cores: card.cores})", '{"name":"Acme One","cores":96}'),
        cost=10,
        cost_per_item=1,
    ),
    function(
        "text",
        "tokens(text: str) -> str[]",
        tokens,
        help="The parts of a text between `-`, `_` and `.`.",
        example=("tokens('acme-a100_40gb')", ["acme", "a100", "40gb"]),
        cost=2,
    ),
    function(
        "text",
        "strip_leading(tokens: str[], words: str[]) -> str[]",
        _strip_leading,
        help="The tokens without the words that lead them, as often as one does; a word may be several tokens.",
        example=("strip_leading(tokens('acme-pro-a100'), ['pro', 'acme'])", ["a100"]),
        cost=2,
        cost_per_item=1,
    ),
)
