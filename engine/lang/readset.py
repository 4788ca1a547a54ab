"""Which input paths an expression can look at: the read set.

Errs towards more: a path stands for everything under it. What is done with read sets (memo keys, explanations) is not
known here.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

from engine.lang import ast
from engine.lang.ast import Node
from engine.lang.walk import children

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
        case ast.Current():
            # `@` at the root is the whole input.
            found.update((root,) for root in roots)
        case ast.ExprRef():
            return
        case ast.Call("has", (argument,)):
            path, is_whole = _prefix(argument)
            if is_whole and path[0] in roots:
                found.add((*path, PRESENCE))
            else:
                _read(argument, roots, found)
        case _:
            path, _ = _prefix(node)
            if not path:
                for child in _in_scope(node):
                    _read(child, roots, found)
            elif path[0] in roots:
                found.add(path)


def _in_scope(node: Node) -> tuple[Node, ...]:
    """The parts of a node that see the scope; the others see an element."""
    match node:
        case ast.Subexpression() | ast.IndexExpression() | ast.Pipe() | ast.Flatten():
            return (node.left,)
        case ast.Projection() | ast.ValueProjection() | ast.FilterProjection():
            return (node.left,)
        case _:
            return children(node)


def _prefix(node: Node) -> tuple[Path, bool]:
    """The names a value is reached by, and whether they are all there is to it (`a.b[0].c` is reached by a and b)."""
    match node:
        case ast.Field(name):
            return (name,), True
        case ast.Subexpression(left, right):
            path, is_whole = _prefix(left)
            if not is_whole:
                return path, False
            rest, is_whole = _prefix(right)
            return (*path, *rest), is_whole
        case ast.IndexExpression() | ast.Flatten() | ast.Pipe():
            return _prefix(node.left)[0], False
        case ast.Projection() | ast.ValueProjection() | ast.FilterProjection():
            return _prefix(node.left)[0], False
        case _:
            return (), False
