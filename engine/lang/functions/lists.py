"""Lists: counted, sifted, indexed, and written as ranges and bit masks.

An `&expression` is called once for each element, in order.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from engine.errors import EvaluationError
from engine.lang.functions.function import function
from engine.lang.functions.guard import is_integer, shown
from engine.lang.limits import MAX_LIST_ITEMS, MAX_OUTPUT_STRING_BYTES

Expression = Callable[[Any], Any]

_BITS_PER_DIGIT = 4


def _holds(name: str, condition: Expression, item: Any) -> bool:
    found = condition(item)
    if not isinstance(found, bool):
        raise EvaluationError(
            f"the condition of {name}() gave {'null' if found is None else shown(found)}", why="it has to be a boolean"
        )
    return found


def _count(condition: Expression, items: list[Any]) -> int:
    return sum(_holds("count", condition, item) for item in items)


def _any(condition: Expression, items: list[Any]) -> bool:
    return any(_holds("any", condition, item) for item in items)


def _all(condition: Expression, items: list[Any]) -> bool:
    return all(_holds("all", condition, item) for item in items)


def _identity(value: Any) -> Any:
    """Equal for equal JSON values only: Python's True equals 1."""
    if isinstance(value, list):
        return ("list", *map(_identity, value))
    if isinstance(value, dict):
        return ("object", frozenset((key, _identity(item)) for key, item in value.items()))
    return type(value).__name__, value


def _unique(items: list[Any]) -> list[Any]:
    kept: dict[Any, Any] = {}
    for item in items:
        kept.setdefault(_identity(item), item)
    return list(kept.values())


def _compact(items: list[Any]) -> list[Any]:
    return [item for item in items if item is not None and item != ""]


def _index_by(key: Expression, items: list[Any]) -> dict[str, Any]:
    made: dict[str, Any] = {}
    for item in items:
        name = key(item)
        if not (isinstance(name, str) or is_integer(name)):
            raise EvaluationError(
                f"the key of index_by() is {'null' if name is None else shown(name)}",
                why="it has to be text or integer",
            )
        if str(name) in made:
            raise EvaluationError(f"two elements have the key {str(name)!r} in index_by()")
        made[str(name)] = item
    return made


def _range(length: int) -> list[int]:
    if not 0 <= length <= MAX_LIST_ITEMS:
        raise EvaluationError(f"range() takes 0 to {MAX_LIST_ITEMS}, got {length}")
    return list(range(length))


def _int_ranges(ids: list[int]) -> str:
    parts: list[str] = []
    ordered = sorted(set(ids))
    start = 0
    for at, value in enumerate(ordered):
        if at + 1 < len(ordered) and ordered[at + 1] == value + 1:
            continue
        parts.append(str(value) if start == at else f"{ordered[start]}-{value}")
        start = at + 1
    return ",".join(parts)


def _bits_hex(ids: list[int], first: int, width: int) -> str:
    if first < 0 or width < _BITS_PER_DIGIT or width % _BITS_PER_DIGIT or width > MAX_OUTPUT_STRING_BYTES:
        raise EvaluationError(
            f"bits_hex() cannot write {width} bits from bit {first}", remedy="give a width that is a multiple of 4"
        )
    mask = 0
    for bit in ids:
        if bit < 0:
            raise EvaluationError(f"bits_hex() was given bit {bit}")
        if first <= bit < first + width:
            mask |= 1 << (bit - first)
    return f"{mask:0{width // _BITS_PER_DIGIT}x}"


GROUP = (
    function(
        "lists",
        "count(condition: &T -> bool, items: T[]) -> int",
        _count,
        help="How many elements meet a condition.",
        example=("count(&@ > `1`, [`1`, `2`, `3`])", 2),
        cost=2,
        cost_per_item=1,
    ),
    function(
        "lists",
        "any(condition: &T -> bool, items: T[]) -> bool",
        _any,
        help="Whether one element at least meets a condition.",
        example=("any(&@ > `2`, [`1`, `2`, `3`])", True),
        cost=2,
        cost_per_item=1,
    ),
    function(
        "lists",
        "all(condition: &T -> bool, items: T[]) -> bool",
        _all,
        help="Whether every element meets a condition; true for the empty list.",
        example=("all(&@ > `2`, [`1`, `2`, `3`])", False),
        cost=2,
        cost_per_item=1,
    ),
    function(
        "lists",
        "unique(items: T[]) -> T[]",
        _unique,
        help="The elements without repetitions, the first of equals kept in its place.",
        example=("unique(['b', 'a', 'b'])", ["b", "a"]),
        cost=2,
        cost_per_item=2,
    ),
    function(
        "lists",
        "compact(items: T?[]) -> T[]",
        _compact,
        help="The elements that are neither null nor the empty text.",
        example=("compact(['acme', card.family, ''])", ["acme"]),
        cost=1,
        cost_per_item=1,
    ),
    function(
        "lists",
        "index_by(key: &T -> K, items: T[]) -> map<T>",
        _index_by,
        help="The elements by a key of each; two elements with one key are an error.",
        example=("index_by(&name, [{name: 'a'}, {name: 'b'}])", {"a": {"name": "a"}, "b": {"name": "b"}}),
        cost=2,
        cost_per_item=2,
    ),
    function(
        "lists",
        "range(length: int) -> int[]",
        _range,
        help="The integers from 0 to length - 1.",
        example=("range(`3`)", [0, 1, 2]),
        cost=1,
    ),
    function(
        "lists",
        "int_ranges(ids: int[]) -> str",
        _int_ranges,
        help="Integers in ascending order as ranges.",
        example=("int_ranges([`0`, `1`, `2`, `5`])", "0-2,5"),
        cost=2,
        cost_per_item=1,
    ),
    function(
        "lists",
        "bits_hex(ids: int[], from: int, width: int) -> str",
        _bits_hex,
        help="The bits set among `width` bits from bit `from` on, as width / 4 hex digits, the lowest bit last.",
        example=("bits_hex([`0`, `1`, `70`], `0`, `64`)", "0000000000000003"),
        cost=2,
        cost_per_item=1,
    ),
)
