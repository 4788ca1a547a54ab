"""Comparing what a test expects with what came out: where the two differ, path by path.

Equality is strict: `1` is not `true`, a missing key is not null. Defaults of an emit shape may be left out of what is
expected; they are put in before comparing.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from msgspec import Struct

from engine.lang.types import MISSING, Kind, Type

_LONGEST: Final = 400
"""Characters of a value that a message shows; ours, so that a difference fits a terminal."""


class Difference(Struct, frozen=True):
    """One place where the two differ; MISSING stands for a key or element that is not there."""

    path: str
    expected: Any
    got: Any

    def __str__(self) -> str:
        return f"{self.path or 'the value'}: expected {shown(self.expected)}, got {shown(self.got)}"


def shown(value: Any) -> str:
    """A value as a message prints it."""
    if value is MISSING:
        return "nothing"
    text = json.dumps(value, ensure_ascii=False, default=dict)
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"


def differences(expected: Any, got: Any, path: str = "", *, partial: bool = False) -> Iterator[Difference]:
    """Where `got` is not what was expected, in the order expected, then what else it has.

    Shape: with `partial`, objects may have more keys than expected at every depth; lists keep their length.
    """
    if isinstance(expected, Mapping) and isinstance(got, Mapping):
        for key, value in expected.items():
            yield from differences(value, got.get(key, MISSING), f"{path}.{key}" if path else key, partial=partial)
        if not partial:
            for key in got:
                if key not in expected:
                    yield Difference(f"{path}.{key}" if path else key, MISSING, got[key])
    elif isinstance(expected, list | tuple) and isinstance(got, list | tuple):
        for number in range(max(len(expected), len(got))):
            mine = expected[number] if number < len(expected) else MISSING
            theirs = got[number] if number < len(got) else MISSING
            yield from differences(mine, theirs, f"{path}[{number}]", partial=partial)
    elif not _is_equal(expected, got):
        yield Difference(path, expected, got)


def _is_equal(expected: Any, got: Any) -> bool:
    if isinstance(expected, bool) is not isinstance(got, bool):
        return False
    return expected is got or bool(expected == got)


def projected(values: Sequence[Any], keys: Sequence[str]) -> list[Any]:
    """Every element of a list with only these keys left of it."""
    return [{key: one[key] for key in keys if key in one} if isinstance(one, Mapping) else one for one in values]


def has_path(value: Any, path: str) -> bool:
    """Whether a dotted path leads anywhere; keys may hold dots themselves. In a list: in any of its elements."""
    if isinstance(value, list | tuple):
        return any(has_path(one, path) for one in value)
    if not isinstance(value, Mapping):
        return False
    if path in value:
        return True
    at = path.find(".")
    while at >= 0:
        if path[:at] in value and has_path(value[path[:at]], path[at + 1 :]):
            return True
        at = path.find(".", at + 1)
    return False


def with_defaults(expected: Any, shapes: Sequence[Type]) -> Any:
    """What is expected with the defaults of the shape that has all its keys; itself when none has."""
    for shape in shapes:
        if not isinstance(expected, Mapping) or shape.kind is not Kind.OBJECT:
            return _filled(expected, shape)
        if all(shape.member(key) is not None for key in expected):
            return _filled(expected, shape)
    return _filled(expected, shapes[0]) if len(shapes) == 1 else expected


def _filled(value: Any, shape: Type) -> Any:
    if isinstance(value, Mapping) and shape.kind is Kind.OBJECT:
        made: dict[str, Any] = {}
        for key, item in value.items():
            member = shape.member(key)
            made[key] = item if member is None else _filled(item, member.type)
        for name, member in shape.members:
            if name not in made and member.default is not MISSING:
                made[name] = member.default
        return made
    if shape.element is not None:
        if isinstance(value, Mapping):
            return {key: _filled(item, shape.element) for key, item in value.items()}
        if isinstance(value, list | tuple):
            return [_filled(item, shape.element) for item in value]
    return value
