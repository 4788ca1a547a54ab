"""The expression tree: JMESPath's own node kinds with positions.

`start` and `end` are character offsets into the expression's text; two trees are equal when their meaning is, so
positions take no part in comparison. The tree leaves a process as JSON arrays (`to_json`), without positions.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

Json = Any  # null, bool, int, float, str, list and dict, as the json module reads them


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """What every node carries."""

    start: int = field(default=0, compare=False)
    end: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class Current(Node):
    """`@`."""


@dataclass(frozen=True, slots=True)
class Field(Node):
    """A name; `quoted` when it was written `"in double quotes"`."""

    name: str
    quoted: bool = field(default=False, compare=False)


@dataclass(frozen=True, slots=True)
class Literal(Node):
    """A constant. `form` is how it was written: raw 'x', json `x`, bareword `x` that is no JSON, or folded by the linker."""

    value: Json
    form: str = field(default="raw", compare=False)


@dataclass(frozen=True, slots=True)
class Subexpression(Node):
    """`left.right`; right sees left as its current value."""

    left: Node
    right: Node


@dataclass(frozen=True, slots=True)
class Index(Node):
    """`[n]` on the current value."""

    value: int


@dataclass(frozen=True, slots=True)
class Slice(Node):
    """`[first:last:step]` on the current value."""

    first: int | None
    last: int | None
    step: int | None


@dataclass(frozen=True, slots=True)
class IndexExpression(Node):
    """`left[n]`; right is an `Index` or a `Slice`."""

    left: Node
    right: Node


@dataclass(frozen=True, slots=True)
class Projection(Node):
    """`left[*]right`: right over every element of a list, nulls dropped."""

    left: Node
    right: Node


@dataclass(frozen=True, slots=True)
class ValueProjection(Node):
    """`left.*right`: right over every value of an object, nulls dropped."""

    left: Node
    right: Node


@dataclass(frozen=True, slots=True)
class FilterProjection(Node):
    """`left[?condition]right`."""

    left: Node
    right: Node
    condition: Node


@dataclass(frozen=True, slots=True)
class Flatten(Node):
    """`left[]`, always the left side of a `Projection`."""

    left: Node


@dataclass(frozen=True, slots=True)
class Pipe(Node):
    """`left | right`."""

    left: Node
    right: Node


@dataclass(frozen=True, slots=True)
class Or(Node):
    """`left || right`."""

    left: Node
    right: Node


@dataclass(frozen=True, slots=True)
class And(Node):
    """`left && right`."""

    left: Node
    right: Node


@dataclass(frozen=True, slots=True)
class Not(Node):
    """`!operand`."""

    operand: Node


@dataclass(frozen=True, slots=True)
class Comparator(Node):
    """`left op right`, op one of `== != < <= > >=`."""

    op: str
    left: Node
    right: Node


@dataclass(frozen=True, slots=True)
class MultiSelectList(Node):
    """`[a, b]`."""

    items: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class MultiSelectHash(Node):
    """`{k: a, l: b}`, in the order written."""

    pairs: tuple[tuple[str, Node], ...]


@dataclass(frozen=True, slots=True)
class Call(Node):
    """`name(args)`."""

    name: str
    args: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class ExprRef(Node):
    """`&expression`: code passed to a function, evaluated there."""

    body: Node
