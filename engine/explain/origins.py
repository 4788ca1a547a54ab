"""Where fields of an object come from: the values of this module, and how one field is looked up among them.

Knows no kind; `kinds` says what each kind's fields come from.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from engine.explain.recording import Asked

Steps = tuple[str | int, ...]
ABSENT: Final = object()


@dataclass(frozen=True, slots=True)
class FromRules:
    """Everything under `at` in an object is what `asked` gave under `path`."""

    at: Steps
    asked: Asked
    path: Steps = ()


@dataclass(frozen=True, slots=True)
class Given:
    """Everything under `at` was there before: in a machine document, or in what a person wrote."""

    at: Steps
    what: str
    values: Any = ABSENT


@dataclass(frozen=True, slots=True)
class InCode:
    """Everything under `at` is decided by code: `name` says what decides, `module` where."""

    at: Steps
    name: str
    module: str


Origin = FromRules | Given | InCode


def origin_of(origins: Iterable[Origin], field: Steps, value: Any) -> tuple[Origin, Steps] | None:
    """The first origin that covers a field and agrees with its value, and the steps below its own place.

    Shape: rules and given values cover a field when they hold that very value there; code covers whatever is under `at`.
    """
    for origin in origins:
        if field[: len(origin.at)] != origin.at:
            continue
        rest = field[len(origin.at) :]
        match origin:
            case FromRules(_, asked, path):
                if _same(at(asked.outcome.value, (*path, *rest)), value):
                    return origin, (*path, *rest)
            case Given(_, _, values):
                if values is ABSENT or _same(at(values, rest), value):
                    return origin, rest
            case InCode():
                return origin, rest
    return None


def at(value: Any, steps: Sequence[str | int]) -> Any:
    """What a value holds at some steps; ABSENT when there is nothing."""
    for step in steps:
        if isinstance(value, Mapping):
            if step not in value:
                return ABSENT
            value = value[step]
        elif isinstance(value, (list, tuple)) and isinstance(step, int) and step < len(value):
            value = value[step]
        else:
            return ABSENT
    return value


def _same(one: Any, other: Any) -> bool:
    """Equal as shown: sections give whole numbers where objects hold them as texts, and `k` and `000` are one amount."""
    if one is ABSENT or other is ABSENT:
        return False
    if isinstance(one, (Mapping, list, tuple)) or isinstance(other, (Mapping, list, tuple)):
        return bool(_plain(one) == _plain(other))
    if type(one) is type(other) and one == other:
        return True
    return _amount(one) is not None and bool(_amount(one) == _amount(other))


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    return value


def _amount(value: Any) -> Any:
    from engine.errors import EngineError
    from engine.values.quantities import parse_quantity

    if isinstance(value, bool) or not isinstance(value, (int, str)):
        return None
    try:
        return parse_quantity(str(value))
    except EngineError:
        return None
