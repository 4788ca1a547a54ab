"""Expression trees as JSON arrays and back: `["field", "a"]`.

Canonical: one tree has one form. Positions and how a constant was written stay behind.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from engine.errors import ContractError, InputError
from engine.lang import ast
from engine.lang.limits import MAX_TREE_DEPTH

Json = Any


def to_json(node: ast.Node) -> list[Json]:  # noqa: C901 - one case a node kind
    """The node and all below it."""
    match node:
        case ast.Current():
            return ["current"]
        case ast.Field():
            return ["field", node.name]
        case ast.Literal():
            return ["literal", node.value]
        case ast.Index():
            return ["index", node.value]
        case ast.Slice():
            return ["slice", node.first, node.last, node.step]
        case ast.FilterProjection():
            return ["filter", to_json(node.left), to_json(node.right), to_json(node.condition)]
        case ast.Flatten():
            return ["flatten", to_json(node.left)]
        case ast.Not():
            return ["not", to_json(node.operand)]
        case ast.Comparator():
            return ["compare", node.op, to_json(node.left), to_json(node.right)]
        case ast.MultiSelectList():
            return ["list", *map(to_json, node.items)]
        case ast.MultiSelectHash():
            return ["hash", *([key, to_json(value)] for key, value in node.pairs)]
        case ast.Call():
            return ["call", node.name, *map(to_json, node.args)]
        case ast.ExprRef():
            return ["expref", to_json(node.body)]
        case (
            ast.Subexpression()
            | ast.IndexExpression()
            | ast.Projection()
            | ast.ValueProjection()
            | ast.Pipe()
            | ast.Or()
            | ast.And()
        ):
            return [_PAIR_NAMES[type(node)], to_json(node.left), to_json(node.right)]
        case _:
            raise ContractError(f"no expression node: {type(node).__name__}")


def from_json(document: Json, depth: int = 1) -> ast.Node:
    """The tree of a JSON array.

    Raises: InputError: not a tree of this format, or nested deeper than the parser allows.
    """
    if depth > MAX_TREE_DEPTH:
        raise InputError(f"an expression tree nested deeper than {MAX_TREE_DEPTH}", remedy=_REMEDY)
    if not isinstance(document, list) or not document or not isinstance(document[0], str):
        raise _no_tree(document)
    read = _READERS.get(document[0])
    if read is None:
        raise InputError(f"an expression tree with a node of unknown kind {document[0]!r}", remedy=_REMEDY)
    node = read(document[1:], depth + 1)
    if node is None:
        raise _no_tree(document)
    return node


_REMEDY: Final = "build the program again with this version"

_COMPARATORS: Final = frozenset({"==", "!=", "<", "<=", ">", ">="})

_PAIRS: Final[dict[str, Callable[[ast.Node, ast.Node], ast.Node]]] = {
    "sub": ast.Subexpression,
    "at": ast.IndexExpression,
    "project": ast.Projection,
    "values": ast.ValueProjection,
    "pipe": ast.Pipe,
    "or": ast.Or,
    "and": ast.And,
}
_PAIR_NAMES: Final = {kind: name for name, kind in _PAIRS.items()}
_SINGLES: Final[dict[str, Callable[[ast.Node], ast.Node]]] = {
    "flatten": ast.Flatten,
    "not": ast.Not,
    "expref": ast.ExprRef,
}


def _no_tree(document: Json) -> InputError:
    shown = repr(document)
    return InputError(f"no expression tree: {shown[:60]}{'…' if len(shown) > 60 else ''}", remedy=_REMEDY)


def _is_integer(value: Json) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


# Each reader takes what follows the kind, and the depth of nodes below; None says that it does not fit.


def _current(parts: list[Json], _: int) -> ast.Node | None:
    return None if parts else ast.Current()


def _field(parts: list[Json], _: int) -> ast.Node | None:
    match parts:
        case [str(name)]:
            return ast.Field(name)
        case _:
            return None


def _literal(parts: list[Json], _: int) -> ast.Node | None:
    return ast.Literal(parts[0], "folded") if len(parts) == 1 else None


def _index(parts: list[Json], _: int) -> ast.Node | None:
    return ast.Index(parts[0]) if len(parts) == 1 and _is_integer(parts[0]) else None


def _slice(parts: list[Json], _: int) -> ast.Node | None:
    if len(parts) != 3 or not all(part is None or _is_integer(part) for part in parts):
        return None
    return ast.Slice(*parts)


def _filter(parts: list[Json], depth: int) -> ast.Node | None:
    if len(parts) != 3:
        return None
    left, right, condition = (from_json(part, depth) for part in parts)
    return ast.FilterProjection(left, right, condition)


def _compare(parts: list[Json], depth: int) -> ast.Node | None:
    match parts:
        case [str(op), left, right] if op in _COMPARATORS:
            return ast.Comparator(op, from_json(left, depth), from_json(right, depth))
        case _:
            return None


def _list(parts: list[Json], depth: int) -> ast.Node | None:
    return ast.MultiSelectList(tuple(from_json(part, depth) for part in parts)) if parts else None


def _hash(parts: list[Json], depth: int) -> ast.Node | None:
    pairs: list[tuple[str, ast.Node]] = []
    for part in parts:
        match part:
            case [str(key), value]:
                pairs.append((key, from_json(value, depth)))
            case _:
                return None
    return ast.MultiSelectHash(tuple(pairs)) if pairs else None


def _call(parts: list[Json], depth: int) -> ast.Node | None:
    match parts:
        case [str(name), *args]:
            return ast.Call(name, tuple(from_json(arg, depth) for arg in args))
        case _:
            return None


def _pair(kind: Callable[[ast.Node, ast.Node], ast.Node]) -> _Reader:
    def read(parts: list[Json], depth: int) -> ast.Node | None:
        return kind(from_json(parts[0], depth), from_json(parts[1], depth)) if len(parts) == 2 else None

    return read


def _single(kind: Callable[[ast.Node], ast.Node]) -> _Reader:
    def read(parts: list[Json], depth: int) -> ast.Node | None:
        return kind(from_json(parts[0], depth)) if len(parts) == 1 else None

    return read


_Reader = Callable[[list[Json], int], ast.Node | None]
_READERS: Final[dict[str, _Reader]] = {
    "current": _current,
    "field": _field,
    "literal": _literal,
    "index": _index,
    "slice": _slice,
    "filter": _filter,
    "compare": _compare,
    "list": _list,
    "hash": _hash,
    "call": _call,
    **{name: _pair(kind) for name, kind in _PAIRS.items()},
    **{name: _single(kind) for name, kind in _SINGLES.items()},
}
