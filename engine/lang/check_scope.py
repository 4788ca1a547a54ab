"""What an expression can see: names with their types, constants, and what a condition has proved to be there.

Infers nothing. A `Scope` is where an expression stands in a pack; a `Context` is where a part of it stands in the
expression.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType

from msgspec import Struct, field
from msgspec.structs import replace

from engine.lang import ast
from engine.lang.ast import Node
from engine.lang.types import Type

Path = tuple[str, ...]
"""Names from the outermost in; a position in a list is the name `[n]`."""

_NO_TYPES: Mapping[str, Type] = MappingProxyType({})


class Scope(Struct, frozen=True):
    """The names an expression may use.

    Shape: `names` are input roots, lets and forEach items; `constants` the link-time constants (const, params, tables,
    tiers, identity), visible inside projections too; `present` the paths a condition has proved not to be null.
    """

    names: Mapping[str, Type] = field(default_factory=lambda: _NO_TYPES)
    constants: Mapping[str, Type] = field(default_factory=lambda: _NO_TYPES)
    present: frozenset[Path] = frozenset()

    def child(self, names: Mapping[str, Type]) -> Scope:
        """This scope with more names; what was known of paths under a name that is given anew is forgotten."""
        present = frozenset(path for path in self.present if path[0] not in names)
        return replace(self, names=MappingProxyType({**self.names, **names}), present=present)

    def narrowed(self, paths: Iterable[Path]) -> Scope:
        """This scope where those paths are known to be there."""
        return replace(self, present=self.present | frozenset(paths))

    def knows(self, name: str) -> bool:
        """Whether a name is taken."""
        return name in self.names or name in self.constants


class Context(Struct, frozen=True):
    """Where a part of an expression stands.

    Shape: `element` is the current value inside a projection, an `&expression`, after a pipe or a dot (None: the scope
    itself); `member` that a bare name is a member of the element and nothing else, as right of a dot; `present` what is
    known to be there, relative to the element or the scope.
    """

    scope: Scope
    element: Type | None = None
    member: bool = False
    present: frozenset[Path] = frozenset()

    def of_element(self, element: Type, *, member: bool = False) -> Context:
        """Inside something whose current value is an element."""
        return Context(self.scope, element, member)

    def absolute(self) -> Context:
        """The same place, names starting afresh (inside a call or a multi-select right of a dot)."""
        return replace(self, member=False) if self.member else self

    def knowing(self, paths: frozenset[Path]) -> Context:
        """The same place where those paths are known to be there."""
        return replace(self, present=self.present | paths) if paths else self


def path_of(node: Node) -> Path | None:
    """The path of names and positions that an expression is; None when it is anything else."""
    match node:
        case ast.Field(name):
            return (name,)
        case ast.Subexpression(left, right):
            # `a.b[0]` is a, then b[0].
            before, after = path_of(left), path_of(right)
            return None if before is None or after is None else (*before, *after)
        case ast.IndexExpression(left, ast.Index(value)):
            before = path_of(left)
            return None if before is None else (*before, f"[{value}]")
        case _:
            return None


def narrowings(node: Node) -> frozenset[Path]:
    """The paths that are not null wherever a condition is true: those of `has(x)` under `&&`, with what they hang on."""
    match node:
        case ast.And(left, right):
            return narrowings(left) | narrowings(right)
        case ast.Call("has", (argument,)):
            path = path_of(argument)
            return frozenset(path[:length] for length in range(1, len(path) + 1)) if path else frozenset()
        case _:
            return frozenset()
