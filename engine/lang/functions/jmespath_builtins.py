"""JMESPath's own functions, as jmespath.py 1.1.0 runs them, over plain JSON values.

Only implementations and how many arguments each takes: what packs may call, and what the checker knows of it, is
declared in the function groups. Objects keep the order they have; a sort is stable.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from typing import Any, Final

from msgspec import Struct

from engine.lang.operators import ExpressionError, kind_of

Json = Any


class Builtin(Struct, frozen=True):
    """One of JMESPath's functions; has what `engine.lang.compile` asks of a function.

    Shape: none is strict: each implementation names the null itself, as it names every other wrong type.
    """

    name: str
    implementation: Callable[..., Json]
    min_args: int
    max_args: int | None
    lazy: bool = False
    strict: bool = False
    null_ok: frozenset[int] = frozenset()


def _refuse(name: str, position: int, value: Json, wanted: str) -> ExpressionError:
    message = f"{name}() takes {wanted} as argument {position}, {kind_of(value)} given"
    return ExpressionError(message, "invalid-type")


def _is_number(value: Json) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _number(name: str, value: Json) -> Json:
    if not _is_number(value):
        raise _refuse(name, 1, value, "a number")
    return value


def _string(name: str, position: int, value: Json) -> str:
    if not isinstance(value, str):
        raise _refuse(name, position, value, "a string")
    return value


def _array(name: str, position: int, value: Json) -> list[Json]:
    if not isinstance(value, list):
        raise _refuse(name, position, value, "an array")
    return value


def _object(name: str, position: int, value: Json) -> Mapping[str, Json]:
    if not isinstance(value, Mapping):
        raise _refuse(name, position, value, "an object")
    return value


def _expression(name: str, position: int, value: Json) -> Callable[[Json], Json]:
    if not callable(value):
        raise _refuse(name, position, value, "an &expression")
    expression: Callable[[Json], Json] = value
    return expression


def _numbers(name: str, value: Json) -> list[Json]:
    items = _array(name, 1, value)
    for item in items:
        if not _is_number(item):
            raise _refuse(name, 1, item, "an array of numbers")
    return items


def _ordered(name: str, value: Json) -> list[Json]:
    """An array of numbers only or of strings only."""
    items = _array(name, 1, value)
    if not items:
        return items
    if isinstance(items[0], str):
        for item in items:
            if not isinstance(item, str):
                raise _refuse(name, 1, item, "an array of strings or of numbers")
        return items
    return _numbers(name, items)


def _keys_by(name: str, items: list[Json], expression: Callable[[Json], Json]) -> list[Json]:
    """The value to order by of each element: numbers only or strings only."""
    keys = [expression(item) for item in items]
    text = bool(keys) and isinstance(keys[0], str)
    for key in keys:
        if not (isinstance(key, str) if text else _is_number(key)):
            raise _refuse(name, 2, key, "an &expression that gives strings or numbers")
    return keys


def abs_(value: Json) -> Json:
    return abs(_number("abs", value))


def avg(value: Json) -> Json:
    items = _numbers("avg", value)
    return sum(items) / len(items) if items else None


def ceil(value: Json) -> Json:
    return math.ceil(_number("ceil", value))


def contains(subject: Json, search: Json) -> bool:
    if isinstance(subject, str):
        return _string("contains", 2, search) in subject
    if not isinstance(subject, list):
        raise _refuse("contains", 1, subject, "an array or a string")
    return search in subject


def ends_with(text: Json, suffix: Json) -> bool:
    return _string("ends_with", 1, text).endswith(_string("ends_with", 2, suffix))


def floor(value: Json) -> Json:
    return math.floor(_number("floor", value))


def join(glue: Json, parts: Json) -> str:
    text = _string("join", 1, glue)
    for part in _array("join", 2, parts):
        if not isinstance(part, str):
            raise _refuse("join", 2, part, "an array of strings")
    return text.join(parts)


def keys(value: Json) -> list[str]:
    return list(_object("keys", 1, value))


def length(value: Json) -> int:
    if not isinstance(value, (str, list, Mapping)):
        raise _refuse("length", 1, value, "a string, an array or an object")
    return len(value)


def map_(expression: Json, value: Json) -> list[Json]:
    """Nulls stay, unlike in a projection."""
    each = _expression("map", 1, expression)
    return [each(item) for item in _array("map", 2, value)]


def max_(value: Json) -> Json:
    return max(_ordered("max", value), default=None)


def min_(value: Json) -> Json:
    return min(_ordered("min", value), default=None)


def max_by(value: Json, expression: Json) -> Json:
    """The first of the largest."""
    return _best_by("max_by", value, expression, max)


def min_by(value: Json, expression: Json) -> Json:
    """The first of the smallest."""
    return _best_by("min_by", value, expression, min)


def _best_by(name: str, value: Json, expression: Json, choose: Callable[..., Json]) -> Json:
    items = _array(name, 1, value)
    order = _keys_by(name, items, _expression(name, 2, expression))
    return items[choose(range(len(items)), key=order.__getitem__)] if items else None


def merge(*values: Json) -> dict[str, Json]:
    """Later members win; the published implementation lets an empty array pass for an object, this one does not."""
    merged: dict[str, Json] = {}
    for position, value in enumerate(values, 1):
        merged.update(_object("merge", position, value))
    return merged


def not_null(*values: Json) -> Json:
    return next((value for value in values if value is not None), None)


def reverse(value: Json) -> Json:
    if not isinstance(value, (str, list)):
        raise _refuse("reverse", 1, value, "a string or an array")
    return value[::-1]


def sort(value: Json) -> list[Json]:
    return sorted(_ordered("sort", value))


def sort_by(value: Json, expression: Json) -> list[Json]:
    items = _array("sort_by", 1, value)
    order = _keys_by("sort_by", items, _expression("sort_by", 2, expression))
    return [items[at] for at in sorted(range(len(items)), key=order.__getitem__)]


def starts_with(text: Json, prefix: Json) -> bool:
    return _string("starts_with", 1, text).startswith(_string("starts_with", 2, prefix))


def sum_(value: Json) -> Json:
    return sum(_numbers("sum", value))


def to_array(value: Json) -> list[Json]:
    return value if isinstance(value, list) else [value]


def to_number(value: Json) -> Json:
    """Null for what is no number; reads text as Python does, which is why packs may not call it."""
    if _is_number(value):
        return value
    if not isinstance(value, str):
        return None
    for read in (int, float):
        try:
            return read(value)
        except ValueError:
            continue
    return None


def to_string(value: Json) -> str:
    if isinstance(value, str):
        return value
    return json.dumps(value, separators=(",", ":"), default=str)


def type_(value: Json) -> str | None:
    kind = kind_of(value)
    return None if kind == "expression" else kind


def values(value: Json) -> list[Json]:
    return list(_object("values", 1, value).values())


BUILTINS: Final[Mapping[str, Builtin]] = {
    builtin.name: builtin
    for builtin in (
        Builtin("abs", abs_, 1, 1),
        Builtin("avg", avg, 1, 1),
        Builtin("ceil", ceil, 1, 1),
        Builtin("contains", contains, 2, 2),
        Builtin("ends_with", ends_with, 2, 2),
        Builtin("floor", floor, 1, 1),
        Builtin("join", join, 2, 2),
        Builtin("keys", keys, 1, 1),
        Builtin("length", length, 1, 1),
        Builtin("map", map_, 2, 2),
        Builtin("max", max_, 1, 1),
        Builtin("max_by", max_by, 2, 2),
        Builtin("merge", merge, 1, None),
        Builtin("min", min_, 1, 1),
        Builtin("min_by", min_by, 2, 2),
        Builtin("not_null", not_null, 1, None),
        Builtin("reverse", reverse, 1, 1),
        Builtin("sort", sort, 1, 1),
        Builtin("sort_by", sort_by, 2, 2),
        Builtin("starts_with", starts_with, 2, 2),
        Builtin("sum", sum_, 1, 1),
        Builtin("to_array", to_array, 1, 1),
        Builtin("to_number", to_number, 1, 1),
        Builtin("to_string", to_string, 1, 1),
        Builtin("type", type_, 1, 1),
        Builtin("values", values, 1, 1),
    )
}
