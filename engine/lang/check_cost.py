"""What an expression can cost at most, in units of about one closure call, before it ever runs.

Counts; refusing is `check`'s. Types carry no bound, so lists have an assumed one.
"""

from __future__ import annotations

from typing import Final

from engine.lang import ast
from engine.lang.ast import Node
from engine.lang.functions import FUNCTIONS
from engine.lang.walk import children

LIST_ITEMS: Final = 128
"""How long a list of an input is taken to be. Chosen here: a node has tens of cards; what is longer meets the evaluator's
count of steps."""

INNER_LIST_ITEMS: Final = 32
"""The same for a list inside an element of a list. Chosen so that two nested loops fit the budget and three do not."""

NATIVE_ITEMS_PER_UNIT: Final = 64
"""Elements a function walks without calling back, for the price of one closure call. Measured: a sort of 64 integers."""


def cost(node: Node, *, inside: bool = False) -> int:
    """Units at most; `inside` an element, where lists are shorter."""
    match node:
        case ast.Projection(left, right) | ast.ValueProjection(left, right):
            return cost(left, inside=inside) + 1 + bound(left, inside=inside) * (cost(right, inside=True) + 1)
        case ast.FilterProjection(left, right, condition):
            each = cost(right, inside=True) + cost(condition, inside=True) + 1
            return cost(left, inside=inside) + 1 + bound(left, inside=inside) * each
        case ast.Call():
            return _call(node, inside=inside)
        case _:
            return 1 + sum(cost(child, inside=inside) for child in children(node))


def bound(node: Node, *, inside: bool = False) -> int:
    """How many elements a list can have."""
    match node:
        case ast.Literal(list() | dict() as value):
            return len(value)
        case ast.MultiSelectList(items):
            return len(items)
        case ast.MultiSelectHash(pairs):
            return len(pairs)
        case ast.Literal():
            return 0
        case ast.Projection(left, _) | ast.FilterProjection(left, _, _) | ast.ValueProjection(left, _):
            return bound(left, inside=inside)
        case _:
            return INNER_LIST_ITEMS if inside else LIST_ITEMS


def _call(node: ast.Call, *, inside: bool) -> int:
    function = FUNCTIONS.get(node.name)
    plain = [argument for argument in node.args if not isinstance(argument, ast.ExprRef)]
    total = (1 if function is None else function.cost) + sum(cost(argument, inside=inside) for argument in plain)
    if function is None or not function.cost_per_item:
        return total
    items = max((bound(argument, inside=inside) for argument in plain), default=0)
    bodies = sum(cost(a.body, inside=True) + 1 for a in node.args if isinstance(a, ast.ExprRef))
    native = -(-function.cost_per_item * items // NATIVE_ITEMS_PER_UNIT)
    return total + items * bodies + native
