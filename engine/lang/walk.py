"""Walking an expression tree: children, all nodes, depth.

Changes nothing and recurses nowhere, so it is safe on trees nobody has bounded yet.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from operator import attrgetter
from typing import Any, Final

from engine.errors import ContractError
from engine.lang import ast
from engine.lang.ast import Node


def children(node: Node) -> tuple[Node, ...]:
    """The nodes directly below, in the order they were written (a filter's condition before its right side)."""
    read = _CHILDREN.get(type(node))
    if read is None:
        raise ContractError(f"no expression node: {type(node).__name__}")
    return read(node)


def walk(node: Node) -> Iterator[Node]:
    """Every node of the tree, parents before children, left before right."""
    for found, _ in walk_with_depth(node):
        yield found


def walk_with_depth(node: Node) -> Iterator[tuple[Node, int]]:
    """Every node with its depth; the root's is 1."""
    waiting = [(node, 1)]
    while waiting:
        found, depth = waiting.pop()
        yield found, depth
        below = children(found)
        if below:
            waiting.extend([(child, depth + 1) for child in reversed(below)])


def _none(_: Node) -> tuple[Node, ...]:
    return ()


def _one(name: str) -> Callable[[Any], tuple[Node, ...]]:
    read = attrgetter(name)
    return lambda node: (read(node),)


_PAIR: Final[Callable[[Any], tuple[Node, ...]]] = attrgetter("left", "right")

# A table, because every tree is walked whenever it is parsed or compiled.
_CHILDREN: Final[dict[type[Node], Callable[[Any], tuple[Node, ...]]]] = {
    ast.Current: _none,
    ast.Field: _none,
    ast.Literal: _none,
    ast.Index: _none,
    ast.Slice: _none,
    ast.Subexpression: _PAIR,
    ast.IndexExpression: _PAIR,
    ast.Projection: _PAIR,
    ast.ValueProjection: _PAIR,
    ast.Pipe: _PAIR,
    ast.Or: _PAIR,
    ast.And: _PAIR,
    ast.Comparator: _PAIR,
    ast.FilterProjection: attrgetter("left", "condition", "right"),
    ast.Flatten: _one("left"),
    ast.Not: _one("operand"),
    ast.ExprRef: _one("body"),
    ast.MultiSelectList: attrgetter("items"),
    ast.MultiSelectHash: lambda node: tuple(value for _, value in node.pairs),
    ast.Call: attrgetter("args"),
}
