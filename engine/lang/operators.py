"""What JMESPath's operators mean on plain JSON values: truth, equality, order, field access.

Behaves as jmespath.py 1.1.0 does, except that what is an error there by accident of Python is an `EvaluationError` here.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from numbers import Number
from typing import Any, Final

from engine.errors import EvaluationError

# What an evaluation can trip over on data nobody bounded; everything else is a bug and stays visible.
PYTHON_ERRORS: Final = (TypeError, ValueError, LookupError, ArithmeticError, AttributeError, RecursionError)

ORDERINGS: Final[dict[str, Callable[[Any, Any], Any]]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


class ExpressionError(EvaluationError):
    """An expression that cannot be evaluated; `kind` is the error's name in the official compliance cases."""

    def __init__(self, what: str, kind: str, *, remedy: str = "") -> None:
        super().__init__(what, remedy=remedy)
        self.kind = kind


def kind_of(value: Any) -> str:
    """The JMESPath word for a value's type."""
    for kind, types in _KINDS:
        if isinstance(value, types):
            return kind
    return "expression" if callable(value) else type(value).__name__


_KINDS: Final[tuple[tuple[str, type | tuple[type, ...]], ...]] = (
    ("null", type(None)),
    ("boolean", bool),
    ("number", (int, float)),
    ("string", str),
    ("array", list),
    ("object", Mapping),
)


def truthy(value: Any) -> bool:
    """False for null, false and everything empty; 0 is true."""
    if value is None or value is False:
        return False
    if isinstance(value, (str, list, Mapping)):
        return bool(value)
    return True


def equals(left: Any, right: Any) -> bool:
    """Python's `==`, but a boolean is never a number."""
    if (left.__class__ is bool) is not (right.__class__ is bool):
        return False
    try:
        return bool(left == right)
    except RecursionError as error:
        raise ExpressionError("comparing two values nested too deeply", "invalid-value") from error


def order(op: str, left: Any, right: Any) -> bool | None:
    """Numbers with numbers and strings with strings; null where either side is neither.

    Raises: ExpressionError: a number against a string.
    """
    if not (_has_order(left) and _has_order(right)):
        return None
    if isinstance(left, str) is not isinstance(right, str):
        message = f"{op} between {kind_of(left)} and {kind_of(right)}"
        raise ExpressionError(message, "invalid-type", remedy="compare two numbers or two strings")
    return bool(ORDERINGS[op](left, right))


def _has_order(value: Any) -> bool:
    return isinstance(value, (Number, str)) and not isinstance(value, bool)


def field(value: Any, name: str) -> Any:
    """The member of an object; null for everything that is none."""
    if value is None or not isinstance(value, Mapping):
        return None
    return value.get(name)
