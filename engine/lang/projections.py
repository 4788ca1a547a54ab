"""Closures for lists: index, slice, flatten, and the projections that drop nulls.

What is done to each element comes in as a closure; None stands for the element itself.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from engine.lang.closures import Closure
from engine.lang.operators import ExpressionError, field


def index(at: int) -> Closure:
    """`[n]` of the current value; null past either end and on what is no list."""
    least = at + 1 if at >= 0 else -at

    def run(value: Any) -> Any:
        return value[at] if isinstance(value, list) and len(value) >= least else None

    return run


def slice_of(first: int | None, last: int | None, step: int | None) -> Closure:
    """`[first:last:step]` of the current value.

    Raises (when run on a list): ExpressionError: the step is 0.
    """
    part = slice(first, last, step)

    def run(value: Any) -> Any:
        if not isinstance(value, list):
            return None
        if step == 0:
            raise ExpressionError("a slice with step 0", "invalid-value", remedy="leave the step out")
        return value[part]

    return run


def flatten(left: Closure) -> Closure:
    """`left[]`: one level of lists dissolved; nulls stay, the projection around it drops them."""

    def run(value: Any) -> Any:
        base = left(value)
        if not isinstance(base, list):
            return None
        merged: list[Any] = []
        for element in base:
            if isinstance(element, list):
                merged.extend(element)
            else:
                merged.append(element)
        return merged

    return run


def projection(left: Closure, keys: Sequence[str], right: Closure | None) -> Closure:
    """`left[*]right`; `keys` is the right side's path where it is nothing but names."""
    if right is None:

        def run_elements(value: Any) -> Any:
            base = left(value)
            return [element for element in base if element is not None] if isinstance(base, list) else None

        return run_elements
    if len(keys) == 1:
        return _member_projection(left, keys[0])
    each = right

    def run(value: Any) -> Any:
        base = left(value)
        if not isinstance(base, list):
            return None
        return [found for element in base if (found := each(element)) is not None]

    return run


def _member_projection(left: Closure, key: str) -> Closure:
    def run(value: Any) -> Any:
        base = left(value)
        if not isinstance(base, list):
            return None
        return [
            found
            for element in base
            if (found := element.get(key) if element.__class__ is dict else field(element, key)) is not None
        ]

    return run


def value_projection(left: Closure, right: Closure | None) -> Closure:
    """`left.*right`, values in the object's own order."""

    def run(value: Any) -> Any:
        base = left(value)
        if not isinstance(base, Mapping):
            return None
        if right is None:
            return [element for element in base.values() if element is not None]
        return [found for element in base.values() if (found := right(element)) is not None]

    return run


def filter_projection(left: Closure, condition: Closure, right: Closure | None) -> Closure:
    """`left[?condition]right`; the condition's Python truth decides."""
    if right is None:

        def run_elements(value: Any) -> Any:
            base = left(value)
            if not isinstance(base, list):
                return None
            return [element for element in base if condition(element) and element is not None]

        return run_elements
    each = right

    def run(value: Any) -> Any:
        base = left(value)
        if not isinstance(base, list):
            return None
        return [found for element in base if condition(element) and (found := each(element)) is not None]

    return run
