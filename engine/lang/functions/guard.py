"""The run-time guard around an implementation: argument types in, sizes out.

The checker proves most of this before a pack loads; the guard is for what it cannot see (`any`, recorded inputs) and keeps
Python's own exceptions from escaping. Null is the compiler's business where a function is strict.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from engine.errors import EvaluationError, NullArgumentError
from engine.lang.functions.signature import KEY, Pattern, Shape, Signature
from engine.lang.limits import MAX_LIST_ITEMS, MAX_OUTPUT_STRING_BYTES

MAX_INTEGER: Final = 2**53
"""Beyond it JSON readers disagree about an integer's value."""

Predicate = Callable[[Any], bool]


def guarded(signature: Signature, implementation: Callable[..., Any]) -> Callable[..., Any]:
    """The implementation behind checks of what goes in and comes out.

    Raises, when called: NullArgumentError, EvaluationError.
    """
    checks = tuple((predicate(parameter.pattern), parameter) for parameter in signature.parameters)
    name = signature.name
    last = checks[-1] if signature.max_args is None else None

    def call(*arguments: Any) -> Any:
        for position, argument in enumerate(arguments):
            accepts, parameter = checks[position] if position < len(checks) or last is None else last
            if not accepts(argument):
                raise _refusal(name, parameter.name, parameter.pattern, argument)
        return bounded(name, implementation(*arguments))

    return call


def bounded(name: str, value: Any) -> Any:
    """A result, unless it is larger than the language lets a value be. Raises EvaluationError."""
    if isinstance(value, str):
        if len(value) > MAX_OUTPUT_STRING_BYTES or len(value.encode("utf-8", "replace")) > MAX_OUTPUT_STRING_BYTES:
            raise EvaluationError(f"{name}() made a text of more than {MAX_OUTPUT_STRING_BYTES} bytes")
    elif isinstance(value, list | dict):
        if len(value) > MAX_LIST_ITEMS:
            raise EvaluationError(f"{name}() made {len(value)} items", why=f"the most is {MAX_LIST_ITEMS}")
    elif isinstance(value, int) and not -MAX_INTEGER <= value <= MAX_INTEGER:
        raise EvaluationError(f"{name}() made {value}", why="integers end at 2^53 in both directions")
    return value


def is_integer(value: Any) -> bool:
    """An int that is no bool: Python's bools are ints."""
    return isinstance(value, int) and not isinstance(value, bool)


def predicate(pattern: Pattern) -> Predicate:
    """Whether a value has the shape a pattern asks for, as deep as an implementation relies on it."""
    accepts = _shape(pattern)
    if not pattern.nullable:
        return accepts
    return lambda value: value is None or accepts(value)


_PLAIN: Final[dict[Shape, Predicate]] = {
    Shape.ANY: lambda value: not callable(value),
    Shape.BOOL: lambda value: isinstance(value, bool),
    Shape.INT: is_integer,
    Shape.STR: lambda value: isinstance(value, str),
    Shape.NULL: lambda value: value is None,
    Shape.ANY_OBJECT: lambda value: isinstance(value, dict),
    Shape.ANY_LIST: lambda value: isinstance(value, list),
    Shape.EXPRESSION: callable,
}


def _shape(pattern: Pattern) -> Predicate:
    match pattern.shape:
        case Shape.VARIABLE if pattern.name == KEY:
            return lambda value: isinstance(value, str) or is_integer(value)
        case Shape.LIST | Shape.MAP:
            return _collection(pattern)
        case Shape.MEMBERS:
            return _members(pattern)
        case Shape.EITHER:
            parts = tuple(predicate(part) for part in pattern.parts)
            return lambda value: any(part(value) for part in parts)
        case shape:
            return _PLAIN.get(shape, _PLAIN[Shape.ANY])


def _collection(pattern: Pattern) -> Predicate:
    kind = list if pattern.shape is Shape.LIST else dict
    element = pattern.parts[0]
    if element.takes_null and element.shape in (Shape.VARIABLE, Shape.ANY):
        return lambda value: isinstance(value, kind)
    accepts = predicate(element)
    if kind is list:
        return lambda value: isinstance(value, list) and all(map(accepts, value))
    return lambda value: isinstance(value, dict) and all(map(accepts, value.values()))


def _members(pattern: Pattern) -> Predicate:
    parts = tuple((name, predicate(part)) for name, part in zip(pattern.names, pattern.parts, strict=True))
    return lambda value: isinstance(value, dict) and all(accepts(value.get(name)) for name, accepts in parts)


def _refusal(function: str, argument: str, pattern: Pattern, value: Any) -> EvaluationError:
    if value is None:
        return NullArgumentError(
            f"{function}() was given null for {argument!r}", remedy="use default() or required(), or test it with has()"
        )
    return EvaluationError(f"{function}() takes {pattern} for {argument!r}, got {shown(value)}")


def shown(value: Any) -> str:
    """A value for a message: short, and never a whole document."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list):
        return f"a list of {len(value)}"
    if isinstance(value, dict):
        return "an object"
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}…"
