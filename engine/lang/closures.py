"""Closures for names, constants, comparisons and logic: the small steps most expressions are made of.

Each builder returns a callable from the current value to a result. Variants exist where measuring showed that one call
less matters; the general form stands last and means the same. Lists are `projections`' business, functions `calls`'.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any

from engine.lang.operators import ORDERINGS, ExpressionError, equals, field, order, truthy

Closure = Callable[[Any], Any]


def current(value: Any) -> Any:
    """`@`."""
    return value


def constant(result: Any) -> Closure:
    """A value known beforehand; shared, never copied."""
    return lambda _value: result


def named(read: Closure) -> Closure:
    """A name that is computed from the scope. A chain of names deep enough to exhaust the interpreter is no crash."""

    def run(scope: Any) -> Any:
        try:
            return read(scope)
        except RecursionError as error:
            raise ExpressionError("names that refer to names too many times over", "invalid-value") from error

    return run


def then(left: Closure, right: Closure) -> Closure:
    """The right side with the left side's value as its current value."""
    return lambda value: right(left(value))


def path(keys: Sequence[str]) -> Closure:
    """Member after member of the current value; plain dicts are asked directly."""
    if len(keys) == 1:
        return _one_key(keys[0])
    if len(keys) == 2:
        return _two_keys(keys[0], keys[1])
    steps = tuple(keys)

    def run(value: Any) -> Any:
        for key in steps:
            if value.__class__ is dict:
                value = value.get(key)
            elif value is None:
                return None
            else:
                value = field(value, key)
        return value

    return run


def path_from(start: Closure, keys: Sequence[str]) -> Closure:
    """Member after member of what `start` gives."""
    if len(keys) == 1:
        key = keys[0]

        def run(value: Any) -> Any:
            inner = start(value)
            return inner.get(key) if inner.__class__ is dict else field(inner, key)

        return run
    return then(start, path(keys))


def _one_key(key: str) -> Closure:
    def run(value: Any) -> Any:
        return value.get(key) if value.__class__ is dict else field(value, key)

    return run


def _two_keys(first: str, second: str) -> Closure:
    def run(value: Any) -> Any:
        inner = value.get(first) if value.__class__ is dict else field(value, first)
        return inner.get(second) if inner.__class__ is dict else field(inner, second)

    return run


def equality(left: Closure, right: Closure, *, negated: bool) -> Closure:
    """`==` or `!=` of two computed values."""
    if negated:
        return lambda value: not equals(left(value), right(value))
    return lambda value: equals(left(value), right(value))


def equals_constant(left: Closure, keys: Sequence[str], right: Any, *, negated: bool) -> Closure:
    """`==` or `!=` against a constant; `keys` is the left side's path where it is nothing but names."""
    if right is None or right is True or right is False:
        if negated:
            return lambda value: left(value) is not right
        return lambda value: left(value) is right
    if isinstance(right, str):
        if keys and len(keys) <= 2:
            return _path_equals_text(keys, right, negated=negated)
        if negated:
            return lambda value: left(value) != right
        return lambda value: left(value) == right
    return equality(left, constant(right), negated=negated)


def _path_equals_text(keys: Sequence[str], text: str, *, negated: bool) -> Closure:
    compare = operator.ne if negated else operator.eq
    if len(keys) == 1:
        key = keys[0]

        def run_one(value: Any) -> Any:
            return compare(value.get(key) if value.__class__ is dict else field(value, key), text)

        return run_one
    first, second = keys

    def run_two(value: Any) -> Any:
        inner = value.get(first) if value.__class__ is dict else field(value, first)
        return compare(inner.get(second) if inner.__class__ is dict else field(inner, second), text)

    return run_two


def ordering(op: str, left: Closure, right: Closure) -> Closure:
    """`<`, `<=`, `>` or `>=`; integers are compared at once."""
    compare = ORDERINGS[op]

    def run(value: Any) -> Any:
        first = left(value)
        second = right(value)
        if first.__class__ is int and second.__class__ is int:
            return compare(first, second)
        return order(op, first, second)

    return run


def ordering_constant(op: str, left: Closure, right: int) -> Closure:
    """An ordering against a constant integer."""
    compare = ORDERINGS[op]

    def run(value: Any) -> Any:
        first = left(value)
        return compare(first, right) if first.__class__ is int else order(op, first, right)

    return run


def negation(operand: Closure, *, plain: bool) -> Closure:
    """`!`; `plain` as for `all_of`."""
    if plain:
        return lambda value: not operand(value)

    def run(value: Any) -> bool:
        found = operand(value)
        return found is not True and (found is False or not truthy(found))

    return run


def truth(operand: Closure) -> Closure:
    """JMESPath's truth of a value as a Python boolean."""

    def run(value: Any) -> bool:
        found = operand(value)
        return found is True or (found is not False and truthy(found))

    return run


def all_of(operands: Sequence[Closure], *, plain: bool) -> Closure:
    """`&&`: the first operand that is not true, or the last. `plain`: each gives true, false or null and nothing else."""
    if plain and len(operands) == 2:
        left, right = operands
        return lambda value: left(value) and right(value)
    if plain and len(operands) == 3:
        left, middle, right = operands
        return lambda value: left(value) and middle(value) and right(value)
    *firsts, last = operands
    if len(firsts) == 1:
        first = firsts[0]

        def run_two(value: Any) -> Any:
            found = first(value)
            return last(value) if found is True or (found is not False and truthy(found)) else found

        return run_two
    steps = tuple(firsts)

    def run(value: Any) -> Any:
        for operand in steps:
            found = operand(value)
            if found is not True and (found is False or not truthy(found)):
                return found
        return last(value)

    return run


def first_of(operands: Sequence[Closure], *, plain: bool) -> Closure:
    """`||`: the first operand that is true, or the last. `plain` as for `all_of`."""
    if plain and len(operands) == 2:
        left, right = operands
        return lambda value: left(value) or right(value)
    if plain and len(operands) == 3:
        left, middle, right = operands
        return lambda value: left(value) or middle(value) or right(value)
    *firsts, last = operands
    steps = tuple(firsts)

    def run(value: Any) -> Any:
        for operand in steps:
            found = operand(value)
            if found is True or (found is not False and truthy(found)):
                return found
        return last(value)

    return run


def multi_select_list(items: Sequence[Closure]) -> Closure:
    """`[a, b]`; null on null."""
    parts = tuple(items)

    def run(value: Any) -> list[Any] | None:
        return None if value is None else [part(value) for part in parts]

    return run


def multi_select_hash(pairs: Sequence[tuple[str, Closure]]) -> Closure:
    """`{k: a, l: b}`; null on null. A key written twice has its last value."""
    parts = tuple(pairs)

    def run(value: Any) -> dict[str, Any] | None:
        return None if value is None else {key: part(value) for key, part in parts}

    return run
