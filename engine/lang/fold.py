"""Constant folding: link-time constants become literals, and what depends on nothing else is computed once.

Never turns an error into a value, nor a value into an error: what fails stays as it is and fails when it is evaluated.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from msgspec.structs import replace

from engine.errors import EvaluationError
from engine.lang import ast
from engine.lang.ast import Json, Literal, Node
from engine.lang.compile import compile_node
from engine.lang.functions import Function
from engine.lang.functions.signature import Shape
from engine.lang.operators import truthy

_BOOLEAN_OPS: Final = frozenset({"==", "!="})


def fold(node: Node, constants: Mapping[str, Json], functions: Mapping[str, Function]) -> Node:
    """The tree with constants put in.

    Shape: a name that begins a path is a constant wherever it stands, inside projections too, so a constant hides a
    field of the same name there; a name right of a dot never is one. Folded literals have the form `folded` and the place
    of what they stand for.
    """
    return _Folder(constants, functions).names(node)


class _Folder:
    def __init__(self, constants: Mapping[str, Json], functions: Mapping[str, Function]) -> None:
        self._constants = constants
        self._functions = functions
        self._inside = 0

    def names(self, node: Node) -> Node:
        """A part whose first name may be a constant."""
        if isinstance(node, ast.Field):
            return _literal(node, self._constants[node.name]) if node.name in self._constants else node
        return self._simplified(self._children(node, self.names))

    def _members(self, node: Node) -> Node:
        """A part whose first name is a member of the value before it."""
        if isinstance(node, ast.Field):
            return node
        return self._simplified(self._children(node, self._members))

    def _children(self, node: Node, first: Callable[[Node], Node]) -> Node:  # noqa: C901 - one case a node kind
        names = self.names
        match node:
            case ast.Subexpression() | ast.Projection() | ast.ValueProjection():
                return replace(node, left=first(node.left), right=self._element(self._members, node.right))
            case ast.FilterProjection():
                condition = self._element(names, node.condition)
                right = self._element(self._members, node.right)
                return replace(node, left=first(node.left), condition=condition, right=right)
            case ast.IndexExpression() | ast.Flatten():
                return replace(node, left=first(node.left))
            case ast.Pipe():
                return replace(node, left=first(node.left), right=self._element(names, node.right))
            case ast.And() | ast.Or() | ast.Comparator():
                return replace(node, left=names(node.left), right=names(node.right))
            case ast.Not():
                return replace(node, operand=names(node.operand))
            case ast.ExprRef():
                return replace(node, body=self._element(names, node.body))
            case ast.MultiSelectList():
                return replace(node, items=tuple(names(item) for item in node.items))
            case ast.MultiSelectHash():
                return replace(node, pairs=tuple((key, names(value)) for key, value in node.pairs))
            case ast.Call():
                return replace(node, args=tuple(names(argument) for argument in node.args))
            case _:
                return node

    def _element(self, step: Callable[[Node], Node], node: Node) -> Node:
        """A part whose current value is not the scope: it may be null, and then a multi-select is null too."""
        self._inside += 1
        try:
            return step(node)
        finally:
            self._inside -= 1

    def _simplified(self, node: Node) -> Node:
        match node:
            case ast.And() | ast.Or():
                return self._logic(node)
            case ast.Call("if", (Literal(bool() as condition), then, otherwise)):
                return then if condition else otherwise
            case ast.Call("default", (Literal(value), fallback)):
                return fallback if value is None else _literal(node, value)
            case ast.MultiSelectList(items) if not self._inside and all(isinstance(item, Literal) for item in items):
                return _literal(node, [item.value for item in items if isinstance(item, Literal)])
            case _:
                return self._computed(node) if _is_constant(node) else node

    def _logic(self, node: ast.And | ast.Or) -> Node:
        wins = isinstance(node, ast.Or)  # the truth of the left side that decides alone
        if isinstance(node.left, Literal):
            return node.left if truthy(node.left.value) is wins else node.right
        # On the right a constant only goes where the left side is certainly true or false.
        if isinstance(node.right, Literal) and node.right.value is (not wins) and self._is_boolean(node.left):
            return node.left
        return node

    def _is_boolean(self, node: Node) -> bool:
        match node:
            case ast.Comparator(op):
                return op in _BOOLEAN_OPS
            case ast.Not():
                return True
            case ast.And(left, right) | ast.Or(left, right):
                return self._is_boolean(left) and self._is_boolean(right)
            case ast.Call(name):
                function = self._functions.get(name)
                # Compiled for a `key?:`, a strict function may be null.
                return function is not None and function.returns.shape is Shape.BOOL and not function.strict
            case _:
                return False

    def _computed(self, node: Node) -> Node:
        try:
            value = compile_node(node, self._functions)(None)
        except EvaluationError:
            return node
        return _literal(node, value)


def _literal(node: Node, value: Json) -> Literal:
    return Literal(value, "folded", start=node.start, end=node.end)


def _is_constant(node: Node) -> bool:
    """Whether a part's value depends on nothing but literals inside it."""
    match node:
        case ast.Subexpression() | ast.IndexExpression() | ast.Pipe():
            return isinstance(node.left, Literal)
        case ast.Projection() | ast.ValueProjection() | ast.FilterProjection() | ast.Flatten():
            return isinstance(node.left, Literal)
        case ast.Comparator():
            return isinstance(node.left, Literal) and isinstance(node.right, Literal)
        case ast.Not():
            return isinstance(node.operand, Literal)
        case ast.Call():
            return all(isinstance(argument, Literal | ast.ExprRef) for argument in node.args) and any(
                isinstance(argument, Literal) for argument in node.args
            )
        case _:
            return False
