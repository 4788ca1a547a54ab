"""Which input paths an expression can look at: the read set.

Errs towards more: a path stands for everything under it. What is done with read sets (memo keys, explanations) is not
known here.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

from engine.lang import ast
from engine.lang.ast import Node

Path = tuple[str, ...]

PRESENCE: Final = "?"
"""The last step of a path of which only presence is read: `has(alloc.slice)` reads `alloc.slice.?`."""


def read_paths(node: Node, roots: Collection[str]) -> frozenset[Path]:
    """The paths under the given roots that an expression can look at.

    Shape: a path ends where names end: a position, a projection, a function reads the whole value before it. Names inside
    projections, filters, `&expressions` and after a pipe are relative to an element and read no input themselves.
    """
    found: set[Path] = set()
    _read(node, frozenset(roots), found)
    return frozenset(found)


def _read(node: Node, roots: frozenset[str], found: set[Path]) -> None:
    match node:
        case ast.Field() | ast.Subexpression():
            _read_path(node, roots, found)
        case ast.Call("has", (ast.Field() | ast.Subexpression() as argument,)):
            path = _names(argument)
            if path is None:
                _read(argument, roots, found)
            elif path[0] in roots:
                found.add((*path, PRESENCE))
        case ast.Pipe() | ast.Projection() | ast.ValueProjection() | ast.FilterProjection():
            _read(node.left, roots, found)
        case ast.IndexExpression() | ast.Flatten():
            _read(node.left, roots, found)
        case ast.And() | ast.Or() | ast.Comparator():
            _read(node.left, roots, found)
            _read(node.right, roots, found)
        case ast.Not():
            _read(node.operand, roots, found)
        case ast.MultiSelectList():
            for item in node.items:
                _read(item, roots, found)
        case ast.MultiSelectHash():
            for _, value in node.pairs:
                _read(value, roots, found)
        case ast.Call():
            for argument in node.args:
                _read(argument, roots, found)
        case ast.Current():
            # `@` at the root is the whole input.
            found.update((root,) for root in roots)
        case _:
            return


def _read_path(node: ast.Field | ast.Subexpression, roots: frozenset[str], found: set[Path]) -> None:
    path = _names(node)
    if path is not None:
        if path[0] in roots:
            found.add(path)
    elif isinstance(node, ast.Subexpression):
        # `a.{b: c}`, `a[0].b`: what the right side picks is under what the left side reads.
        _read(node.left, roots, found)


def _names(node: Node) -> Path | None:
    if isinstance(node, ast.Field):
        return (node.name,)
    if isinstance(node, ast.Subexpression) and isinstance(node.right, ast.Field):
        before = _names(node.left)
        return None if before is None else (*before, node.right.name)
    return None
