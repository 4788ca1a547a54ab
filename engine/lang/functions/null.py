"""Null and choice: the functions that evaluate only what they need.

Their arguments arrive as callables without arguments. They judge values, never errors: an error in a needed argument is
an error.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from engine.errors import EvaluationError
from engine.lang.functions.function import function
from engine.lang.functions.guard import shown

Thunk = Callable[[], Any]


def _has(value: Thunk) -> bool:
    return value() is not None


def _default(value: Thunk, fallback: Thunk) -> Any:
    found = value()
    return fallback() if found is None else found


def _required(value: Thunk, why: Thunk) -> Any:
    found = value()
    if found is None:
        raise EvaluationError(str(why()))
    return found


def _if(condition: Thunk, then: Thunk, otherwise: Thunk) -> Any:
    return then() if _boolean("if", condition()) else otherwise()


def _not(condition: bool) -> bool:  # noqa: FBT001 - the language's function, one argument
    return not condition


def _boolean(name: str, value: Any) -> bool:
    if not isinstance(value, bool):
        raise EvaluationError(f"{name}() takes bool, got {'null' if value is None else shown(value)}")
    return value


GROUP = (
    function(
        "null",
        "has(value: any) -> bool",
        _has,
        help="Whether a value is there; the value counts as not null where the answer is true.",
        example=("has(card.family)", False),
        cost=1,
        lazy=True,
    ),
    function(
        "null",
        "default(value: T?, fallback: T) -> T",
        _default,
        help="The value, or the fallback where it is null; the fallback is evaluated only then.",
        example=("default(card.family, 'unknown')", "unknown"),
        cost=1,
        lazy=True,
    ),
    function(
        "null",
        "required(value: T?, why: str) -> T",
        _required,
        help="The value; where it is null, the rule could not tell, with the reason given.",
        example=("required(card.name, 'the card has no name')", "Acme One"),
        cost=1,
        lazy=True,
    ),
    function(
        "null",
        "if(condition: bool, then: T, otherwise: T) -> T",
        _if,
        help="One of two values; only that one is evaluated.",
        example=("if(card.cores > `64`, 'large', 'small')", "large"),
        cost=1,
        lazy=True,
    ),
    function(
        "null",
        "not(condition: bool) -> bool",
        _not,
        help="The opposite of a condition; written instead of `!`, which YAML reads as a tag.",
        example=("not(has(card.family))", True),
        cost=1,
    ),
)
