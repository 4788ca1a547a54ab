"""The expression tree: JMESPath's own node kinds with positions.

`start` and `end` are character offsets into the expression's text; two trees are equal when their meaning is, so
positions take no part in comparison. The tree leaves a process as JSON arrays (`to_json`), without positions.
"""

from __future__ import annotations

from typing import Any, Final

from msgspec import Struct

_NOTATION: Final = frozenset({"start", "end", "quoted", "form"})  # how a node was written, not what it means

Json = Any  # null, bool, int, float, str, list and dict, as the json module reads them


class Node(Struct, frozen=True, kw_only=True):
    """What every node carries."""

    start: int = 0
    end: int = 0

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and _meaning(self) == _meaning(other)

    def __hash__(self) -> int:
        return hash((type(self), _meaning(self)))


class Current(Node, frozen=True):
    """`@`."""


class Field(Node, frozen=True):
    """A name; `quoted` when it was written `"in double quotes"`."""

    name: str
    quoted: bool = False


class Literal(Node, frozen=True):
    """A constant. `form` is how it was written: raw 'x', json `x`, bareword `x` that is no JSON, or folded by the linker."""

    value: Json
    form: str = "raw"


class Subexpression(Node, frozen=True):
    """`left.right`; right sees left as its current value."""

    left: Node
    right: Node


class Index(Node, frozen=True):
    """`[n]` on the current value."""

    value: int


class Slice(Node, frozen=True):
    """`[first:last:step]` on the current value."""

    first: int | None
    last: int | None
    step: int | None


class IndexExpression(Node, frozen=True):
    """`left[n]`; right is an `Index` or a `Slice`."""

    left: Node
    right: Node


class Projection(Node, frozen=True):
    """`left[*]right`: right over every element of a list, nulls dropped."""

    left: Node
    right: Node


class ValueProjection(Node, frozen=True):
    """`left.*right`: right over every value of an object, nulls dropped."""

    left: Node
    right: Node


class FilterProjection(Node, frozen=True):
    """`left[?condition]right`."""

    left: Node
    right: Node
    condition: Node


class Flatten(Node, frozen=True):
    """`left[]`, always the left side of a `Projection`."""

    left: Node


class Pipe(Node, frozen=True):
    """`left | right`."""

    left: Node
    right: Node


class Or(Node, frozen=True):
    """`left || right`."""

    left: Node
    right: Node


class And(Node, frozen=True):
    """`left && right`."""

    left: Node
    right: Node


class Not(Node, frozen=True):
    """`!operand`."""

    operand: Node


class Comparator(Node, frozen=True):
    """`left op right`, op one of `== != < <= > >=`."""

    op: str
    left: Node
    right: Node


class MultiSelectList(Node, frozen=True):
    """`[a, b]`."""

    items: tuple[Node, ...]


class MultiSelectHash(Node, frozen=True):
    """`{k: a, l: b}`, in the order written."""

    pairs: tuple[tuple[str, Node], ...]


class Call(Node, frozen=True):
    """`name(args)`."""

    name: str
    args: tuple[Node, ...]


class ExprRef(Node, frozen=True):
    """`&expression`: code passed to a function, evaluated there."""

    body: Node


def _meaning(node: Node) -> tuple[Any, ...]:
    return tuple(getattr(node, name) for name in node.__struct_fields__ if name not in _NOTATION)
