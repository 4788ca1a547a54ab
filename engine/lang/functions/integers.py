"""Integer arithmetic, every rounding spelled in the function's name.

No floats, and nothing beyond 2^53 in either direction: the guard refuses such results.
"""

from __future__ import annotations

from engine.errors import EvaluationError
from engine.lang.functions.function import function

_PERCENT = 100


def _nonzero(name: str, divisor: int) -> int:
    if divisor == 0:
        raise EvaluationError(f"{name}() cannot divide by zero", remedy="test the divisor first")
    return divisor


def _floor_div(left: int, right: int) -> int:
    return left // _nonzero("floor_div", right)


def _ceil_div(left: int, right: int) -> int:
    return -(-left // _nonzero("ceil_div", right))


def _round_half_up_div(left: int, right: int) -> int:
    divisor = _nonzero("round_half_up_div", right)
    return (2 * left + divisor) // (2 * divisor)


def _mod(left: int, right: int) -> int:
    return left % _nonzero("mod", right)


def _floor_to(value: int, step: int) -> int:
    if step < 1:
        raise EvaluationError(f"floor_to() takes a step of 1 or more, got {step}")
    return value - value % step


def _percent_ceil(percent: int, whole: int) -> int:
    return -(-percent * whole // _PERCENT)


def _percent_round(percent: int, whole: int) -> int:
    return (2 * percent * whole + _PERCENT) // (2 * _PERCENT)


def _percent_floor(percent: int, whole: int) -> int:
    return percent * whole // _PERCENT


def _least(first: int, *others: int) -> int:
    return min((first, *others))


def _most(first: int, *others: int) -> int:
    return max((first, *others))


GROUP = (
    function(
        "integers",
        "add(left: int, ...right: int) -> int",
        lambda *terms: sum(terms),
        help="The sum of all arguments.",
        example=("add(`1`, `2`, `3`)", 6),
        cost=1,
    ),
    function(
        "integers",
        "sub(left: int, right: int) -> int",
        lambda left, right: left - right,
        help="The first without the second.",
        example=("sub(card.cores, `6`)", 90),
        cost=1,
    ),
    function(
        "integers",
        "mul(left: int, right: int) -> int",
        lambda left, right: left * right,
        help="The product.",
        example=("mul(card.cores, `2`)", 192),
        cost=1,
    ),
    function(
        "integers",
        "floor_div(left: int, right: int) -> int",
        _floor_div,
        help="The quotient, rounded down.",
        example=("floor_div(`7`, `2`)", 3),
        cost=1,
    ),
    function(
        "integers",
        "ceil_div(left: int, right: int) -> int",
        _ceil_div,
        help="The quotient, rounded up.",
        example=("ceil_div(`7`, `2`)", 4),
        cost=1,
    ),
    function(
        "integers",
        "round_half_up_div(left: int, right: int) -> int",
        _round_half_up_div,
        help="The quotient, rounded to the nearest integer, halves up.",
        example=("round_half_up_div(`5`, `2`)", 3),
        cost=1,
    ),
    function(
        "integers",
        "mod(left: int, right: int) -> int",
        _mod,
        help="What floor_div leaves over; it has the divisor's sign.",
        example=("mod(`7`, `4`)", 3),
        cost=1,
    ),
    function(
        "integers",
        "floor_to(value: int, step: int) -> int",
        _floor_to,
        help="The greatest multiple of a step that is not above the value.",
        example=("floor_to(`4912`, `256`)", 4864),
        cost=1,
    ),
    function(
        "integers",
        "least(first: int, ...others: int) -> int",
        _least,
        help="The smallest argument; `min` is for lists.",
        example=("least(card.cores, `64`)", 64),
        cost=1,
    ),
    function(
        "integers",
        "most(first: int, ...others: int) -> int",
        _most,
        help="The greatest argument; `max` is for lists.",
        example=("most(card.cores, `64`)", 96),
        cost=1,
    ),
    function(
        "integers",
        "percent_ceil(percent: int, whole: int) -> int",
        _percent_ceil,
        help="That many percent of the whole, rounded up.",
        example=("percent_ceil(`25`, `30`)", 8),
        cost=1,
    ),
    function(
        "integers",
        "percent_round(percent: int, whole: int) -> int",
        _percent_round,
        help="That many percent of the whole, rounded to the nearest integer, halves up.",
        example=("percent_round(`25`, `30`)", 8),
        cost=1,
    ),
    function(
        "integers",
        "percent_floor(percent: int, whole: int) -> int",
        _percent_floor,
        help="That many percent of the whole, rounded down.",
        example=("percent_floor(`25`, `30`)", 7),
        cost=1,
    ),
)
